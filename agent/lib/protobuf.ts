// Reads messages in protobuf's wire format, for answers of which a few fields are wanted. https://protobuf.dev/programming-guides/encoding/

/** Length-delimited values (strings, messages) are buffers, varints numbers; fields of a fixed width are passed over. */
export type Field = { readonly number: number; readonly value: bigint | Buffer }

/** The fields of one message; undefined when it is none. Groups, which proto3 does not have, are none. */
export function fieldsOf(message: Buffer): readonly Field[] | undefined {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint | undefined => {
    let value = 0n
    for (let shift = 0n; shift < 70n && at < message.length; shift += 7n) {
      const byte = message.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    return undefined
  }
  while (at < message.length) {
    const tag = varint()
    if (tag === undefined) return undefined
    const [number, type] = [Number(tag >> 3n), Number(tag & 7n)]
    if (type === 1 || type === 5) {
      at += type === 1 ? 8 : 4
      if (at > message.length) return undefined
      continue
    }
    const value = varint()
    if (value === undefined) return undefined
    if (type === 0) fields.push({ number, value })
    else if (type === 2 && value >= 0n && at + Number(value) <= message.length) {
      fields.push({ number, value: message.subarray(at, at + Number(value)) })
      at += Number(value)
    } else return undefined
  }
  return fields
}

/** Values of a field that holds messages or strings. */
export const messages = (fields: readonly Field[] | undefined, wanted: number): readonly Buffer[] =>
  (fields ?? []).flatMap(({ number, value }) => (number === wanted && typeof value !== 'bigint' ? [value] : []))
export const wholeNumber = (fields: readonly Field[] | undefined, wanted: number): number => {
  const found = fields?.find(({ number }) => number === wanted)?.value
  return typeof found === 'bigint' ? Number(found) : 0
}
