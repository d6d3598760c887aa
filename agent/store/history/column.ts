// One column of numbers in few bytes: constant, sparse changes, differences or values of scaled integers, or bare doubles. Lossless.
import { riceBits, unzigzag, zigzag } from './bits.ts'
import type { Reader, Writer } from './bits.ts'

// Header byte: mode in the low three bits, decimal exponent above.
const CONSTANT = 0
const CONSTANT_DOUBLE = 1
const DOUBLES = 2
const SPARSE = 3
const DIFFERENCES = 4
const VALUES = 5

const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] as const
/** Scaled integers stay below this, so that differences of differences are still exact. */
const SAFE = 2 ** 49

const power = (exponent: number): number => POWERS[exponent] ?? Number.NaN

/** Decimal exponent that makes the value an integer which divides back to exactly it; from `exponent` up, -1 when there is none. */
function exponentOf(value: number, exponent: number): number {
  if (Object.is(value, -0)) return -1
  for (let e = exponent; e < POWERS.length; e++) {
    const unit = power(e)
    const scaled = Math.round(value * unit)
    if (Math.abs(scaled) >= SAFE) return -1
    if (scaled / unit === value) return e
  }
  return -1
}

function commonDivisor(a: number, b: number): number {
  let [x, y] = [a, b]
  while (y > 0) [x, y] = [y, x % y]
  return x
}

let integers = new Float64Array(512)
let codes = new Float64Array(512)
let gaps = new Float64Array(512)
function reserve(count: number): void {
  if (count <= integers.length) return
  integers = new Float64Array(count * 2)
  codes = new Float64Array(count * 2)
  gaps = new Float64Array(count * 2)
}

/** The cheapest Rice parameter for the first `count` codes and its cost in bits. */
function chooseRice(list: Float64Array, count: number): { k: number; bits: number } {
  let sum = 0
  for (let i = 0; i < count; i++) sum += list[i] ?? 0
  const mean = count === 0 ? 0 : sum / count
  // Kiely, "Selecting the Golomb parameter in Rice coding" (JPL 2004): the best k from the mean; outliers call for a smaller one.
  let k = mean <= 0 ? 0 : Math.max(0, Math.min(46, 1 + Math.floor(Math.log2(-0.4812 / Math.log(mean / (mean + 1))))))
  const cost = (at: number): number => {
    const scale = 2 ** -at
    let bits = 0
    for (let i = 0; i < count; i++) bits += riceBits(list[i] ?? 0, at, scale)
    return bits
  }
  let bits = cost(k)
  while (k > 0) {
    const less = cost(k - 1)
    if (less >= bits) break
    bits = less
    k--
  }
  return { k, bits }
}

function encodeDoubles(out: Writer, values: Float64Array, count: number): void {
  out.byte(DOUBLES)
  const before = new DataView(new ArrayBuffer(8))
  const now = new DataView(new ArrayBuffer(8))
  for (let i = 0; i < count; i++) {
    now.setFloat64(0, values[i] ?? 0)
    // The bytes that differ from the value before: where they begin, how many, themselves.
    let first = 0
    while (first < 8 && now.getUint8(first) === before.getUint8(first)) first++
    let last = 7
    while (last >= first && now.getUint8(last) === before.getUint8(last)) last--
    out.byte((first << 4) | (last - first + 1))
    for (let b = first; b <= last; b++) out.byte(now.getUint8(b))
    before.setFloat64(0, now.getFloat64(0))
  }
}

function decodeDoubles(from: Reader, into: Float64Array, count: number): void {
  const now = new DataView(new ArrayBuffer(8))
  for (let i = 0; i < count; i++) {
    const control = from.byte()
    const first = control >> 4
    for (let b = 0; b < (control & 15); b++) now.setUint8((first + b) & 7, from.byte())
    into[i] = now.getFloat64(0)
  }
}

/** Writes the first `count` (at least 1) finite numbers. */
export function encodeColumn(out: Writer, values: Float64Array, count: number): void {
  const first = values[0] ?? 0
  let exponent = exponentOf(first, 0)
  let same = true
  for (let i = 1; i < count; i++) {
    const value = values[i] ?? 0
    if (Object.is(value, first)) continue
    same = false
    if (exponent >= 0) exponent = exponentOf(value, exponent)
  }
  if (same) {
    if (exponent >= 0) {
      out.byte(CONSTANT | (exponent << 3))
      out.signed(Math.round(first * power(exponent)))
    } else {
      out.byte(CONSTANT_DOUBLE)
      out.float64(first)
    }
    return
  }
  if (exponent < 0) return encodeDoubles(out, values, count)
  encodeIntegers(out, values, count, exponent)
}

