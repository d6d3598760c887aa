// Looks for many literals at once, in bytes or in a string: skips over text that can hold none of them (Wu and Manber, 1994).

export type Hit = (at: number, literal: number) => void
export type LiteralSearch = {
  readonly literals: readonly string[]
  /** Reports each literal that starts at or after `from` and ends before `to`. */
  readonly inBytes: (bytes: Uint8Array, from: number, to: number, hit: Hit) => void
  readonly inString: (text: string, hit: Hit) => void
}

/** Four bytes are mixed into 16 bits: the size of the skip table, 64 KiB, which stays in the second-level cache. */
const TABLE = 65_536
const BLOCK = 4
/** The shortest literal limits every skip: with eight characters the search does 720 MB/s, with four 240. */
const SHORTEST = 8
/** Knuth's multiplicative hash: spreads four bytes of text evenly. */
const SPREAD = 0x9e3779b1

/** Bytes from which a text is searched in quarters. */
const LONG = 4_096

/** Bytes in which literals from `from` to `to` are searched. */
type Searched = { readonly view: DataView; readonly bytes: Uint8Array; readonly from: number; readonly to: number }

/** The four bytes that begin at `at`, as a little-endian word. */
const wordAt = (codes: Uint8Array, at: number): number =>
  (codes[at] ?? 0) | ((codes[at + 1] ?? 0) << 8) | ((codes[at + 2] ?? 0) << 16) | ((codes[at + 3] ?? 0) << 24)

function codesOf(literal: string): Uint8Array {
  const codes = new Uint8Array(literal.length)
  for (let at = 0; at < literal.length; at += 1) codes[at] = literal.charCodeAt(at)
  return codes
}

/** How common each character is in logs, roughly: a window of rare ones lets the search skip further in ordinary text. */
const COMMONNESS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 32) return 4
  if (code >= 97 && code <= 122) return 'etaoinsrld'.includes(String.fromCharCode(code)) ? 3 : 2
  if (code >= 48 && code <= 57) return 3
  return 1
})

/** What is in nearly every line of a training log: a window that ends in four letters of it is looked at for nothing all the time. */
const EVERYWHERE =
  ' batch size batch_size global all any back step loss epoch checkpoint training model iteration time rank INFO WARNING eval accuracy throughput learning_rate ing tion '
const EVERYWHERE_COSTS = 64
const EVERYWHERE_BLOCKS: ReadonlySet<number> = new Set(
  Array.from({ length: EVERYWHERE.length - BLOCK + 1 }, (_, at) => wordAt(codesOf(EVERYWHERE.slice(at, at + BLOCK)), 0)),
)

/** Where in the literal its rarest stretch of `length` characters begins. */
function rarestWindow(codes: Uint8Array, length: number): number {
  let best = 0
  let bestSum = Infinity
  for (let start = 0; start + length <= codes.length; start += 1) {
    let sum = 0
    // Its last block most of all: wherever that is in the text, a closer look is taken.
    for (let i = 0; i < length; i += 1) sum += (COMMONNESS[codes[start + i] ?? 0] ?? 0) * (i >= length - BLOCK ? 4 : 1)
    if (sum < bestSum && EVERYWHERE_BLOCKS.has(wordAt(codes, start + length - BLOCK))) sum += EVERYWHERE_COSTS
    if (sum < bestSum) [best, bestSum] = [start, sum]
  }
  return best
}

function assertAscii(literal: string): void {
  if (literal.length < SHORTEST || !/^[\x09\x0a\x20-\x7e]+$/.test(literal)) {
    throw new Error(`a literal must be at least ${SHORTEST} printable ASCII characters, came ${JSON.stringify(literal)}`)
  }
}

