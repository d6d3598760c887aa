// One connection of a probe: it must say who it is, in time, and be it; then its messages go to the process that it speaks for.
import type { Socket } from 'node:net'
import { createBudget, PER_CONNECTION, type Budget } from './budget.ts'
import { createLineReader } from './line-reader.ts'
import { parseMessage, type Hello, type Message } from './messages.ts'
import type { Claim } from './ownership.ts'
import type { Probed } from './probed.ts'
import type { Refusal } from './refusals.ts'

export type Connection = {
  readonly socket: Socket
  /** Undefined until the claim was found true. */
  readonly probed: () => Probed | undefined
  readonly claim: () => Claim | undefined
  /** Lets it go on after a pause, ends it when it is silent too long. `seconds` since the last call. */
  readonly tick: (seconds: number) => void
  readonly close: () => void
}
export type ConnectionOptions = {
  readonly socket: Socket
  /** What all connections may say together. */
  readonly shared: Budget
  /** Finds the process of a claim and takes the connection for it; a refusal says why not. */
  readonly admit: (claim: Claim, connection: Connection) => Promise<Probed | Refusal>
  /** Whether this connection's samples count: of several for one process one does. */
  readonly speaks: (connection: Connection) => boolean
  readonly refuse: (reason: Refusal) => void
  /** What should not happen whatever comes; the connection ends. */
  readonly onFailure: (error: unknown) => void
  readonly onClose: (connection: Connection) => void
  readonly clock: () => number
}

const HELLO_MS = 5_000
/** Walking through all processes may have to wait its turn. */
const ADMISSION_MS = 60_000
/** A probe samples each second, but the program may hold the interpreter for long. */
const IDLE_MS = 90_000
/** Lines of valid JSON that are no message: some are forgiven, as a later probe may say more than this agent knows. */
const MAX_BAD_MESSAGES = 20

const claimOf = ({ pid, pidns, start_ticks: startTicks }: Hello): Claim => ({ pid, pidns, startTicks })
const sameClaim = (a: Claim, b: Claim): boolean => a.pid === b.pid && a.pidns === b.pidns && a.startTicks === b.startTicks

export function createConnection(options: ConnectionOptions): Connection {
  const { socket, shared, admit, speaks, refuse, onFailure, onClose, clock } = options
  const own = createBudget(PER_CONNECTION)
  const bornAt = clock()
  let heardAt = bornAt
  let claim: Claim | undefined
  let probed: Probed | undefined
  let bad = 0

  const close = (): void => void socket.destroy()
  const refused = (reason: Refusal): void => {
    refuse(reason)
    close()
  }
  const guarded = (run: () => void): void => {
    try {
      run()
    } catch (error) {
      onFailure(error)
      close()
    }
  }
  const introduce = async (hello: Hello): Promise<void> => {
    const mine = claimOf(hello)
    claim = mine
    reader.hold()
    const admitted = await admit(mine, connection).catch((error: unknown): Refusal => {
      onFailure(error)
      return 'not_owned'
    })
    if (socket.destroyed) return
    if (typeof admitted === 'string') return refused(admitted)
    probed = admitted
    heardAt = clock()
    guarded(() => {
      admitted.hello(hello)
      reader.release()
    })
  }
  const onMessage = (message: Message): void => {
    if (probed === undefined) {
      if (message.type === 'hello') void introduce(message)
      else if (message.type === 'bye') close()
      else refused('no_hello')
      return
    }
    switch (message.type) {
      case 'hello':
        if (claim === undefined || !sameClaim(claim, claimOf(message))) return refused('not_owned')
        return probed.hello(message)
      case 'sample':
        if (speaks(connection)) probed.sample(message)
        return
      case 'oom':
        return probed.oom(message)
      case 'exc':
        return probed.exception(message)
      case 'bye':
        return close()
    }
  }
  const onLine = (line: string): void => {
    heardAt = clock()
    const message = parseMessage(line)
    if (message.type !== 'refused') return guarded(() => onMessage(message))
    if (message.why === 'bad_json' || probed === undefined || ++bad > MAX_BAD_MESSAGES) return refused(message.why)
    refuse(message.why)
  }
  const reader = createLineReader({
    socket,
    // Its own first: one that has used up its share must not use up that of all.
    budgets: [own, shared],
    known: () => probed !== undefined,
    onLine,
    refuse: (reason) => (reason === 'too_fast' ? refuse(reason) : refused(reason)),
  })

  const connection: Connection = {
    socket,
    probed: () => probed,
    claim: () => claim,
    tick(seconds) {
      own.refill(seconds)
      reader.resume()
      const now = clock()
      if (claim === undefined ? now - bornAt > HELLO_MS : probed === undefined && now - bornAt > ADMISSION_MS) return refused('no_hello')
      if (probed !== undefined && !reader.paused() && now - heardAt > IDLE_MS) close()
    },
    close,
  }
  // What a peer does to its end is its own business: nothing was promised to it.
  socket.on('error', close)
  socket.on('end', close)
  socket.on('close', () => onClose(connection))
  return connection
}
