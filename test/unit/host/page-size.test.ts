// The size of a page, from what the kernel hands each process.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { pageSize, parseAuxv } from '../../../agent/lib/page-size.ts'

const auxv = (...pairs: readonly (readonly [number, number])[]): Buffer => {
  const buffer = Buffer.alloc(pairs.length * 16)
  for (const [at, [type, value]] of pairs.entries()) {
    buffer.writeBigUInt64LE(BigInt(type), at * 16)
    buffer.writeBigUInt64LE(BigInt(value), at * 16 + 8)
  }
  return buffer
}

test('64 KiB where the kernel says so', () => {
  expect(parseAuxv(auxv([33, 1], [6, 65_536], [0, 0]))).toBe(65_536)
  expect(parseAuxv(auxv([33, 1], [0, 0]))).toBeUndefined()
  expect(parseAuxv(Buffer.alloc(5))).toBeUndefined()
})
test('here it is what getconf says', () => {
  expect(pageSize()).toBe(Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })))
})
