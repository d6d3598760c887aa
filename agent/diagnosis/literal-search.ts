// Looks for many literals at once, in bytes or in a string: skips over text that can hold none of them (Wu and Manber, 1994).

export type Hit = (at: number, literal: number) => void
export type LiteralSearch = {
  readonly literals: readonly string[]
  /** Reports each literal that starts at or after `from` and ends before `to`. */
  readonly inBytes: (bytes: Uint8Array, from: number, to: number, hit: Hit) => void
  readonly inString: (text: string, hit: Hit) => void
}

/** Three bytes mixed into 16 bits: the size of the skip table, 64 KiB, which stays in the second-level cache. */
const TABLE = 65_536
const BLOCK = 3

/** How common a character is in logs, roughly: a window of rare ones lets the search skip further in ordinary text. */
function commonness(code: number): number {
  if (code === 32) return 4
  if (code >= 97 && code <= 122) return 'etaoinsrld'.includes(String.fromCharCode(code)) ? 3 : 2
  if (code >= 48 && code <= 57) return 3
  return 1
}

/** Where in the literal its rarest stretch of `length` characters begins. */
function rarestWindow(literal: string, length: number): number {
  let best = 0
  let bestSum = Infinity
  for (let start = 0; start + length <= literal.length; start += 1) {
    let sum = 0
    for (let i = start; i < start + length; i += 1) sum += commonness(literal.charCodeAt(i))
    if (sum < bestSum) [best, bestSum] = [start, sum]
  }
  return best
}

function assertAscii(literal: string): void {
  if (literal.length < BLOCK || !/^[\x09\x0a\x20-\x7e]+$/.test(literal)) {
    throw new Error(`a literal must be at least ${BLOCK} printable ASCII characters, came ${JSON.stringify(literal)}`)
  }
}

export function createLiteralSearch(literals: readonly string[]): LiteralSearch {
  for (const literal of literals) assertAscii(literal)
  const length = Math.min(24, ...literals.map((literal) => literal.length))
  const skip = new Uint8Array(TABLE).fill(length - BLOCK + 1)
  /** Literals whose window ends in this block. */
  const ending = new Map<number, { readonly codes: Uint8Array; readonly id: number; readonly before: number }[]>()
  literals.forEach((literal, id) => {
    const codes = Uint8Array.from(literal, (character) => character.charCodeAt(0))
    const start = rarestWindow(literal, length)
    for (let end = BLOCK - 1; end < length; end += 1) {
      const [a = 0, b = 0, c = 0] = codes.subarray(start + end - 2, start + end + 1)
      const block = ((a << 10) ^ (b << 5) ^ c) & 0xffff
      skip[block] = Math.min(skip[block] ?? 0, length - 1 - end)
      if (end < length - 1) continue
      const bucket = ending.get(block) ?? []
      bucket.push({ codes, id, before: start + length - 1 })
      ending.set(block, bucket)
    }
  })

  return {
    literals,
    inBytes(bytes, from, to, hit) {
      let p = from + length - 1
      while (p < to) {
        const block = (((bytes[p - 2] ?? 0) << 10) ^ ((bytes[p - 1] ?? 0) << 5) ^ (bytes[p] ?? 0)) & 0xffff
        const ahead = skip[block] ?? 1
        if (ahead !== 0) {
          p += ahead
          continue
        }
        for (const { codes, id, before } of ending.get(block) ?? []) {
          const start = p - before
          if (start < from || start + codes.length > to) continue
          let i = 0
          while (i < codes.length && bytes[start + i] === codes[i]) i += 1
          if (i === codes.length) hit(start, id)
        }
        p += 1
      }
    },
    inString(text, hit) {
      const to = text.length
      let p = length - 1
      while (p < to) {
        const block = ((text.charCodeAt(p - 2) << 10) ^ (text.charCodeAt(p - 1) << 5) ^ text.charCodeAt(p)) & 0xffff
        const ahead = skip[block] ?? 1
        if (ahead !== 0) {
          p += ahead
          continue
        }
        for (const { codes, id, before } of ending.get(block) ?? []) {
          const start = p - before
          if (start < 0 || start + codes.length > to) continue
          let i = 0
          while (i < codes.length && text.charCodeAt(start + i) === codes[i]) i += 1
          if (i === codes.length) hit(start, id)
        }
        p += 1
      }
    },
  }
}
