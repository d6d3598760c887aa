// From the readings of one second to a look at each GPU in the ledger: who holds it, how busy it is, what its counters say.
import type { CardCheckpoint, UseOwner } from '../../model/ledger.ts'
import type { JobIdentity } from '../../model/job.ts'
import type { LiveRun } from '../live-run.ts'
import { seatKey, type GpuNow, type Seat } from '../usage.ts'
import type { LedgerBook } from './book.ts'
import type { CardLook } from './card-meter.ts'

/** A run, or the processes that are of none, on one GPU or instance. `pids`: of its processes there; `pid`: of one that is awaited. */
export type Held = {
  readonly run: LiveRun | undefined
  readonly seat: Seat
  readonly pids: number[]
  bytes: number
  ratio?: number
  readonly awaited?: Lookup
  readonly pid?: number
}
/** Of a process whose owner is being looked up: the answer once it is there, and whether it is still to come. */
export type Lookup = { readonly run: () => LiveRun | undefined; readonly isOpen: () => boolean }

const MIB = 2 ** 20
/** A reading that is older says nothing of now; instances are read every ten seconds. */
const READ_WITHIN_MS = 5_000
const INSTANCE_WITHIN_MS = 25_000
/** GPM compares two readings ten seconds apart: an agent that is restarted again and again has none for a while, and the instances go on as before. */
const RESTORED_WITHIN_MS = 60_000
const MAX_CARDS = 1_024
/** A look waits so long at most for who a process belongs to; shorter than what counts as a gap. */
const WAITS_MS = 5_500

