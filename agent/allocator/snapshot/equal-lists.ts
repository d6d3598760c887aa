// Lists that are in a pickle many times, byte for byte: call stacks, shapes and types of thousands of entries. Each is read once and then given again.
// Only for readers that change nothing in what they get.

/** Longer ones would cost more to compare than to read. */
const MOST_BYTES = 2 ** 14
const MOST_KNOWN = 2 ** 14
/** A list is looked for by so many bytes and the list before it: call stacks, shapes and types follow each other in the same order. */
const NEAR_BYTES = 12
/** And by so many bytes, whatever came before: call stacks differ in their first frames. */
const FAR_BYTES = 48

type Counts = { readonly containers: number; readonly values: number }
export type KnownList<Item> = Counts & { readonly list: Item[]; readonly bytes: number }
export type EqualLists<Item> = {
  /** The list that begins at this byte, if its bytes was before. */
  readonly find: (at: number) => KnownList<Item> | undefined
  /** A mark was set; `listAt` is where the container before it begins, if that is still empty. */
  readonly opened: (listAt: number | undefined, containers: number, values: number) => void
  /** The mark set last was closed; true: it was the first to fill its container, which nothing else refers to yet. */
  readonly closed: () => boolean
  /** What stood since the mark that was closed last went into this list (undefined: a dict); all of it ends before this byte. */
  readonly filled: (list: Item[] | undefined, end: number, containers: number, values: number) => void
  /** A value was kept, which reading a list again would do again. */
  readonly kept: () => void
  /** The same bytes may mean something else from now on: a kept value was replaced, or a container that was whole got more. */
  readonly changed: () => void
  readonly isGiven: (list: Item[]) => boolean
}

type Known<Item> = KnownList<Item> & { readonly from: number; readonly number: number }
type Mark = Counts & { readonly listAt: number | undefined; readonly changes: number; readonly before: number }

export function createEqualLists<Item>(bytes: Uint8Array): EqualLists<Item> {
  const end = bytes.length
  const [near, far] = [new Map<number, Known<Item>>(), new Map<number, Known<Item>>()]
  const given = new Set<Item[]>()
  const marks: Mark[] = []
  let closedMark: Mark | undefined
  /** The number of the list that ended last, from 1 up. */
  let last = 0
  let [changes, count] = [0, 0]
  /** Bytes that may still be compared in vain: a file cannot make the search cost more than a few readings of it. */
  let patience = 8 * end

  const hash = (from: number, length: number, seed: number): number => {
    let value = seed
    for (let i = from, stop = Math.min(end, from + length); i < stop; i += 1) value = (Math.imul(value, 31) + (bytes[i] ?? 0)) | 0
    return value
  }
  const standsAt = (known: Known<Item> | undefined, at: number): known is Known<Item> => {
    if (known === undefined || known.bytes > end - at) return false
    for (let i = 1; i < known.bytes; i += 1)
      if (bytes[at + i] !== bytes[known.from + i]) {
        patience -= i
        return false
      }
    return true
  }
  const add = (known: Known<Item>, before: number): void => {
    if (near.size < MOST_KNOWN) near.set(hash(known.from, NEAR_BYTES, before), known)
    if (known.bytes >= FAR_BYTES) far.set(hash(known.from, FAR_BYTES, 0), known)
    last = known.number
  }
  const changed = (): void => {
    changes += 1
    near.clear()
    far.clear()
    last = 0
  }
  return {
    find(at) {
      if (patience < 0) return undefined
      const usual = near.get(hash(at, NEAR_BYTES, last))
      if (standsAt(usual, at)) {
        last = usual.number
        given.add(usual.list)
        return usual
      }
      patience -= FAR_BYTES
      const other = far.get(hash(at, FAR_BYTES, 0))
      if (!standsAt(other, at)) return undefined
      add(other, last)
      given.add(other.list)
      return other
    },
    opened(listAt, containers, values) {
      marks.push({ listAt, containers, values, changes, before: last })
    },
    closed() {
      closedMark = marks.pop()
      return closedMark?.listAt !== undefined
    },
    filled(list, to, containers, values) {
      const mark = closedMark
      if (mark?.listAt === undefined) return changed()
      if (list === undefined || mark.changes !== changes || to - mark.listAt > MOST_BYTES || near.size >= MOST_KNOWN) return
      count += 1
      const [from, length] = [mark.listAt, to - mark.listAt]
      // The list itself was counted before its mark.
      add({ from, bytes: length, list, containers: containers - mark.containers + 1, values: values - mark.values, number: count }, mark.before)
    },
    kept() {
      changes += 1
    },
    changed,
    isGiven: (list) => given.has(list),
  }
}
