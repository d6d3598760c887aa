// Incidents over HTTP and on the stream: filters, one whole, its report, and that no reader misses one.
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { parseIncidentQuery } from '../../../agent/http/api/incidents.ts'
import { summaryOf } from '../../../agent/model/incident.ts'
import { MAX_CERTAIN_BYTES } from '../../../agent/sinks/live/reader.ts'
import { poll } from '../../setup/poll.ts'
import { T } from './fixture.ts'
import { INCIDENT } from './incident-fixture.ts'
import { get, runServer } from './running.ts'

describe('/api/v1/incidents', () => {
  test.each([
    ['', { limit: 100 }],
    ['status=firing&kind=xid&since=1763600000000&limit=5', { status: 'firing', kind: 'xid', since: 1_763_600_000_000, limit: 5 }],
  ])('understands %j', (query, filter) => expect(parseIncidentQuery(new URLSearchParams(query))).toEqual({ filter }))

  test.each([
    ['status=open', 'status: must be one of pending, firing, resolved, not "open"'],
    ['kind=cuda_ooom', 'kind: must be a kind of incident such as cuda_oom, not "cuda_ooom"'],
    ['since=yesterday', 'since: must be a time in Unix milliseconds, not "yesterday"'],
    ['limit=0', 'limit: must be a whole number from 1 to 1000, not "0"'],
    ['limit=9999', 'limit: must be a whole number from 1 to 1000, not "9999"'],
    ['colour=red', 'colour: unknown parameter; there are status, kind, since, limit'],
    ['limit=1&limit=2', 'limit: is given 2 times: give it once'],
  ])('refuses %j', async (query, problem) => {
    await using running = await runServer()
    const answer = await get(`${running.url}/api/v1/incidents?${query}`)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error: { code: 'bad_request', message: problem } }])
  })

  test('tells one whole, and its report as Markdown that no browser takes for a page', async () => {
    await using running = await runServer()
    const whole = await get(`${running.url}/api/v1/incidents/${INCIDENT.id}`)
    expect(JSON.parse(whole.text)).toEqual(INCIDENT)
    const report = await get(`${running.url}/api/v1/incidents/${INCIDENT.id}/report`)
    expect(report.headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', 'x-content-type-options': 'nosniff' })
    expect(report.text).toContain('# Out of GPU memory')
    expect(JSON.parse((await get(`${running.url}/api/v1/incidents`)).text)).toEqual([summaryOf(INCIDENT)])
  })

  test.each(['ffffffffffffffff', 'ffffffffffffffff/report', 'x', 'x/report', '%2e%2e', `${INCIDENT.id}/reports`])('knows no incident %s', async (path) => {
    await using running = await runServer()
    expect((await get(`${running.url}/api/v1/incidents/${path}`)).status).toBe(404)
  })
})

const messagesOf = (socket: WebSocket): unknown[] => {
  const messages: unknown[] = []
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())))
  return messages
}

describe('the stream', () => {
  test('tells a new reader what fires, and every reader what happens', async () => {
    const firing = { ...summaryOf(INCIDENT), status: 'firing' as const }
    await using running = await runServer({ live: { firing: () => [firing] } })
    const socket = new WebSocket(running.wsUrl)
    const messages = messagesOf(socket)
    await poll(() => messages.length >= 2, { what: 'hello and the firing incident' })
    expect(messages[1]).toEqual({ type: 'incident', incident: firing })
    running.live.incident(summaryOf(INCIDENT))
    await poll(() => messages.length >= 3, { what: 'the incident' })
    expect(messages[2]).toEqual({ type: 'incident', incident: summaryOf(INCIDENT) })
    socket.terminate()
  })

  test('skips frames for a reader that does not read, never incidents', async () => {
    await using running = await runServer({ live: { maxBufferedBytes: 1 } })
    const socket = new WebSocket(running.wsUrl)
    const messages = messagesOf(socket)
    await poll(() => messages.length === 1, { what: 'the hello' })
    socket.pause()
    const long = { ...summaryOf(INCIDENT), verdict: 'x'.repeat(80_000) }
    let sent = 0
    // Until frames are skipped: the kernel's own buffers are full then.
    while (running.live.dropped() < 5 && sent < 100) {
      running.live.incident({ ...long, count: ++sent })
      running.tick(T + sent)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(running.live.dropped()).toBeGreaterThanOrEqual(5)
    socket.resume()
    const counts = () => messages.flatMap((message) => (typeof message === 'object' && message !== null && 'incident' in message ? [message.incident] : []))
    await poll(() => counts().length === sent, { what: () => `${sent} incidents, came ${counts().length}` })
    expect(counts()).toEqual(Array.from({ length: sent }, (_, n) => ({ ...long, count: n + 1 })))
    socket.terminate()
  })

  test('ends a reader for which too much waits, so that it asks again', async () => {
    await using running = await runServer()
    const socket = new WebSocket(running.wsUrl)
    await once(socket, 'open')
    await poll(() => running.live.readers() === 1, { what: 'the reader' })
    socket.pause()
    const big = { ...summaryOf(INCIDENT), verdict: 'x'.repeat(1_000_000) }
    for (let n = 0; n < 40; n++) {
      running.live.incident(big)
      expect(running.live.bufferedBytes()).toBeLessThan(MAX_CERTAIN_BYTES + 2_000_000)
    }
    await poll(() => running.live.readers() === 0, { what: 'the reader to be ended' })
    socket.terminate()
  })
})
