// Integers as pickles write the larger ones: two's complement of any length, lowest byte first.

/** A number where a double holds it exactly. */
export function integerAt(view: DataView, from: number, length: number): number | bigint {
  if (length === 0) return 0
  const last = from + length - 1
  if (length <= 6) {
    let small = view.getInt8(last)
    for (let i = last - 1; i >= from; i -= 1) small = small * 256 + view.getUint8(i)
    return small
  }
  let value = length === 8 ? view.getBigInt64(from, true) : BigInt(view.getInt8(last))
  if (length !== 8) for (let i = last - 1; i >= from; i -= 1) value = (value << 8n) | BigInt(view.getUint8(i))
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
