// The live stream with real WebSocket clients: who gets in, what they hear, and that tabs and slow readers cost bounded memory.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { poll } from '../setup/poll.ts'
import { fillStore, GPU0, T } from '../unit/http/fixture.ts'
import { runServer } from '../unit/http/running.ts'

type Message = Readonly<Record<string, unknown>>

/** A client that keeps what it hears. */
function listen(url: string, options: { readonly protocols?: string | string[]; readonly origin?: string; readonly headers?: Record<string, string> } = {}) {
  const { protocols = [], ...rest } = options
  const socket = new WebSocket(url, protocols, rest)
  const messages: Message[] = []
  let closed: { code: number; reason: string } | undefined
  let failure: string | undefined
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())))
  socket.on('close', (code, reason) => (closed = { code, reason: reason.toString() }))
  socket.on('error', (error) => (failure = error.message))
  return {
    socket,
    messages,
    closed: () => poll(() => closed, { what: 'the end of the connection' }),
    failure: () => poll(() => failure, { what: 'a refusal' }),
    heard: (count: number) => poll(() => messages.length >= count && messages, { what: () => `${count} messages, ${messages.length} came` }),
  }
}

describe('a reader', () => {
  test('hears hello with the GPUs, then a frame per tick with all rows', async () => {
    await using running = await runServer()
    const reader = listen(running.wsUrl)
    const [hello] = await reader.heard(1)
    expect(hello).toMatchObject({ type: 'hello', version: 1, host: 'gpu-01', interval_ms: 1_000, simulated: false })
    expect(hello?.['gpus']).toEqual(JSON.parse(JSON.stringify(running.views.rows().gpus)))
    fillStore(running.latest, T + 1_000)
    running.tick(T + 1_000)
    running.tick(T + 2_000)
    const [, frame, next] = await reader.heard(3)
    expect(frame).toMatchObject({ type: 'frame', t: T + 1_000, host: { hostname: 'gpu-01' } })
    for (const part of ['gpus', 'containers', 'processes', 'allocators']) expect(Array.isArray(frame?.[part])).toBe(true)
    expect(frame?.['gpus']).toContainEqual(expect.objectContaining({ uuid: GPU0['uuid'], index: 0, memory_used_bytes: 12_345_678_901 }))
    expect(next?.['t']).toBe(T + 2_000)
    reader.socket.close()
    await reader.closed()
  })

  test('hears the present at once; frames are built for readers: none while nobody listens', async () => {
    await using running = await runServer()
    running.tick(T)
    expect(running.live.frames()).toBe(0)
    const readers = Array.from({ length: 5 }, () => listen(running.wsUrl))
    for (const reader of readers) expect((await reader.heard(2))[1]).toMatchObject({ type: 'frame', t: T })
    expect(running.live.frames()).toBe(0)
    running.tick(T + 1_000)
    for (const reader of readers) expect((await reader.heard(3))[2]).toMatchObject({ type: 'frame', t: T + 1_000 })
    expect(running.live.frames()).toBe(1)
  })

  test('that says more than a token may hold is cut off', async () => {
    await using running = await runServer()
    const reader = listen(running.wsUrl)
    await reader.heard(1)
    reader.socket.send('x'.repeat(5_000))
    expect((await reader.closed()).code).toBe(1009)
    await poll(() => running.live.connections() === 0, { what: 'the reader to be forgotten' })
  })

  test('beyond the limit is turned away, and one fits again when another leaves', async () => {
    await using running = await runServer({ live: { maxReaders: 2 } })
    const [first, second] = [listen(running.wsUrl), listen(running.wsUrl)]
    await first.heard(1)
    await second.heard(1)
    expect(await listen(running.wsUrl).failure()).toContain('503')
    first.socket.close()
    await poll(() => running.live.connections() === 1, { what: 'a free place' })
    await listen(running.wsUrl).heard(1)
  })

  test('that has yet to say its token takes no place of those who may read', async () => {
    await using running = await runServer({ http: { token: 'correct-horse' }, live: { maxReaders: 1_000, authWithinMs: 60_000 } })
    const strangers = Array.from({ length: 100 }, () => listen(running.wsUrl))
    await poll(() => running.live.connections() === 100, { what: 'a hundred strangers' })
    expect(await listen(running.wsUrl).failure()).toContain('503')
    expect((await listen(running.wsUrl, { protocols: 'warpwatch.token.correct-horse' }).heard(1))[0]?.['type']).toBe('hello')
    for (const { socket } of strangers) socket.terminate()
  })

  test('that was refused and does not close its side is forgotten soon all the same', async () => {
    await using running = await runServer({ http: { token: 'correct-horse' }, live: { authWithinMs: 500 } })
    // The raw socket reads, but never answers the close.
    const mute = await deafReader(running.url)
    await poll(() => running.live.connections() === 1, { what: 'the stranger' })
    await once(mute.resume(), 'close')
    await poll(() => running.live.connections() === 0, { what: 'no connection' })
    expect(running.live.readers()).toBe(0)
  })

  test('is told when the agent stops', async () => {
    const running = await runServer()
    const reader = listen(running.wsUrl)
    await reader.heard(1)
    await running.server.close()
    expect((await reader.closed()).code).toBe(1001)
  })
})

