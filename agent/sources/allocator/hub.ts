// All connections and the processes behind them: who may speak for whom, how many, and what they say together.
import type { Socket } from 'node:net'
import type { Event } from '../../model/event.ts'
import type { IdentifyProcess, ProcessIdentity } from '../../model/identity.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { Log } from '../../model/source.ts'
import { createBudget, IN_ALL } from './budget.ts'
import { createConnection, type Connection } from './connection.ts'
import type { DriverView } from './driver-view.ts'
import type { Claim, Ownership } from './ownership.ts'
import { createProbed, FRESH_MS, type Probed } from './probed.ts'
import type { Refusal, Refusals } from './refusals.ts'

export const MAX_CONNECTIONS = 1_024
export const MAX_PER_PROCESS = 16
/** A process without a connection is remembered so long, as long as it lives: what it said of an OOM may come again. */
const FORGET_MS = 600_000
const MAX_PROCESSES = 4_096
/** Many probes come at once when the agent has started. */
const RECENT_MS = 200
/** What a process that has ended had sent before is read within so long; what comes later is not its own. */
const LAST_WORDS_MS = 2_000

export type Hub = {
  /** `ownerUid`: of the socket that was found in /tmp; undefined for a connection that came by itself. */
  readonly add: (socket: Socket, ownerUid?: number) => void
  readonly connections: () => number
  /** Whether a probe that knows itself by this pid and start is connected. */
  readonly hears: (claim: Pick<Claim, 'pid' | 'startTicks'>) => boolean
  readonly hearsPid: (hostPid: number) => boolean
  /** To be called once a second. */
  readonly tick: () => void
  readonly report: () => { readonly byGpu: ReadonlyMap<string, readonly Reading[]>; readonly gaps: readonly Gap[] }
  readonly close: () => void
}
export type HubOptions = {
  readonly identify: IdentifyProcess
  readonly ownership: Ownership
  readonly view: DriverView
  readonly refusals: Refusals
  readonly emit: (event: Event) => void
  readonly interesting: (text: string) => boolean
  readonly onFailure: (error: unknown) => void
  readonly log?: Pick<Log, 'debug'>
  readonly now?: () => number
  readonly clock?: () => number
}

type Entry = {
  readonly probed: Probed
  /** As it was seen last. */
  who: ProcessIdentity
  readonly connections: Set<Connection>
  speaker: Connection | undefined
  spokeAt: number
  aloneSince: number
  /** Since when the process is no more. */
  goneSince: number | undefined
}

