// Settings in force and what was tried already: flags and environment variables as they are in the text.

const QUOTE = '[\'"`]'
/** How a value follows its name: `--flag value`, `'--flag', 'value'`, `--flag=value`, `flag=value`, `NAME=value`, `environ["NAME"] = value`, `"flag": value`, and "flag to value" in prose. */
const VALUE = String.raw`(?:['"]\] ?= ?|['"], ?(?=['"][\w.+-]{1,60}['"])| {0,12}= {0,2}| {1,2}(?=[\d"'])|['"]?: ?(?=["'\d-]|true|false|none|Some\()|${QUOTE}? to (?=${QUOTE}?\d))(?:Some\()?${QUOTE}?([\w.:+-]{1,60})`

/** What a message only recommends is not in force. */
const HINT = /(?:try|consider|please)[\s>|#]{1,40}(?:setting|set|passing|increasing|decreasing)[\s>|#]{1,40}[`'"]?[\w-]{2,60}[`'"]?(?:[=:]| to )\S{1,80}/gi

/** Each setting is looked for when it is first asked for; the last one wins. Dashes and underscores are the same, and so are cases. */
export type Settings = { readonly get: (name: string) => string | undefined }

const patterns = new Map<string, RegExp>()
function patternOf(name: string): RegExp {
  let pattern = patterns.get(name)
  if (pattern === undefined)
    patterns.set(name, (pattern = new RegExp(String.raw`(?:^|(?<!/)[\s,.('"${'`'}{;])(?:--)?${name.replaceAll(/[_-]/g, '[_-]')}${VALUE}`, 'gim')))
  return pattern
}

export function settings(text: string): Settings {
  const found = new Map<string, string | undefined>()
  let inForce: string | undefined
  return {
    get(name) {
      if (found.has(name)) return found.get(name)
      inForce ??= text.replace(HINT, '')
      const value = [...inForce.matchAll(patternOf(name))].at(-1)?.[1]
      found.set(name, value)
      return value
    },
  }
}

/** `-ngl 99`: options of one to three letters are read with their dash only. */
export const shortOption = (text: string, name: string): number | undefined => {
  const value = [...text.matchAll(new RegExp(String.raw`(?:^|[\s\`'\"])-${name}[ =](\d{1,9})\b`, 'gm'))].at(-1)?.[1]
  return value === undefined ? undefined : Number(value)
}

/** A flag whose value is a variable or placeholder: set, and not known. */
export const setUnread = (text: string, flag: RegExp): boolean => new RegExp(`(?:${flag.source})[ =]["']?[$<{]`).test(text)
export const settingOf = (all: Settings, name: string): string | undefined => all.get(name)
export function numberSet(all: Settings, name: string): number | undefined {
  const value = Number(settingOf(all, name))
  return Number.isFinite(value) ? value : undefined
}
