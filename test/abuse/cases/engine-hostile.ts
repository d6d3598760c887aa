// Engines that hang, lie, shout and never end, all of them at once beside a good one: its containers are named, GPUs are sampled, memory is bounded.
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { idOf, inspected, json, listed, serveContainers } from '../../unit/containers/engine-server.ts'
import { httpEngine, pour, rawEngine, type HostileEngine } from '../parts/hostile-engine.ts'
import { missedSeconds, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const MB = 1_000_000
/** An answer of at most 16 MiB, for a moment in pieces, whole, and as text. */
const PER_ENGINE_BYTES = 48 * 1024 ** 2
const NOISE = Buffer.from(Array.from({ length: 65_536 }, (_, n) => (n * 167 + 13) % 256))
const CONTAINER = '{"Id":"' + 'c'.repeat(64) + '","Names":["/x"],"Image":"i","State":"running","Labels":null},'
const HOSTILE = '"\n} 1\\{x="'

const ENGINES: Readonly<Record<string, () => Promise<HostileEngine>>> = {
  'takes the connection and says nothing': () => rawEngine(() => {}),
  'stops in the middle of its head': () => rawEngine((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Le')),
  'stops in the middle of its body': () => rawEngine((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[{"Id":')),
  'drips a byte at a time': () =>
    rawEngine((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')
      const timer = setInterval(() => socket.write('['), 50)
      socket.on('close', () => clearInterval(timer))
    }),
  'answers noise': () => rawEngine((socket) => socket.end(NOISE)),
  'answers 200 MB of noise': () => rawEngine((socket) => pour(socket, NOISE, 200 * MB)),
  'answers a list of 200 MB': () => httpEngine((_path, response) => (response.write('['), pour(response, Buffer.from(CONTAINER.repeat(500)), 200 * MB))),
  'answers heads of 200 MB': () =>
    rawEngine((socket) => (socket.write('HTTP/1.1 200 OK\r\n'), pour(socket, Buffer.from('X-A: 1\r\n'.repeat(8_000)), 200 * MB))),
  'never ends its chunks': () => httpEngine((_path, response) => pour(response, Buffer.from(' '.repeat(65_536)), Infinity)),
  'answers deep JSON': () => httpEngine((_path, response) => response.end('['.repeat(5 * MB))),
  'answers other types': () =>
    httpEngine((_path, response) => json(response, 200, { Id: 7, Names: 'x', Labels: [1], State: { a: 1 }, __proto__: { polluted: 1 } })),
  'answers 1xx without end': () => rawEngine((socket) => pour(socket, Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000)), 200 * MB)),
  'redirects to itself': () => httpEngine((path, response) => response.writeHead(302, { Location: path }).end()),
  'tells 50,000 events a second': () =>
    httpEngine((path, response) => {
      if (!path.startsWith('/events')) return json(response, 200, [])
      response.writeHead(200)
      const event = `${JSON.stringify({ Type: 'container', Action: 'start', Actor: { ID: 'd'.repeat(64), Attributes: { name: 'x' } }, time: 1 })}\n`
      const timer = setInterval(() => response.write(event.repeat(500)), 10)
      response.on('close', () => clearInterval(timer))
    }),
  'tells an event without end': () =>
    httpEngine((path, response) => (path.startsWith('/events') ? pour(response, Buffer.from('x'.repeat(65_536)), Infinity) : json(response, 200, []))),
}

export const engineHostile: AbuseCase = {
  id: 'engine-hostile',
  area: 'engine',
  fault: `${Object.keys(ENGINES).length} engines at once that hang, answer noise, wrong types, 200 MB or without end, and container names of 10 kB`,
  promised:
    'the containers of a good engine beside them are named, sampling is not late, memory stays below 48 MiB more for each of them, /metrics stays valid',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    const name = `${HOSTILE}${'n'.repeat(10_000)}`
    const good = await httpEngine((path, response, request) =>
      path.startsWith('/events')
        ? response.writeHead(200).flushHeaders()
        : serveContainers(
            new Map([
              [idOf('a'), { list: listed(idOf('a'), 'trainer'), inspect: inspected(idOf('a'), 'trainer') }],
              [idOf('b'), { list: listed(idOf('b'), name, { Image: name }), inspect: inspected(idOf('b'), name) }],
            ]),
          )(path, response, request),
    )
    const hostile = await Promise.all(Object.values(ENGINES).map((make) => make()))
    try {
      // The number of whom it asks is what counts, not how long the machine takes.
      await using agent = await startAgent({
        scenario: eightH100(),
        env: { WARPWATCH_CONTAINERS__ENGINES: [...hostile, good].map(({ socketPath }) => socketPath).join(',') },
      })
      await sampled(agent, [0, 7])
      using memory = weigh(agent)
      const begun = Date.now()
      const containers = async (): Promise<readonly string[]> => {
        const page = await agent.metrics()
        return page.samples.filter(({ name: of }) => of === 'warpwatch_container_info').map(({ labels }) => labels['container'] ?? '')
      }
      await poll(async () => (await containers()).includes('trainer'), {
        what: () => `the good engine's container; the agent said: ${agent.stderr().slice(-2_000)}`,
        deadlineMs: 60_000,
      })
      await poll(() => hostile.every(({ calls }) => calls() > 0), { what: 'each hostile engine to be asked', deadlineMs: 60_000 })
      await new Promise((resolve) => setTimeout(resolve, short ? 500 : 60_000))
      const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
      const gaps = ((await agent.get('/api/v1/gaps')).text.match(/"metric":"containers"/g) ?? []).length
      const shown = await containers()
      const longest = Math.max(...shown.map((text) => text.length))
      const grown = memory.most()
      return {
        held: shown.includes('trainer') && (short || missed <= 1) && grown < hostile.length * PER_ENGINE_BYTES && (await agent.get('/healthz')).status === 200,
        observed: `${hostile.reduce((sum, { calls }) => sum + calls(), 0)} requests to ${hostile.length} hostile engines, ${gaps} gaps that name them; the good one's containers named, the longest shown with ${longest} characters; ${missed} seconds not sampled; ${memory.text()}`,
      }
    } finally {
      await Promise.all([...hostile, good].map((engine) => engine[Symbol.asyncDispose]()))
    }
  },
}
