// When a gRPC receiver wants to be asked again: google.rpc.RetryInfo in the details of its status, which come as protobuf.
import { fieldsOf, messages, wholeNumber } from '../../lib/protobuf.ts'

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

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
