// Looks for probes that cannot reach the agent: in the /tmp of the containers (or of the host) whose processes hold GPU memory.
import { readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { IdentifyProcess, ProcessIdentity } from '../../model/identity.ts'
import { codeOf } from '../../text/error.ts'
import { findSockets, type FoundSockets } from './tmp-sockets.ts'

export type Discovery = {
  /** To be called every five seconds with those that hold GPU memory and that no probe speaks for. Costs little when nothing is new. */
  readonly look: (pids: Iterable<number>) => void
  readonly close: () => void
  /** For tests: resolves when no look is under way. */
  readonly settled: () => Promise<void>
}
export type DiscoveryOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly hears: (claim: { readonly pid: number; readonly startTicks: number }) => boolean
  readonly onSocket: (socket: Socket, ownerUid: number) => void
  readonly onNotSocket: () => void
  /** What should not happen at all; the search goes on. */
  readonly onFailure: (error: unknown) => void
  readonly clock?: () => number
}

/** A place is looked at when a process is new there, and then after these pauses: programs take their time to load and to start CUDA. */
const PAUSES_MS = [5_000, 5_000, 10_000, 20_000, 40_000, 60_000] as const
/** No answer there, or a process other than the claimed one: not tried again for this long. */
const REFUSED_MS = 120_000
/** A probe that was heard and is gone (an agent restarted, a torn line) listens again within its ten seconds. */
const STUCK_MS = 10_000
const MAX_STUCK = 2
const MAX_PLACES = 2_000
const MAX_TRIED = 10_000

type Place = { pids: Set<number>; step: number; dueAt: number; seenAt: number; emptyAs?: string | undefined }

/** Processes with one /tmp: of a container, or else with one view of the file system (PrivateTmp= and such make their own). */
function placeKey(procRoot: string, { pid, container }: ProcessIdentity): string {
  if (container !== undefined) return `container ${container.id}`
  try {
    return readlinkSync(`${procRoot}/${pid}/ns/mnt`)
  } catch {
    return `pid ${pid}` // another user's, or just gone: then nothing will be found there either
  }
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { procRoot, identify, hears, onSocket, onNotSocket, onFailure, clock = () => performance.now() } = options
  const places = new Map<string, Place>()
  /** When each socket was tried last. */
  const tried = new Map<string, number>()
  /** An identity stays the same object as long as nothing about the process changed. */
  const keys = new WeakMap<ProcessIdentity, string>()
  let stuck = 0
  let closed = false
  let chain: Promise<void> = Promise.resolve()
  let busy = false

  const take = (place: Place, { sockets, notSockets, emptyAs }: FoundSockets): void => {
    place.emptyAs = emptyAs
    for (let n = 0; n < notSockets; n++) onNotSocket()
    for (const found of sockets) {
      const at = clock()
      if (closed || hears(found) || at - (tried.get(found.id) ?? Number.NEGATIVE_INFINITY) < REFUSED_MS) {
        found.release()
        continue
      }
      tried.delete(found.id)
      tried.set(found.id, at)
      const oldest = tried.size > MAX_TRIED ? tried.keys().next().value : undefined
      if (oldest !== undefined) tried.delete(oldest)
      const socket = found.connect()
      let heard = false
      socket.once('connect', () => onSocket(socket, found.uid))
      socket.once('data', () => (heard = true))
      // Refused: its process has gone and left the file behind.
      socket.once('error', () => socket.destroy())
      socket.once('close', () => {
        if (heard) tried.delete(found.id)
      })
    }
  }
  /** A file system that does not answer may keep a thread of the pool for ever: two are given up, then no more is looked for. */
  const lookAt = async (place: Place, pid: number): Promise<void> => {
    if (stuck >= MAX_STUCK) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STUCK_MS)
    let answered = false
    const looking = findSockets(`${procRoot}/${pid}`, (inner, startTicks) => !hears({ pid: inner, startTicks }), place.emptyAs)
      .then(
        (found) => take(place, found),
        (error: unknown) => {
          // Gone, not ours to see, or no directory: nothing can be found there, as if it were empty.
          if (codeOf(error) === undefined) onFailure(error)
        },
      )
      .finally(() => {
        if (answered) stuck--
        answered = true
      })
    await Promise.race([looking, late])
    clearTimeout(timer)
    if (answered) return
    answered = true
    stuck++
  }
  const round = async (due: readonly Place[]): Promise<void> => {
    for (const place of due) {
      if (closed) return
      const [pid] = place.pids
      if (pid !== undefined) await lookAt(place, pid)
    }
  }

  return {
    look(pids) {
      const at = clock()
      const present = new Map<string, Set<number>>()
      for (const pid of pids) {
        const who = identify(pid)
        if (who === undefined) continue
        const key = keys.get(who) ?? placeKey(procRoot, who)
        keys.set(who, key)
        const mine = present.get(key)
        if (mine === undefined) present.set(key, new Set([pid]))
        else mine.add(pid)
      }
      const due: Place[] = []
      for (const [key, mine] of present) {
        let place = places.get(key)
        if (place === undefined) {
          if (places.size >= MAX_PLACES) continue
          places.set(key, (place = { pids: mine, step: 0, dueAt: at, seenAt: at }))
        } else if ([...mine].some((pid) => !place?.pids.has(pid))) {
          place.step = 0
          place.dueAt = at
        }
        place.pids = mine
        place.seenAt = at
        if (at < place.dueAt || busy) continue
        due.push(place)
        place.dueAt = at + (PAUSES_MS[Math.min(place.step, PAUSES_MS.length - 1)] ?? 60_000) - 500
        place.step++
      }
      for (const [key, place] of places) if (!present.has(key) && at - place.seenAt > 60_000) places.delete(key)
      if (due.length === 0) return
      busy = true
      chain = round(due)
        .catch(onFailure)
        .finally(() => (busy = false))
    },
    close: () => void (closed = true),
    settled: () => chain,
  }
}
