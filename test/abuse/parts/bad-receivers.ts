// Receivers of notifications that fail in every way a receiver can: each is one path of one server, and well or ill as the case says.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../setup/free-port.ts'
import { OK, type Answer, type Received, type Receiver } from '../../setup/receiver.ts'

export const FAILURES = {
  refuse: 'reset',
  hang: 'hang',
  'status-500': { status: 500, body: 'out of order' },
  'status-429': { status: 429, headers: { 'retry-after': '1' } },
  cut: 'cut',
  redirect: { status: 307, headers: { location: 'http://192.0.2.1/elsewhere' } },
  'slow-bytes': 'drip',
  'close-at-once': 'reset',
} as const satisfies Readonly<Record<string, Answer>>
export type Failure = keyof typeof FAILURES
export const FAILURE_NAMES = Object.keys(FAILURES).filter((name): name is Failure => name in FAILURES)

export type BadReceivers = {
  /** Lines for `notifiers:`. */
  readonly notifiers: readonly string[]
  /** Those named here fail from now on, all others take what comes. */
  readonly fail: (names: ReadonlySet<Failure>) => Promise<void>
  readonly takenBy: (name: Failure) => readonly Received[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A port that leads to another one, or to nobody. */
async function door(port: number, to: number): Promise<{ readonly set: (open: boolean) => Promise<void> }> {
  let sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const onward = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.pipe(other)
    }
  })
  const set = async (open: boolean): Promise<void> => {
    if (open === server.listening) return
    if (open) {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return
    }
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    sockets = new Set()
    await closed
  }
  await set(true)
  return { set }
}

export async function badReceivers(receiver: Receiver): Promise<BadReceivers> {
  const port = await freePort()
  const refusing = await door(port, Number(new URL(receiver.url).port))
  let ill: ReadonlySet<Failure> = new Set()
  const nameOf = ({ path }: Received): Failure | undefined => FAILURE_NAMES.find((name) => path === `/${name}`)
  receiver.answerWith((received) => {
    const name = nameOf(received)
    return name !== undefined && ill.has(name) ? FAILURES[name] : OK
  })
  const urlOf = (name: Failure): string => (name === 'refuse' ? `http://127.0.0.1:${port}/refuse` : `${receiver.url.replace(/\/$/, '')}/${name}`)
  return {
    notifiers: FAILURE_NAMES.map((name) => `{ name: ${name}, type: webhook, url: "${urlOf(name)}", timeout_ms: 500, max_messages_per_minute: 0 }`),
    async fail(names) {
      ill = names
      await refusing.set(!names.has('refuse'))
    },
    takenBy: (name) => receiver.taken.filter((received) => nameOf(received) === name),
    [Symbol.asyncDispose]: async () => refusing.set(false),
  }
}
