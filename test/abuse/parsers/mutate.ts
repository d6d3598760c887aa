// Makes damaged inputs out of whole ones: the same seed and number always give the same bytes.

/** What the borders admit in one piece unless a parser says otherwise: a line of the probe, a body, a page of /proc. */
export const MOST_BYTES = 65_536

type Random = { readonly below: (limit: number) => number }

/** A generator (mulberry32, Tommy Ettinger) for one input, so that each can be made again without those before it. */
function randomOf(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) >>> 0
  return {
    below(limit) {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
    },
  }
}

const texts = (...all: readonly string[]): readonly Buffer[] => all.map((text) => Buffer.from(text))

/** Numbers at the edges of what 32 bits, 64 bits, a double and a figure hold. */
const NUMBERS = texts(
  ...'0 -0 -1 1 2147483648 4294967295 4294967296 9007199254740993 18446744073709551615 -9223372036854775808'.split(' '),
  ...'1e308 1e999 -1e999 5e-324 0.1 .5 1. 0x7fffffff 1_000 ٣ NaN Infinity -inf'.split(' '),
  '9'.repeat(400),
)
/** What breaks readers of lines, of terminals, of Unicode, of templates, of objects. */
const TOKENS = [
  ...texts(
    '\n',
    '\r',
    '\r\n',
    '\0',
    '\u001b[31m',
    '\u001b]0;x\u0007',
    '\u2028',
    '\ufeff',
    '\u202e',
    '😀',
    'e\u0301',
    '\ud7ff',
    '\\u0000',
    '\\',
    '\\x',
    '\\ud800',
  ),
  ...texts(
    '"',
    "'",
    '`',
    '<',
    '>',
    '&',
    '&amp;',
    '&#0;',
    '<![CDATA[',
    '-->',
    '<!--',
    '${x',
    '${a:-${b',
    '%',
    '%zz',
    '%00',
    '..',
    '/../',
    '{{',
    '*',
    '&a',
    '*a',
    '!!js',
  ),
  ...texts(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'null',
    'true',
    '[]',
    '{}',
    '""',
    ',',
    ':',
    '=',
    ';',
    '|',
    '#',
    '\t',
    ' '.repeat(300),
  ),
  Buffer.of(0xff),
  Buffer.of(0xc3),
  Buffer.of(0xed, 0xa0, 0x80),
  Buffer.of(0xf5, 0x80, 0x80, 0x80),
  Buffer.of(0x80, 0x04, 0x95),
]
const OPENERS = texts('[', '{"a":', '(', '<a>', '${a:-', '- ', '{', '(((', '[[1,', '&', '\u0028', '  ', '"\\')

type Change = (bytes: Buffer, random: Random, seeds: readonly Buffer[]) => Buffer

const cut = (bytes: Buffer, from: number, to: number, put: Buffer): Buffer => Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)])
const pick = <T>(from: readonly T[], random: Random, none: T): T => from[random.below(from.length)] ?? none
const NOTHING = Buffer.alloc(0)
const span = (bytes: Buffer, random: Random, most: number): readonly [number, number] => {
  const from = random.below(bytes.length + 1)
  return [from, Math.min(bytes.length, from + 1 + random.below(most))]
}

