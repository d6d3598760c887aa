// Whether parts of a recorded line are what they should be.

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
export const isText = (value: unknown): value is string => typeof value === 'string'

/** The fields of `names` that are of the right kind; one that is of another makes the whole undefined, one that is absent is left out. */
export function optional<T>(from: Fields, names: readonly string[], is: (value: unknown) => value is T): Readonly<Record<string, T>> | undefined {
  const found: Record<string, T> = {}
  for (const name of names) {
    const value = from[name]
    if (value === undefined) continue
    if (!is(value)) return undefined
    found[name] = value
  }
  return found
}