describe('a token', () => {
  const withToken = (authWithinMs = 60_000) => runServer({ http: { token: 'correct-horse' }, live: { authWithinMs } })

  test.each([
    ['a subprotocol', { protocols: 'warpwatch.token.correct-horse' }],
    ['a second subprotocol', { protocols: ['warpwatch', 'correct-horse'] }],
    ['a header', { headers: { authorization: 'Bearer correct-horse' } }],
  ])('comes as %s', async (_name, options) => {
    await using running = await withToken()
    const reader = listen(running.wsUrl, options)
    expect((await reader.heard(1))[0]?.['type']).toBe('hello')
  })

  test('comes as first message; nothing is told before it', async () => {
    await using running = await withToken()
    const reader = listen(running.wsUrl)
    await once(reader.socket, 'open')
    await poll(() => running.live.connections() === 1, { what: 'the connection' })
    running.tick(T + 1_000)
    expect([running.live.readers(), running.live.frames()]).toEqual([0, 0])
    reader.socket.send(JSON.stringify({ type: 'auth', token: 'correct-horse' }))
    expect((await reader.heard(1))[0]?.['type']).toBe('hello')
    expect((await reader.heard(2))[1]?.['t']).toBe(T + 1_000)
  })

  test.each(['wrong', 'correct-horse2'])('that is %s is refused', async (token) => {
    await using running = await withToken()
    expect(await listen(running.wsUrl, { protocols: `warpwatch.token.${token}` }).failure()).toContain('401')
    expect(await listen(running.wsUrl, { headers: { authorization: `Bearer ${token}` } }).failure()).toContain('401')
    expect(await listen(`${running.wsUrl}?token=correct-horse`, { protocols: ['warpwatch', token] }).failure()).toContain('401')
    const late = listen(running.wsUrl)
    await once(late.socket, 'open')
    late.socket.send(JSON.stringify({ type: 'auth', token }))
    expect((await late.closed()).code).toBe(1008)
    expect(late.messages).toEqual([])
  })

  test('that does not come in time, or is no JSON, ends the connection', async () => {
    await using hasty = await withToken(200)
    const silent = listen(hasty.wsUrl)
    const closed = await silent.closed()
    expect([closed.code, closed.reason]).toEqual([1008, expect.stringContaining('none came in time')])
    await using running = await withToken()
    const babbling = listen(running.wsUrl)
    await once(babbling.socket, 'open')
    babbling.socket.send('{')
    expect((await babbling.closed()).code).toBe(1008)
  })
})

describe('Origin and Host', () => {
  test.each([
    [undefined, true],
    ['same', true],
    ['https://grafana.example', true],
    ['https://evil.example', false],
    ['null', false],
  ])('%s: let in is %s', async (origin, letIn) => {
    await using running = await runServer({ http: { allowedOrigins: ['https://grafana.example'] } })
    const reader = listen(running.wsUrl, origin === undefined ? {} : { origin: origin === 'same' ? running.url : origin })
    const outcome = letIn ? (await reader.heard(1))[0]?.['type'] : await reader.failure()
    expect(outcome).toBe(letIn ? 'hello' : 'Unexpected server response: 403')
  })

  test('a name of another site does not reach the stream', async () => {
    await using running = await runServer()
    expect(await listen(running.wsUrl, { headers: { host: 'evil.example' } }).failure()).toContain('403')
  })
})

/** A reader that shakes hands and then never reads: the kernel's buffers fill, then the agent's. */
async function deafReader(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  await once(socket, 'readable')
  return socket
}

describe('memory', () => {
  test('a reader that stops reading skips frames and holds bounded bytes; others hear every frame', async () => {
    await using running = await runServer({ live: { maxBufferedBytes: 20_000 } })
    const deaf = await deafReader(running.url)
    const awake = listen(running.wsUrl)
    await awake.heard(1)
    // Until its kernel buffers (some MiB on loopback) are full it skips nothing; then frames are dropped and nothing piles up.
    let ticks = 0
    while (running.live.dropped() < 100 && ticks < 20_000) {
      const heard = once(awake.socket, 'message')
      running.tick(T + 1_000 * (ticks += 1))
      await heard
    }
    expect(running.live.dropped()).toBe(100)
    expect(awake.messages.length).toBe(1 + ticks)
    expect(running.live.bufferedBytes()).toBeLessThan(2 * 20_000)
    deaf.destroy()
    await poll(() => running.live.connections() === 1, { what: 'the deaf reader to be forgotten' })
    expect(running.live.bufferedBytes()).toBeLessThan(20_000)
  })

  test('a reader that answers no ping is let go', async () => {
    await using running = await runServer({ live: { pingEveryMs: 1_000 } })
    const deaf = await deafReader(running.url)
    const alive = listen(running.wsUrl)
    await alive.heard(1)
    await once(deaf.resume(), 'close')
    await poll(() => running.live.connections() === 1, { what: 'the deaf reader to be forgotten' })
    running.tick(T + 1_000)
    expect((await alive.heard(2))[1]?.['type']).toBe('frame')
  })

  test('fifty tabs that come and go leave nothing behind', async () => {
    await using running = await runServer()
    for (let round = 0; round < 20; round += 1) {
      const tabs = Array.from({ length: 50 }, () => listen(running.wsUrl))
      // From the second round on they are greeted with a frame.
      const greeted = round === 0 ? 1 : 2
      for (const tab of tabs) await tab.heard(greeted)
      running.tick(T + round * 1_000)
      for (const tab of tabs) await tab.heard(greeted + 1)
      // Half say good-bye, half vanish.
      tabs.forEach(({ socket }, i) => (i % 2 === 0 ? socket.close() : socket.terminate()))
      await poll(() => running.live.connections() === 0, { what: () => `no connection, ${running.live.connections()} left` })
    }
    expect([running.live.readers(), running.live.connections(), running.live.bufferedBytes(), running.live.dropped()]).toEqual([0, 0, 0, 0])
    expect(running.live.frames()).toBe(20)
    await poll(async () => (await running.server.connections()) === 0, { what: 'no open socket of the server' })
  })
})
