// The last words of `exec` wait for a reader who is late, but not for ever.
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { flushed } from '../../../agent/exec/flushed.ts'

const sockets: Socket[] = []
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))

/** A full socket whose reader has not begun. */
async function full(): Promise<{ readonly writer: Socket; readonly reader: Socket; readonly bytes: number }> {
  const path = join(mkdtempSync(join(tmpdir(), 'warpwatch-flushed-')), 'socket')
  const server = createServer({ pauseOnConnect: true }).listen(path)
  await once(server, 'listening')
  const writer = connect(path)
  const [[reader]] = await Promise.all([once(server, 'connection'), once(writer, 'connect')])
  server.close()
  sockets.push(writer, reader)
  // More than any socket takes.
  const bytes = 2 ** 24
  writer.write(Buffer.alloc(bytes))
  return { writer, reader, bytes }
}

test('waits for the reader', async () => {
  const { writer, reader, bytes } = await full()
  const answer = flushed(writer, 600_000)
  let [seen, isOver] = [0, false]
  void answer.then(() => (isOver = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  reader.on('data', (part: Buffer) => (seen += part.length)).resume()
  expect(await answer).toBe(true)
  writer.end()
  await once(reader, 'end')
  expect(seen).toBe(bytes)
})

test('gives up on one who never reads, and on one who has gone', async () => {
  const { writer, reader } = await full()
  expect(await flushed(writer, 20)).toBe(false)
  writer.on('error', () => {})
  const answer = flushed(writer, 600_000)
  reader.destroy()
  expect(await answer).toBe(true)
})
