// Remembers what was computed of short texts that come again and again, such as the names of figures in the lines of a loop. Bounded.

/** Longer texts rarely come twice. */
const MAX_LENGTH = 64
const MAX_ENTRIES = 512

/** `make` must depend on its text alone, and what it gives must not be changed. */
export function memo<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, { readonly value: Value }>()
  return (text) => {
    if (text.length > MAX_LENGTH) return make(text)
    const found = known.get(text)
    if (found !== undefined) return found.value
    // A slice would keep the whole line alive.
    const key = Buffer.from(text).toString()
    const value = make(text)
    if (known.size >= MAX_ENTRIES) known.clear()
    known.set(key, { value })
    return value
  }
}