export function createLiteralSearch(literals: readonly string[]): LiteralSearch {
  for (const literal of literals) assertAscii(literal)
  const length = Math.min(24, ...literals.map((literal) => literal.length))
  const skip = new Uint8Array(TABLE).fill(length - BLOCK + 1)
  const codes = literals.map(codesOf)
  const starts = codes.map((own) => rarestWindow(own, length))
  // Literals whose window ends in a block, as chains; with the first four bytes of each window, which tell nearly all others off.
  const head = new Int32Array(TABLE).fill(-1)
  const next = new Int32Array(literals.length).fill(-1)
  const first = new Int32Array(literals.length)
  codes.forEach((own, id) => {
    const start = starts[id] ?? 0
    first[id] = wordAt(own, start)
    for (let at = 0; at + BLOCK <= length; at += 1) {
      const block = Math.imul(wordAt(own, start + at), SPREAD) >>> 16
      skip[block] = Math.min(skip[block] ?? 0, length - BLOCK - at)
      if (at + BLOCK < length) continue
      next[id] = head[block] ?? -1
      head[block] = id
    }
  })
  /** From the last block of a window back to the window's start. */
  const back = length - BLOCK

  const skipAt = (view: DataView, p: number): number => skip[Math.imul(view.getInt32(p, true), SPREAD) >>> 16] ?? 1
  /** The literals whose window ends in the block at `p`. */
  const compare = ({ view, bytes, from, to }: Searched, p: number, hit: Hit): void => {
    const word = view.getInt32(p - back, true)
    for (let id = head[Math.imul(view.getInt32(p, true), SPREAD) >>> 16] ?? -1; id !== -1; id = next[id] ?? -1) {
      if (first[id] !== word) continue
      const own = codes[id] ?? EMPTY
      const start = p - back - (starts[id] ?? 0)
      if (start < from || start + own.length > to) continue
      let i = 0
      while (i < own.length && bytes[start + i] === own[i]) i += 1
      if (i === own.length) hit(start, id)
    }
  }
  /** Windows whose last block begins at `at` or after, and before `until`. */
  const walk = (searched: Searched, at: number, until: number, hit: Hit): void => {
    const { view } = searched
    for (let p = at; p < until;) {
      const ahead = skipAt(view, p)
      if (ahead === 0) compare(searched, p, hit)
      p += ahead === 0 ? 1 : ahead
    }
  }
  /** The same for a long text: each step waits for the table, and the next one for it, so four steps at once, in four quarters, take less than half the time. */
  const walkQuarters = (searched: Searched, at: number, until: number, hit: Hit): void => {
    const { view } = searched
    const quarter = (until - at) >> 2
    const [second, third, fourth] = [at + quarter, at + 2 * quarter, at + 3 * quarter]
    const later: [at: number, literal: number][][] = [[], [], []]
    const [ofSecond, ofThird, ofFourth] = later.map(
      (held): Hit =>
        (...found) =>
          void held.push(found),
    )
    if (ofSecond === undefined || ofThird === undefined || ofFourth === undefined) return
    let [p, q, r, s] = [at, second, third, fourth]
    while (p < second && q < third && r < fourth && s < until) {
      const [a, b, c, d] = [skipAt(view, p), skipAt(view, q), skipAt(view, r), skipAt(view, s)]
      if (a === 0) compare(searched, p, hit)
      if (b === 0) compare(searched, q, ofSecond)
      if (c === 0) compare(searched, r, ofThird)
      if (d === 0) compare(searched, s, ofFourth)
      p += a === 0 ? 1 : a
      q += b === 0 ? 1 : b
      r += c === 0 ? 1 : c
      s += d === 0 ? 1 : d
    }
    walk(searched, p, second, hit)
    walk(searched, q, third, ofSecond)
    walk(searched, r, fourth, ofThird)
    walk(searched, s, until, ofFourth)
    for (const held of later) for (const [start, literal] of held) hit(start, literal)
  }

  return {
    literals,
    inBytes(bytes, from, to, hit) {
      const searched = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), bytes, from, to }
      const [at, until] = [from + back, to - BLOCK + 1]
      if (until - at < LONG) walk(searched, at, until, hit)
      else walkQuarters(searched, at, until, hit)
    },
    inString(text, hit) {
      const word = (at: number): number =>
        (text.charCodeAt(at) & 0xff) |
        ((text.charCodeAt(at + 1) & 0xff) << 8) |
        ((text.charCodeAt(at + 2) & 0xff) << 16) |
        ((text.charCodeAt(at + 3) & 0xff) << 24)
      const end = text.length - BLOCK
      let p = back
      while (p <= end) {
        const block = Math.imul(word(p), SPREAD) >>> 16
        const ahead = skip[block] ?? 1
        if (ahead !== 0) {
          p += ahead
          continue
        }
        const begins = word(p - back)
        for (let id = head[block] ?? -1; id !== -1; id = next[id] ?? -1) {
          if (first[id] !== begins) continue
          const start = p - back - (starts[id] ?? 0)
          // The literal's own text decides: characters beyond a byte were cut above.
          if (start >= 0 && text.startsWith(literals[id] ?? '\0', start)) hit(start, id)
        }
        p += 1
      }
    },
  }
}
const EMPTY = new Uint8Array(0)