export function createHub(options: HubOptions): Hub {
  const { identify, ownership, view, refusals, emit, interesting, onFailure, log, now = () => Date.now(), clock = () => performance.now() } = options
  /** In the order in which they were served last. */
  const connections = new Set<Connection>()
  const processes = new Map<string, Entry>()
  const shared = createBudget(IN_ALL)
  let tickedAt = clock()

  const keyOf = (pid: number, startTicks: number): string => `${pid} ${startTicks}`
  const entryOf = (connection: Connection): Entry | undefined => {
    const probed = connection.probed()
    return probed === undefined ? undefined : processes.get(keyOf(probed.pid, probed.startTicks))
  }
  const enter = (first: ProcessIdentity): Entry => {
    const { pid, startTicks } = first
    // The last words of a process may be read after its end; who it was is known.
    const probed = createProbed({ pid, startTicks, who: () => entry.who, view, emit, interesting, now, clock })
    const entry: Entry = {
      probed,
      who: first,
      connections: new Set(),
      speaker: undefined,
      spokeAt: Number.NEGATIVE_INFINITY,
      aloneSince: clock(),
      goneSince: undefined,
    }
    processes.set(keyOf(pid, startTicks), entry)
    return entry
  }

  const admit = async (claim: Claim, connection: Connection, ownerUid: number | undefined): Promise<Probed | Refusal> => {
    const found = await judge(claim, connection, ownerUid)
    log?.debug?.(`probe of pid ${claim.pid} (its own number): ${typeof found === 'string' ? `refused, ${found}` : `connected, host pid ${found.pid}`}`)
    return found
  }
  const judge = async (claim: Claim, connection: Connection, ownerUid: number | undefined): Promise<Probed | Refusal> => {
    const pid = await ownership.find(claim)
    const who = pid === undefined ? undefined : identify(pid)
    if (pid === undefined || who?.startTicks !== claim.startTicks) return 'not_owned'
    if (ownerUid !== undefined && who.uid !== undefined && ownerUid !== who.uid) return 'wrong_owner'
    const known = processes.get(keyOf(pid, claim.startTicks))
    if (known === undefined && processes.size >= MAX_PROCESSES) return 'too_many_connections'
    const entry = known ?? enter(who)
    if (entry.connections.size >= MAX_PER_PROCESS) return 'too_many_per_process'
    entry.connections.add(connection)
    view.refresh(RECENT_MS)
    return entry.probed
  }
  /** The first one that speaks goes on to; another takes over when it falls silent. */
  const speaks = (connection: Connection): boolean => {
    const entry = entryOf(connection)
    if (entry === undefined) return false
    const at = clock()
    if (entry.speaker !== undefined && entry.speaker !== connection && at - entry.spokeAt < FRESH_MS) return false
    entry.speaker = connection
    entry.spokeAt = at
    return true
  }
  const onClose = (connection: Connection): void => {
    connections.delete(connection)
    for (const entry of processes.values()) {
      if (!entry.connections.delete(connection)) continue
      entry.aloneSince = clock()
      if (entry.speaker === connection) entry.speaker = undefined
    }
  }

  return {
    add(socket, ownerUid) {
      if (connections.size >= MAX_CONNECTIONS) {
        refusals.add('too_many_connections')
        socket.on('error', () => {}) // it is let go of
        socket.destroy()
        return
      }
      const connection = createConnection({
        socket,
        shared,
        admit: (claim, asking) => admit(claim, asking, ownerUid),
        speaks,
        refuse: refusals.add,
        onFailure,
        onClose,
        clock,
      })
      connections.add(connection)
    },
    connections: () => connections.size,
    hears({ pid, startTicks }) {
      for (const connection of connections) {
        const claim = connection.claim()
        if (claim?.pid === pid && claim.startTicks === startTicks) return true
      }
      return false
    },
    hearsPid(hostPid) {
      for (const { probed, connections: its } of processes.values()) if (probed.pid === hostPid && its.size > 0) return true
      return false
    },
    tick() {
      const at = clock()
      const seconds = Math.min(5, (at - tickedAt) / 1_000)
      tickedAt = at
      shared.refill(seconds)
      // In turn: who was served goes to the end, so that a few loud ones do not silence the others.
      for (const connection of Array.from(connections)) {
        connection.tick(seconds)
        if (connections.delete(connection) && !connection.socket.destroyed) connections.add(connection)
      }
      for (const [key, entry] of processes) {
        const { probed } = entry
        const who = identify(probed.pid)
        const lives = who?.startTicks === probed.startTicks
        if (lives) entry.who = who
        for (let lost = probed.retry(); lost > 0; lost--) refusals.add('gpu_unknown')
        if (lives) {
          if (entry.connections.size > 0 || at - entry.aloneSince < FORGET_MS) continue
        } else {
          entry.goneSince ??= at
          if (at - entry.goneSince < LAST_WORDS_MS) continue
        }
        for (const connection of entry.connections) connection.close()
        processes.delete(key)
      }
    },
    report() {
      const byGpu = new Map<string, Reading[]>()
      const gaps: Gap[] = []
      const out = (uuid: string): Reading[] => {
        let readings = byGpu.get(uuid)
        if (readings === undefined) byGpu.set(uuid, (readings = []))
        return readings
      }
      for (const { probed, who, goneSince } of processes.values()) if (goneSince === undefined) probed.report(out, gaps, who)
      return { byGpu, gaps }
    },
    close() {
      for (const connection of connections) connection.close()
      connections.clear()
      processes.clear()
    },
  }
}
