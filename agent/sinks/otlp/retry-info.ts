// When a gRPC receiver wants to be asked again: google.rpc.RetryInfo in the details of its status, which come as protobuf.

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

type Field = { readonly number: number; readonly value: bigint | Buffer }

/** The fields of one message; undefined when it is none. Groups and fixed widths do not occur in the three messages. */
function fieldsOf(message: Buffer): readonly Field[] | undefined {
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
    const value = varint()
    if (tag === undefined || value === undefined) return undefined
    const number = Number(tag >> 3n)
    if ((tag & 7n) === 0n) fields.push({ number, value })
    else if ((tag & 7n) === 2n && value >= 0n && at + Number(value) <= message.length) {
      fields.push({ number, value: message.subarray(at, at + Number(value)) })
      at += Number(value)
    } else return undefined
  }
  return fields
}

const messages = (fields: readonly Field[] | undefined, wanted: number): readonly Buffer[] =>
  (fields ?? []).flatMap(({ number, value }) => (number === wanted && typeof value !== 'bigint' ? [value] : []))
const wholeNumber = (fields: readonly Field[] | undefined, wanted: number): number => {
  const found = fields?.find(({ number }) => number === wanted)?.value
  return typeof found === 'bigint' ? Number(found) : 0
}

/** Status.details (3) holds Any { type_url (1), value (2) }; RetryInfo.retry_delay (1) is Duration { seconds (1), nanos (2) }. */
export function retryDelayMs(status: Buffer): number | undefined {
  for (const any of messages(fieldsOf(status), 3)) {
    const fields = fieldsOf(any)
    if (messages(fields, 1)[0]?.toString('utf8') !== RETRY_INFO) continue
    const [info = Buffer.alloc(0)] = messages(fields, 2)
    const [delay = Buffer.alloc(0)] = messages(fieldsOf(info), 1)
    const parts = fieldsOf(delay)
    return Math.max(0, wholeNumber(parts, 1) * 1_000 + Math.round(wholeNumber(parts, 2) / 1e6))
  }
  return undefined
}
