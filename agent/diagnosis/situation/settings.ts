// Settings in force and what was tried already: flags and environment variables as they stand in the text.

/** `--flag value`, `--flag=value`, `flag=value`, `NAME=value`; the last one wins. Names are compared with dashes as underscores, in lower case. */
const PAIR =
  /(?:^|[\s,.('"`{;])(?:--)?([A-Za-z][\w-]{2,60})(?: {0,12}= {0,2}| {1,2}(?=[\d"'])|['"]?: ?(?=["'\d-]|[Tt]rue|[Ff]alse|None))['"]?([\w.:+-]{1,60})/gm

/** What a message only recommends is not in force. */
const HINT = /(?:try|consider|please)[\s>|#]{1,40}(?:setting|set|passing|increasing|decreasing)[\s>|#]{1,40}[\w-]{2,60}[=:]\S{1,80}/gi

export type Settings = ReadonlyMap<string, string>
const key = (name: string): string => name.toLowerCase().replaceAll('-', '_')

export function settings(text: string): Settings {
  const found = new Map<string, string>()
  const inForce = text.replace(HINT, '')
  for (const [, name, value] of inForce.matchAll(PAIR)) if (name !== undefined && value !== undefined) found.set(key(name), value)
  return found
}

export const settingOf = (all: Settings, name: string): string | undefined => all.get(key(name))
export function numberSet(all: Settings, name: string): number | undefined {
  const value = Number(settingOf(all, name))
  return Number.isFinite(value) ? value : undefined
}
