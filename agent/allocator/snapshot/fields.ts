// Reads fields of values from outside; an error says where, what must be there, and what does.
import { quoted, SnapshotError } from './error.ts'
import { DEFAULT_POOL, type PoolKind } from './model.ts'

export type Fields = { readonly [key: string]: unknown }

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** A value as short text, for an error. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return quoted(value)
  if (isList(value)) return `a list of ${value.length}`
  if (typeof value === 'bigint') return value.toString()
  if (!isFields(value)) return JSON.stringify(value) ?? 'nothing'
  const keys = Object.keys(value)
  return keys.length === 0
    ? 'an empty dict'
    : `a dict with ${keys
        .slice(0, 6)
        .map((key) => quoted(key, 30))
        .join(', ')}${keys.length > 6 ? ', …' : ''}`
}

/** A number of bytes or things; undefined where the field is missing or is none. */
export function optionalCount(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function count(fields: Fields, name: string, where: string): number {
  const value = optionalCount(fields, name)
  if (value === undefined) throw new SnapshotError(`${where}: ${name} must be a whole number from 0 up, not ${shown(fields[name])}`)
  return value
}

export function list(fields: Fields, name: string, where: string): readonly unknown[] {
  const value = fields[name]
  if (!isList(value)) throw new SnapshotError(`${where}: ${name} must be a list, not ${shown(value)}`)
  return value
}

export function dict(value: unknown, where: string): Fields {
  if (!isFields(value)) throw new SnapshotError(`${where}: must be a dict, not ${shown(value)}`)
  return value
}

/** Numbers, and integers beyond a double, as text: an identity, not a quantity. */
export const idText = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : typeof value === 'string' && value.length <= 40 ? value : undefined

export function kindOf(value: unknown, where: string): PoolKind {
  if (value === 'small' || value === 'large') return value
  throw new SnapshotError(`${where}: the kind must be "small" or "large", not ${shown(value)}`)
}

/** `(0, 0)` in Python; missing before PyTorch 2.1, which had private pools but did not report them. */
export function poolOf(value: unknown, where: string): string {
  if (value === undefined || value === null) return DEFAULT_POOL
  const [first, second] = isList(value) && value.length === 2 ? [idText(value[0]), idText(value[1])] : []
  if (first === undefined || second === undefined) throw new SnapshotError(`${where}: the pool id must be two numbers, not ${shown(value)}`)
  return `${first},${second}`
}