/** An identity that changes is another object, and so is its owner: the book keeps what it computes of an owner. */
const owners = new WeakMap<JobIdentity, UseOwner>()
export function ownerOfRun({ identity }: LiveRun): UseOwner {
  let owner = owners.get(identity)
  if (owner === undefined) {
    const { job_id, job, user, namespace, account } = identity
    owner = {
      job_id,
      job,
      ...(user === undefined ? {} : { user }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(account === undefined ? {} : { account }),
    }
    owners.set(identity, owner)
  }
  return owner
}

type CardNow = (GpuNow & { readonly t: number }) | undefined
/** All that was known at its time. */
type Waiting = { readonly t: number; readonly gpu: string; readonly held: readonly Held[]; readonly look: Omit<CardLook, 'holders'> }

/** One for each run and instance, with what is known by now of those that were looked up. */
function holdersOf(held: readonly Held[]): readonly Held[] {
  if (held.every(({ awaited }) => awaited === undefined)) return held
  const found = new Map<string, Held>()
  for (const { run: known, seat, pids, bytes, ratio, awaited } of held) {
    const run = known ?? awaited?.run()
    const place = `${run?.key ?? ''} ${seatKey(seat)}`
    const before = found.get(place)
    const sum = ratio === undefined && before?.ratio === undefined ? undefined : (ratio ?? 0) + (before?.ratio ?? 0)
    found.set(place, { run, seat, pids: [...(before?.pids ?? []), ...pids], bytes: bytes + (before?.bytes ?? 0), ...(sum === undefined ? {} : { ratio: sum }) })
  }
  return [...found.values()]
}

export type Looks = ReturnType<typeof createLooks>
/** `endedLately`: the newest run of that key which ended within the last minute; its last part is still to come. */
export function createLooks(running: ReadonlyMap<string, LiveRun>, endedLately: (key: string) => LiveRun | undefined, book: LedgerBook) {
  const counters = new Map<string, { readonly t: number; readonly value: number }>()
  const waiting = new Map<string, Waiting[]>()
  const instances = new Map<string, Map<string, { readonly t: number; readonly value: number; readonly withinMs: number }>>()
  const enter = (uuid: string, { gpu, held, look }: Waiting): void => {
    const holders = holdersOf(held)
    // One that ended while its look waited is no longer among those that run.
    const own = new Map<string, LiveRun>()
    for (const { run } of holders) if (run !== undefined) own.set(run.key, run)
    const runOf = (key: string): LiveRun | undefined => own.get(key) ?? running.get(key) ?? endedLately(key)
    // One that had ended by the time the agent was back did so at any time before.
    const endOf = (key: string): number | undefined => {
      const run = runOf(key)
      return run?.isRestored === true ? undefined : run?.end?.t
    }
    const ownerOf = (key: string): UseOwner | undefined => {
      const run = runOf(key)
      return run === undefined ? undefined : ownerOfRun(run)
    }
    const cards = holders.map(({ run, seat, bytes, ratio }) => ({
      run: run?.key ?? '',
      card: seat,
      mib: bytes / MIB,
      ...(ratio === undefined ? {} : { ratio }),
      ...(run === undefined || run.startedBefore ? {} : { since: run.startedAt }),
    }))
    const parts = book.look(uuid, gpu, { ...look, holders: cards }, ownerOf, endOf)
    // A run's own figures are these sums as well.
    for (const { holder, held: part, use } of parts) {
      const run = holder === undefined ? undefined : runOf(holder.run)
      if (holder === undefined || part === undefined || run === undefined) continue
      run.usage.count(holder.card, look.t, use, part)
      run.hasMoved = true
    }
  }
  const isFresh = (at: number, t: number, ms: number): boolean => Math.abs(t - at) <= ms
  const ratiosOf = (uuid: string, t: number): Pick<CardLook, 'instances' | 'instancesAt'> => {
    const fresh = [...(instances.get(uuid) ?? [])].filter(([, { t: at, withinMs }]) => isFresh(at, t, withinMs))
    if (fresh.length === 0) return {}
    return { instances: new Map(fresh.map(([gi, { value }]) => [gi, value])), instancesAt: Math.max(...fresh.map(([, { t: at }]) => at)) }
  }
  const instance = (uuid: string, gi: string, value: number, t: number, withinMs = INSTANCE_WITHIN_MS): void => {
    const known = instances.get(uuid) ?? new Map<string, { readonly t: number; readonly value: number; readonly withinMs: number }>()
    if (instances.size < MAX_CARDS || instances.has(uuid)) instances.set(uuid, known)
    known.set(gi, { t, value, withinMs })
  }
  return {
    counter(uuid: string, value: number, t: number): void {
      if (counters.size < MAX_CARDS || counters.has(uuid)) counters.set(uuid, { t, value })
    },
    instance: (uuid: string, gi: string, value: number, t: number): void => instance(uuid, gi, value, t),
    /** What the agent before had read of instances holds on for a while. */
    restore(checkpoints: readonly CardCheckpoint[]): void {
      for (const { uuid, instances: ratios = {}, instancesAt } of checkpoints)
        if (instancesAt !== undefined) for (const [gi, value] of Object.entries(ratios)) instance(uuid, gi, value, instancesAt, RESTORED_WITHIN_MS)
    },
    /** `isAwaited`: a holder has just come, or the agent has, and what it belongs to is being looked up: the look waits, so that its time counts for its owner. */
    look(uuid: string, gpu: string, held: readonly Held[], now: CardNow, t: number, isAwaited: boolean): void {
      const counter = counters.get(uuid)
      const isRead = now !== undefined && isFresh(now.t, t, READ_WITHIN_MS)
      const look = {
        t,
        ...(isRead && now.ratio !== undefined ? { ratio: now.ratio } : {}),
        ...(isRead && now.watts !== undefined ? { watts: now.watts } : {}),
        ...(counter !== undefined && isFresh(counter.t, t, READ_WITHIN_MS) ? { counter: counter.value } : {}),
        ...ratiosOf(uuid, t),
      }
      const before = waiting.get(uuid) ?? []
      const begun = before[0]?.t ?? t
      const all = [...before, { t, gpu, held, look }]
      if (isAwaited && t >= begun && t - begun <= WAITS_MS && (before.length > 0 || waiting.size < MAX_CARDS)) {
        waiting.set(uuid, all)
        return
      }
      waiting.delete(uuid)
      for (const one of all) enter(uuid, one)
    },
    /** Of processes that were looked up something is known: what waited for no others is counted now. */
    settle(): void {
      for (const [uuid, all] of waiting) {
        if (all.some(({ held }) => held.some(({ awaited }) => awaited?.isOpen() === true))) continue
        waiting.delete(uuid)
        for (const one of all) enter(uuid, one)
      }
    },
  }
}
