// Frames of the live stream that no client sends, tokens of the wrong kind, upgrades of other paths: the connection ends, nothing is reported.
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { TOKEN } from '../parts/access-modes.ts'
import { portOf } from '../parts/requests.ts'
import { clientFrame, converse, type Upgrade } from '../parts/websocket.ts'
import { mib } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const GIB = 1n << 30n
const FRAMES: Readonly<Record<string, readonly Buffer[]>> = {
  'not masked': [clientFrame('{}', { masked: false })],
  'an announced exabyte': [clientFrame('x', { announced: 1n << 60n })],
  'an announced gibibyte': [clientFrame('x', { announced: GIB })],
  'a negative length': [clientFrame('x', { announced: (1n << 64n) - 1n })],
  'reserved bits': [clientFrame('{}', { first: 0xf1 })],
  'an unknown opcode': [clientFrame('{}', { first: 0x83 })],
  'a fragmented ping': [clientFrame('x', { first: 0x09 })],
  'a ping of 126 bytes': [clientFrame('x'.repeat(126), { first: 0x89 })],
  'a continuation of nothing': [clientFrame('x', { first: 0x80 })],
  'text that is no UTF-8': [clientFrame(Buffer.from([0xff, 0xfe, 0xc0]))],
  'fragments without end': Array.from({ length: 2_000 }, (_, n) => clientFrame('x'.repeat(100), { first: n === 0 ? 0x01 : 0x00 })),
  'a close with a reason of one byte': [clientFrame('x', { first: 0x88 })],
  'a close with a forbidden code': [clientFrame(Buffer.from([0x03, 0xee]), { first: 0x88 })],
  noise: [Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 167 + 13) % 256))],
}
/** First messages of someone without the token. */
const GUESSES: readonly string[] = [
  '{"type":"auth","token":"wrong"}',
  '{"type":"auth","token":""}',
  `{"type":"auth","token":["${TOKEN}"]}`,
  `{"__proto__":{"type":"auth","token":"${TOKEN}"}}`,
  '{"type":"auth"}',
  'null',
  '[]',
  '{',
]
const UPGRADES: readonly Upgrade[] = [
  { headers: { 'Sec-WebSocket-Protocol': 'warpwatch.token.wrong' } },
  { headers: { 'Sec-WebSocket-Protocol': 'warpwatch, wrong' } },
  { headers: { Authorization: 'Bearer wrong' } },
  { headers: { Origin: 'http://evil.example', Authorization: `Bearer ${TOKEN}` } },
  { headers: { Host: 'evil.example', Authorization: `Bearer ${TOKEN}` } },
  { path: `/ws?token=${TOKEN}`, headers: { Origin: 'null' } },
  { path: '/api/v1/gpus' },
  { path: '/%77s' },
  { path: 'http://127.0.0.1/ws' },
]
const right = { headers: { Authorization: `Bearer ${TOKEN}` } }
const reported = (text: string): boolean => text.includes('"type":"hello"') || text.includes('GPU-')

export const wsFrames: AbuseCase = {
  id: 'ws-frames',
  area: 'http',
  fault: `${Object.keys(FRAMES).length} malformed WebSocket frames, ${GUESSES.length + UPGRADES.length} hand-shakes without the right token, Host or Origin`,
  promised: 'each connection ends, nobody without the token is told anything, the agent goes on',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    await using agent = await startAgent({ scenario: eightH100(), env: { WARPWATCH_HTTP__TOKEN: TOKEN } })
    const port = portOf(agent.url)
    const before = agent.pssBytes()
    const strangers: string[] = []
    let ended = 0
    for (let round = 0; round < (short ? 1 : 50); round++) {
      const frames = Object.values(FRAMES)
      // With the token, so that what is broken comes to a reader that is served; without, some of them last until the token is due.
      const broken = frames.map((bytes) => converse(port, right, bytes))
      const unknown = short ? [] : frames.map((bytes) => converse(port, {}, bytes))
      const guessed = GUESSES.map((text) => converse(port, {}, [clientFrame(text)]))
      const refused = UPGRADES.map((upgrade) => converse(port, upgrade, []))
      const texts = await Promise.all([...broken, ...unknown, ...guessed, ...refused])
      ended += texts.length
      strangers.push(...texts.filter((text, at) => reported(text) && at >= frames.length))
    }
    const owner = await converse(port, right, [], (text) => text.includes('"type":"frame"'))
    const spoken = await converse(port, {}, [clientFrame(JSON.stringify({ type: 'auth', token: TOKEN }))], reported)
    const alive = (await agent.get('/healthz')).status === 200
    const held = strangers.length === 0 && reported(owner) && reported(spoken) && alive
    return {
      held,
      observed: `${ended} connections, all ended by the agent, ${strangers.length} told anything; the owner is heard ${reported(owner) && reported(spoken) ? 'both ways' : 'NOT'}; ${mib(agent.pssBytes() - before)} more memory`,
    }
  },
}
