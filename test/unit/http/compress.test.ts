// Which compression an answer gets, and that its body is the same after it.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { chooseEncoding, FOR_DATA, FOR_FILES } from '../../../agent/http/compress.ts'
import { getBytes, runServer } from './running.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['*', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
  ['zstd;q=0, br;q=0, gzip', 'gzip'],
  ['GZIP', 'gzip'],
])('data for a reader that takes %j goes as %j', (header, wanted) => {
  expect(chooseEncoding(header, FOR_DATA)).toBe(wanted)
})

test('files go as Brotli where a reader takes all', () => {
  expect(chooseEncoding('gzip, deflate, br, zstd', FOR_FILES)).toBe('br')
})

test('an answer is the same in each compression, smaller, and says which one it is in', async () => {
  await using running = await runServer()
  const path = '/api/v1/openapi.json'
  const plain = await getBytes(running.url + path)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.headers['vary']).toBe('Accept-Encoding')
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }
  for (const [encoding, decompress] of Object.entries(unpack)) {
    const { status, headers, body } = await getBytes(running.url + path, { 'accept-encoding': encoding })
    expect([status, headers['content-encoding'], headers['content-length']]).toEqual([200, encoding, String(body.length)])
    expect(body.length).toBeLessThan(plain.body.length / 2)
    expect(decompress(body).equals(plain.body)).toBe(true)
  }
})

test('a small answer is not compressed', async () => {
  await using running = await runServer()
  const { headers } = await getBytes(`${running.url}/healthz`, { 'accept-encoding': 'gzip' })
  expect(headers['content-encoding']).toBeUndefined()
})
