// Readers of the built agent's live stream that come, go, come again, and one that never reads: nothing of them stays in the agent.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { liveBytes, observed } from '../setup/heap.ts'
import { poll } from '../setup/poll.ts'
import { rounds } from '../setup/rounds.ts'

const READERS = 50
const WARM_ROUNDS = 5
const ROUNDS = rounds({ full: 20, quick: 10 })
const MIB = 1024 ** 2

async function join(agent: RunningAgent): Promise<WebSocket> {
  const socket = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
  socket.on('error', () => {})
  await once(socket, 'message')
  return socket
}
const figures = async (agent: RunningAgent) => {
  const page = await agent.metrics()
  const figure = (name: string, labels = {}): number => page.value(name, labels) ?? Number.NaN
  return {
    readers: figure('warpwatch_agent_stream_readers'),
    dropped: figure('warpwatch_agent_sink_dropped_total', { sink: 'live' }),
  }
}
/** Counted here: the agent's own figure is renewed every ten seconds only. */
const descriptors = (agent: RunningAgent): number => readdirSync(`/proc/${agent.pid}/fd`).length
const readersAre = (agent: RunningAgent, wanted: number) =>
  poll(
    async () => {
      const now = await figures(agent)
      return now.readers === wanted ? now : undefined
    },
    { what: `${wanted} readers`, everyMs: 50 },
  )

/** A pong that nobody asked for (RFC 6455, 5.5.3), masked with zeros. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** Shakes hands and then never reads again. It says that it lives, as who answers no ping for half a minute is cut off. */
async function deafReader(agent: RunningAgent): Promise<Socket> {
  const { hostname, port } = new URL(agent.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const handshake = [
    'GET /ws HTTP/1.1',
    `Host: ${hostname}:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  socket.write(`${handshake.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  const alive = setInterval(() => socket.write(PONG), 5_000)
  socket.once('close', () => clearInterval(alive))
  return socket.pause()
}
/** A host with so many processes that a frame has a quarter of a megabyte: the kernel's buffers of a deaf reader fill within seconds. */
function crowded(): FakeScenario {
  const host = eightH100()
  const gpus = host.gpus.map((gpu, index) => ({
    ...gpu,
    processes: Array.from({ length: 500 }, (_, n) => ({ pid: 3_000_000 + index * 500 + n, bytes: 1024 ** 2 })),
  }))
  return { ...host, gpus }
}

describe.skipIf(compiler === undefined).concurrent('live stream of the built agent (needs a C compiler)', () => {
  test(`${READERS} readers that come and go ${ROUNDS} times leave readers, descriptors and memory as before`, async () => {
    await using heap = observed()
    await using agent = await startAgent({ scenario: eightH100(), env: heap.env })
    const round = async (n: number): Promise<void> => {
      const readers = await Promise.all(Array.from({ length: READERS }, () => join(agent)))
      // Every now and then they stay for a frame.
      if (n % 5 === 0) await Promise.all(readers.map(async (reader) => once(reader, 'message')))
      if (n === 0) await readersAre(agent, READERS)
      // Half say good-bye, half vanish.
      readers.forEach((reader, i) => (i % 2 === 0 ? reader.close() : reader.terminate()))
    }
    await poll(async () => (await figures(agent)).readers === 0, { what: 'the first figures' })
    for (let n = 0; n < WARM_ROUNDS; n++) await round(n)
    await readersAre(agent, 0)
    const before = await liveBytes(agent, heap.folder)
    await round(0)
    const { dropped } = await readersAre(agent, 0)
    const open = descriptors(agent)
    for (let n = 0; n < ROUNDS; n++) await round(n)
    const after = await readersAre(agent, 0)
    await poll(() => descriptors(agent) <= open + 2, { what: () => `as few descriptors as before, ${open}; there are ${descriptors(agent)}` })
    expect(after.dropped).toBe(dropped)
    // 500 connections and more: one that left 8 KiB behind would show. (Detectors and history remember a little more each second.)
    expect(((await liveBytes(agent, heap.folder)) - before) / MIB, 'MiB').toBeLessThan(4)
  })

  test('a reader that never reads misses frames and costs bounded memory; the others miss none', async () => {
    await using heap = observed()
    await using agent = await startAgent({ scenario: crowded(), env: heap.env })
    const deaf = await deafReader(agent)
    const awake = await join(agent)
    let heard = 0
    awake.on('message', () => (heard += 1))
    const skipping = await poll(
      async () => {
        const now = await figures(agent)
        return now.dropped >= 1 ? now : undefined
      },
      { what: 'the first frame that the deaf reader misses', deadlineMs: 60_000, everyMs: 200 },
    )
    const later = await poll(
      async () => {
        const now = await figures(agent)
        return now.dropped >= skipping.dropped + 5 ? now : undefined
      },
      { what: 'five more', deadlineMs: 30_000, everyMs: 200 },
    )
    // Every frame that the deaf one misses was made, and the other one gets it.
    await poll(() => heard >= later.dropped, { what: () => `${later.dropped} frames at the other reader, which heard ${heard}` })
    expect(later.readers).toBe(2)
    awake.close()
    await readersAre(agent, 1)
    const withDeaf = await liveBytes(agent, heap.folder)
    deaf.destroy()
    await readersAre(agent, 0)
    // What waits for a reader is bounded by 4 MB (agent/sinks/live.ts).
    expect((withDeaf - (await liveBytes(agent, heap.folder))) / MIB, 'MiB that wait for it').toBeLessThan(6)
  })
})
