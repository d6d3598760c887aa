// One value that somebody set, and where; judged against its key's field.
import { nearest } from '../lib/nearest.ts'
import { describeValue, type Problem } from './problem.ts'
import { KEYS, SECTION_NAMES, type Key } from './schema.ts'

export type Setting = {
  readonly path: string
  readonly value: unknown
  readonly where: string
}

/** The valid key that was probably meant by `http.lisen`, `listen` or `gpu.listen`. */
export function nearestKey(path: string): string {
  const bare = path.slice(path.lastIndexOf('.') + 1)
  for (const key of KEYS.values()) if (key.key === bare) return key.path
  const section = path.slice(0, Math.max(0, path.indexOf('.')))
  const within = SECTION_NAMES.includes(section) ? [...KEYS.keys()].filter((known) => known.startsWith(`${section}.`)) : [...KEYS.keys(), ...SECTION_NAMES]
  return nearest(path, within) ?? 'http.listen'
}

export function unknownKey(path: string, where: string): Problem {
  return { where, text: `unknown key ${path}; the nearest valid one is ${nearestKey(path)}` }
}

/** `metrics.dcgm: 4.9` without quotes is a number to YAML, and clear enough to a person. */
function forChoice(key: Key, value: unknown): unknown {
  return key.field.kind === 'choice' && typeof value === 'number' ? String(value) : value
}

/** The checked value, or the problem with it. */
export function judge(setting: Setting): { readonly key: Key; readonly value: unknown } | Problem {
  const key = KEYS.get(setting.path)
  if (key === undefined) return unknownKey(setting.path, setting.where)
  const { field } = key
  const result = field.schema.safeParse(forChoice(key, setting.value))
  if (result.success && setting.value !== null && setting.value !== undefined) return { key, value: result.data }
  const came = field.secret ? 'a value of another kind (hidden)' : describeValue(setting.value)
  return { where: setting.where, text: `${key.path}: expected ${field.expected}, came ${came}` }
}
