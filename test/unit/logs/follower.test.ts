// A stream on which the engine says nothing more, though the log goes on: it is noticed and followed again; a quiet log is left alone.
import { createServer, type Server, type ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LogLine } from '../../../agent/model/event.ts'
import { createEngineClient } from '../../../agent/sources/containers/engine.ts'
import { createFollower } from '../../../agent/sources/container-logs/follower.ts'
import { createBudget } from '../../../agent/sources/logs/budget.ts'
import { createLogCounters } from '../../../agent/sources/logs/metrics.ts'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'

const ID = 'a'.repeat(64)
const frame = (text: string, agoMs: number): Buffer => {
  const stamp = new Date(Date.now() - agoMs).toISOString().replace('Z', '000000Z')
  const body = Buffer.from(`${stamp} ${text}\n`)
  const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])
  head.writeUInt32BE(body.length, 4)
  return Buffer.concat([head, body])
}

let folder = ''
let server: Server
let asked: string[] = []
let answer: (path: string, response: ServerResponse) => void
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warpwatch-follower-'))
  asked = []
  server = createServer((call, response) => {
    asked.push(call.url ?? '')
    response.writeHead(200)
    answer(call.url ?? '', response)
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'engine.sock'), resolve))
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

function follow() {
  const lines: LogLine[] = []
  const stopping = new AbortController()
  const follower = createFollower({
    engine: createEngineClient({ socketPath: join(folder, 'engine.sock') }),
    id: ID,
    origin: () => ({}),
    sinceMs: Date.now() - 600_000,
    cursors: createCursorStore({ directory: folder, log: { info: () => {}, warn: () => {}, error: () => {} } }),
    interesting: () => true,
    emit: (event) => void (event.type === 'log' ? lines.push(event) : undefined),
    counters: createLogCounters('container'),
    budget: createBudget(),
    mayLookAgain: () => true,
  })
  return { follower, lines, stopping, ended: follower.read(true, stopping.signal) }
}
const isTail = (path: string): boolean => path.includes('tail=1')

test('a newer line in the log than on a silent stream ends the stream, and the next one begins after what was read', async () => {
  const newer = frame('second', 3_000)
  answer = (path, response) => {
    if (isTail(path)) response.end(newer)
    else response.write(frame('first', 8_000))
  }
  const { follower, lines, stopping, ended } = follow()
  await poll(() => lines.length === 1, { what: 'the first line' })
  expect(await follower.check(stopping.signal)).toBe(false)
  expect(asked.filter(isTail)).toEqual([])
  await poll(async () => await follower.check(stopping.signal), { what: 'the silence to be noticed', everyMs: 100 })
  expect(await ended).toBe('end')
  answer = (_path, response) => void response.end(newer)
  expect(await follower.read(true, stopping.signal)).toBe('end')
  expect(lines.map(({ text }) => text)).toEqual(['first', 'second'])
})

test('a log that is quiet is asked once, and its stream goes on', async () => {
  const only = frame('only', 8_000)
  answer = (path, response) => {
    if (isTail(path)) response.end(only)
    else response.write(only)
  }
  const { follower, lines, stopping, ended } = follow()
  await poll(() => lines.length === 1, { what: 'the line' })
  await poll(
    async () => {
      expect(await follower.check(stopping.signal)).toBe(false)
      return asked.some(isTail)
    },
    { what: 'the question', everyMs: 100 },
  )
  for (let n = 0; n < 3; n++) expect(await follower.check(stopping.signal)).toBe(false)
  expect(asked.filter(isTail)).toHaveLength(1)
  stopping.abort()
  await expect(ended).rejects.toThrow('given up')
})

test('a clock that is set forward does not pass for silence', async () => {
  const only = frame('only', 8_000)
  answer = (_path, response) => void response.write(only)
  const { follower, lines, stopping, ended } = follow()
  await poll(() => lines.length === 1, { what: 'the line' })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  try {
    expect(await follower.check(stopping.signal)).toBe(false)
  } finally {
    vi.useRealTimers()
  }
  expect(asked.filter(isTail)).toEqual([])
  stopping.abort()
  await expect(ended).rejects.toThrow('given up')
})
