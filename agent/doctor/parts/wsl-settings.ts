// /etc/wsl.conf and .wslconfig as WSL reads them (src/shared/configfile/configfile.cpp of microsoft/WSL): sections, keys without regard to case, the first of a key counts.
import type { HostFiles } from './host-files.ts'

/** By `section.key`, in lower case; `key` alone where it is before any section. */
export type WslSettings = ReadonlyMap<string, string>

export function parseWslSettings(text: string): WslSettings {
  const settings = new Map<string, string>()
  let section = ''
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const head = /^\s*\[([^\]]*)\]/.exec(line)?.[1]
    if (head !== undefined) {
      section = `${head.trim().toLowerCase()}.`
      continue
    }
    const match = /^\s*([\w.-]+)\s*=\s*(?:"([^"]*)"|([^#]*))/.exec(line)
    const key = match?.[1] === undefined ? undefined : section + match[1].toLowerCase()
    if (key !== undefined && !settings.has(key)) settings.set(key, (match?.[2] ?? match?.[3]?.trim() ?? '').replaceAll('\\\\', '\\'))
  }
  return settings
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  K: 2 ** 10,
  KB: 2 ** 10,
  M: 2 ** 20,
  MB: 2 ** 20,
  G: 2 ** 30,
  GB: 2 ** 30,
  T: 2 ** 40,
  TB: 2 ** 40,
}

/** `8GB`, `8G`, `512MB`, plain bytes; undefined: WSL refuses it (`8gb`, `8 GB`, `1.5GB`) and goes by its default (ParseMemorySize in src/shared/inc/stringshared.h). */
export function wslBytes(text: string): number | undefined {
  const match = /^(\d+)([A-Z]*)$/.exec(text)
  const unit = UNITS[match?.[2] ?? 'none']
  return match?.[1] === undefined || unit === undefined ? undefined : Number(match[1]) * unit
}

export type WslConfig = {
  readonly settings: WslSettings
  /** Its name where Windows hid the ending, so that WSL does not read it: `.wslconfig.txt`. */
  readonly misnamed?: string
}

const NAMES = ['.wslconfig', '.wslconfig.txt', 'wslconfig', 'wslconfig.txt', '.wslconfig.ini'] as const
/** Not of people. */
const OTHERS = new Set(['All Users', 'Default', 'Default User', 'Public', 'WDAGUtilityAccount'])
const MAX_USERS = 40
const MAX_TEXT = 64 * 1024

async function configOf(files: HostFiles, home: string): Promise<WslConfig | undefined> {
  for (const name of NAMES) {
    // Homes of others refuse to be looked into.
    const text = await files.readText(`${home}/${name}`, MAX_TEXT).catch(() => undefined)
    if (text !== undefined) return { settings: parseWslSettings(text), ...(name === '.wslconfig' ? {} : { misnamed: name }) }
  }
  return undefined
}

/**
 * That of the user of Windows who started WSL: the one in whose folders PATH leads, else the only one who has it.
 * Findings call it `%UserProfile%\.wslconfig`, since its path is a name.
 */
export async function readWslConfig(files: HostFiles, mounts: string, path: string): Promise<WslConfig | 'several' | undefined> {
  const homes = `${mounts}c/Users`
  const known = path.split(':').flatMap((folder) => /^.*\/Users\/([^/]+)\/AppData\//.exec(folder)?.[1] ?? [])[0]
  if (known !== undefined) return await configOf(files, `${homes}/${known}`)
  const users = ((await files.list(homes).catch(() => undefined)) ?? []).filter((name) => !OTHERS.has(name)).slice(0, MAX_USERS)
  const found = (await Promise.all(users.map(async (name) => await configOf(files, `${homes}/${name}`)))).filter((config) => config !== undefined)
  return found.length > 1 ? 'several' : found[0]
}