/** Of a run of digits, found from a random place on. */
const digitsFrom = (bytes: Buffer, start: number): readonly [number, number] | undefined => {
  const isDigit = (at: number): boolean => (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39
  let from = start
  while (from < bytes.length && !isDigit(from)) from += 1
  let to = from
  while (isDigit(to)) to += 1
  return to > from ? [from, to] : undefined
}
const lineAround = (bytes: Buffer, at: number): readonly [number, number] => {
  const end = bytes.indexOf(0x0a, at)
  return [at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1, end < 0 ? bytes.length : end + 1]
}

const CHANGES: readonly Change[] = [
  function flipBit(bytes, random) {
    if (bytes.length === 0) return bytes
    const changed = Buffer.from(bytes)
    const at = random.below(bytes.length)
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8))
    return changed
  },
  function anyByte(bytes, random) {
    const [from] = span(bytes, random, 1)
    return cut(bytes, from, Math.min(bytes.length, from + random.below(2)), Buffer.of(random.below(256)))
  },
  function remove(bytes, random) {
    const [from, to] = span(bytes, random, 40)
    return cut(bytes, from, to, NOTHING)
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, random) => bytes.subarray(random.below(bytes.length + 1)),
  function insertToken(bytes, random) {
    const [from, to] = span(bytes, random, 4)
    return cut(bytes, from, random.below(2) === 0 ? from : to, pick(TOKENS, random, NOTHING))
  },
  function changeNumber(bytes, random) {
    const found = digitsFrom(bytes, random.below(bytes.length + 1)) ?? digitsFrom(bytes, 0)
    return found === undefined ? bytes : cut(bytes, found[0], found[1], pick(NUMBERS, random, NOTHING))
  },
  function splice(bytes, random, seeds) {
    const other = pick(seeds, random, NOTHING)
    return Buffer.concat([bytes.subarray(0, random.below(bytes.length + 1)), other.subarray(random.below(other.length + 1))])
  },
  /** A key, a member or a whole line twice. */
  function duplicate(bytes, random) {
    const [from, to] = random.below(2) === 0 ? span(bytes, random, 60) : lineAround(bytes, random.below(bytes.length + 1))
    return cut(bytes, to, to, bytes.subarray(from, to))
  },
  function swapLines(bytes, random) {
    const [a] = lineAround(bytes, random.below(bytes.length + 1))
    const [c, d] = lineAround(bytes, random.below(bytes.length + 1))
    return a <= c ? Buffer.concat([bytes.subarray(0, a), bytes.subarray(c, d), bytes.subarray(a)]) : bytes
  },
]

/** Rarely, as each costs a parser as much as a hundred others: something repeated until the input is as large as the border admits. */
const GROWTHS: readonly ((bytes: Buffer, random: Random, most: number) => Buffer)[] = [
  function repeatPart(bytes, random, most) {
    const [from, to] = span(bytes, random, pick([1, 2, 4, 16, 200], random, 1))
    return cut(bytes, to, to, repeated(bytes.subarray(from, to), most - bytes.length))
  },
  function repeatLine(bytes, random, most) {
    const [from, to] = lineAround(bytes, random.below(bytes.length + 1))
    return cut(bytes, to, to, repeated(bytes.subarray(from, to), most - bytes.length))
  },
  function nest(bytes, random, most) {
    const at = random.below(bytes.length + 1)
    return cut(bytes, at, at, repeated(pick(OPENERS, random, NOTHING), most - bytes.length))
  },
  function repeatToken(bytes, random, most) {
    const at = random.below(bytes.length + 1)
    return cut(bytes, at, at, repeated(pick(TOKENS, random, NOTHING), most - bytes.length))
  },
]
const repeated = (part: Buffer, bytes: number): Buffer =>
  part.length === 0 || bytes <= 0 ? NOTHING : Buffer.concat(Array.from({ length: Math.floor(bytes / part.length) }, () => part))

/** One in so many inputs is grown. */
const GROWN_EVERY = 128

/** Input `index` of the stream `seed`; at most `most` bytes. */
export function mutated(seeds: readonly Buffer[], seed: number, index: number, most: number): Buffer {
  const random = randomOf(seed, index)
  let bytes = pick(seeds, random, NOTHING)
  for (let left = 1 + random.below(4); left > 0; left -= 1) bytes = pick(CHANGES, random, (same: Buffer) => same)(bytes, random, seeds)
  if (random.below(GROWN_EVERY) === 0) bytes = pick(GROWTHS, random, (same: Buffer) => same)(bytes, random, most)
  return bytes.length > most ? bytes.subarray(0, most) : bytes
}
