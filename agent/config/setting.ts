// One value that a user set, and where; checked against its key's field.
import { nearest } from '../lib/nearest.ts'
import { readField } from './field.ts'
import type { Problem } from './problem.ts'
import { KEYS, SECTION_NAMES, type Key } from './schema.ts'

export type Setting = {
  readonly path: string
  readonly value: unknown
  readonly where: string
  /** Where a part of the value is; without it all of it is at `where`. */
  readonly at?: (path: readonly (string | number)[]) => string
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

/** `targets[1].url`. */
export const partName = (key: string, path: readonly (string | number)[]): string =>
  path.reduce<string>((name, part) => (typeof part === 'number' ? `${name}[${part}]` : `${name}.${part}`), key)

export type Judged = { readonly key: Key; readonly value: unknown } | { readonly problems: readonly Problem[] }

/** The checked value, or the problems with it. */
export function judge({ path, value, where, at = () => where }: Setting): Judged {
  const key = KEYS.get(path)
  if (key === undefined) return { problems: [unknownKey(path, where)] }
  const found = readField(key.field, forChoice(key, value))
  if ('value' in found) return { key, value: found.value }
  return { problems: found.problems.map((problem) => ({ where: at(problem.path), text: `${partName(key.path, problem.path)}: ${problem.text}` })) }
}
