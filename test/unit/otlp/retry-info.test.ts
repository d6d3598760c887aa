// When a gRPC receiver wants to be asked again, out of the details of its status.
import { expect, test } from 'vitest'
import { retryDelayMs } from '../../../agent/sinks/otlp/retry-info.ts'
import { encode } from '../../setup/otlp-decode.ts'

const URL = 'type.googleapis.com/google.rpc.RetryInfo'
const status = (details: readonly { readonly typeUrl: string; readonly value: Buffer }[]): Buffer => encode('Status', { code: 8, message: 'no', details })
const info = (seconds: number, nanos = 0): Buffer => encode('RetryInfo', { retryDelay: { seconds, nanos } })

test.each([
  ['seconds and their parts', status([{ typeUrl: URL, value: info(12, 345_000_000) }]), 12_345],
  [
    'behind other details',
    status([
      { typeUrl: 'type.googleapis.com/google.rpc.Help', value: Buffer.from([1, 2, 3]) },
      { typeUrl: URL, value: info(3) },
    ]),
    3_000,
  ],
  ['no time', status([{ typeUrl: URL, value: Buffer.alloc(0) }]), 0],
  ['a time in the past', status([{ typeUrl: URL, value: info(-5) }]), 0],
  ['no details', status([]), undefined],
  ['other details', status([{ typeUrl: 'type.googleapis.com/google.rpc.Help', value: info(3) }]), undefined],
  ['nothing', Buffer.alloc(0), undefined],
  ['no protobuf', Buffer.from('<html>'), undefined],
])('%s', (_, bytes, expected) => {
  expect(retryDelayMs(bytes)).toBe(expected)
})

test('cut at any byte it is read or left, never thrown over', () => {
  const whole = status([{ typeUrl: URL, value: info(12) }])
  const read = Array.from(whole, (_, length) => retryDelayMs(whole.subarray(0, length)))
  expect(read.filter((ms) => ms !== undefined && ms !== 0)).toEqual([])
  expect(retryDelayMs(whole)).toBe(12_000)
})