function encodeIntegers(out: Writer, values: Float64Array, count: number, exponent: number): void {
  reserve(count)
  const unit = power(exponent)
  let divisor = 0
  let changes = 0
  let before = 0
  for (let i = 0; i < count; i++) {
    const now = Math.round((values[i] ?? 0) * unit)
    // A later value may have raised the exponent beyond what an earlier one can bear.
    if (now / unit !== values[i] || Math.abs(now) >= SAFE) return encodeDoubles(out, values, count)
    integers[i] = now
    if (i > 0 && now !== before) {
      changes++
      if (divisor !== 1) divisor = commonDivisor(Math.abs(now - before), divisor)
    }
    before = now
  }
  const base = integers[0] ?? 0
  const last = (before - base) / divisor
  const rest = count - 1

  // Sparse: how far to the next change, and by how much.
  let at = 0
  let gap = 0
  let previous = base
  for (let i = 1; i < count; i++) {
    const now = integers[i] ?? 0
    if (now === previous) gap++
    else {
      gaps[at] = gap
      codes[at++] = zigzag((now - previous) / divisor) - 1
      gap = 0
    }
    previous = now
  }
  const gapRice = chooseRice(gaps, changes)
  const changeRice = chooseRice(codes, changes)
  const sparseBits = gapRice.bits + changeRice.bits + 8

  // Differences from their own mean (a counter's steady growth costs nothing), or values from theirs (noise around a level).
  const meanDifference = Math.round(last / rest)
  let sum = 0
  for (let i = 1; i < count; i++) sum += ((integers[i] ?? 0) - base) / divisor
  const meanValue = Math.round(sum / rest)
  const fill = (mode: number): void => {
    let from = base
    for (let i = 1; i < count; i++) {
      const now = integers[i] ?? 0
      codes[i - 1] = mode === DIFFERENCES ? zigzag((now - from) / divisor - meanDifference) : zigzag((now - base) / divisor - meanValue)
      from = now
    }
  }
  const write = (mode: number): void => {
    out.byte(mode | (exponent << 3))
    out.signed(base)
    out.varint(divisor)
  }
  const writeSparse = (): void => {
    write(SPARSE)
    out.varint(changes)
    out.byte(gapRice.k)
    out.byte(changeRice.k)
    let from = base
    for (let i = 1, n = 0; i < count; i++) {
      const now = integers[i] ?? 0
      if (now === from) continue
      out.rice(gaps[n++] ?? 0, gapRice.k)
      out.rice(zigzag((now - from) / divisor) - 1, changeRice.k)
      from = now
    }
    out.align()
  }

  // The other ways take a bit for each number at least.
  if (sparseBits <= rest) return writeSparse()
  fill(VALUES)
  const valueRice = chooseRice(codes, rest)
  fill(DIFFERENCES)
  const differenceRice = chooseRice(codes, rest)
  const mode = valueRice.bits < differenceRice.bits ? VALUES : DIFFERENCES
  const best = mode === VALUES ? valueRice : differenceRice
  if (sparseBits < best.bits) return writeSparse()
  write(mode)
  out.signed(mode === VALUES ? meanValue : meanDifference)
  out.byte(best.k)
  if (mode === VALUES) fill(VALUES)
  for (let i = 0; i < rest; i++) out.rice(codes[i] ?? 0, best.k)
  out.align()
}

/** Reads what `encodeColumn` wrote for the same count. */
export function decodeColumn(from: Reader, into: Float64Array, count: number): void {
  const header = from.byte()
  const mode = header & 7
  const unit = power(header >> 3)
  if (mode === CONSTANT) {
    into.fill(from.signed() / unit, 0, count)
    return
  }
  if (mode === CONSTANT_DOUBLE) {
    into.fill(from.float64(), 0, count)
    return
  }
  if (mode === DOUBLES) return decodeDoubles(from, into, count)
  const base = from.signed()
  const divisor = from.varint()
  if (mode === SPARSE) {
    const changes = from.varint()
    const gapK = from.byte()
    const changeK = from.byte()
    let at = 0
    let now = base
    for (let i = 0; i < changes; i++) {
      const until = at + from.rice(gapK) + 1
      if (until >= count) throw new RangeError(`history data: expected a change before ${count}, found one at ${until}`)
      into.fill(now / unit, at, until)
      at = until
      now += unzigzag(from.rice(changeK) + 1) * divisor
    }
    into.fill(now / unit, at, count)
  } else if (mode === DIFFERENCES || mode === VALUES) {
    const mean = from.signed()
    const k = from.byte()
    into[0] = base / unit
    let now = base
    for (let i = 1; i < count; i++) {
      const step = (unzigzag(from.rice(k)) + mean) * divisor
      now = mode === DIFFERENCES ? now + step : base + step
      into[i] = now / unit
    }
  } else throw new RangeError(`history data: expected a column mode of 0 to 5, found ${mode}`)
  from.align()
}
