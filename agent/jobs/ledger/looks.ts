// From the readings of one second to a look at each GPU in the ledger: who holds it, how busy it is, what its counters say.
import type { UseOwner } from '../../model/ledger.ts'
import type { JobIdentity } from '../../model/job.ts'
import type { LiveRun } from '../live-run.ts'
import type { GpuNow, Seat } from '../usage.ts'
import type { LedgerBook } from './book.ts'

/** A run, or the processes that are of none, on one GPU or instance. */
export type Held = { readonly run: LiveRun | undefined; readonly seat: Seat; bytes: number; ratio?: number }

const MIB = 2 ** 20
/** A reading that is older says nothing of now; instances are read every ten seconds. */
const READ_WITHIN_MS = 5_000
const INSTANCE_WITHIN_MS = 25_000
const MAX_CARDS = 1_024
/** A look is put off so long at most; shorter than what counts as a gap. */
const PUT_OFF_MS = 3_000

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

export function createLooks(running: ReadonlyMap<string, LiveRun>, book: LedgerBook) {
  const counters = new Map<string, { readonly t: number; readonly value: number }>()
  const lookedAt = new Map<string, number>()
  const instances = new Map<string, Map<string, { readonly t: number; readonly value: number }>>()
  const ownerOf = (key: string): UseOwner | undefined => {
    const run = running.get(key)
    return run === undefined ? undefined : ownerOfRun(run)
  }
  const isFresh = (at: number, t: number, ms: number): boolean => Math.abs(t - at) <= ms
  const ratiosOf = (uuid: string, t: number): ReadonlyMap<string, number> | undefined => {
    const known = instances.get(uuid)
    if (known === undefined) return undefined
    const fresh = [...known].filter(([, { t: at }]) => isFresh(at, t, INSTANCE_WITHIN_MS))
    return fresh.length === 0 ? undefined : new Map(fresh.map(([gi, { value }]) => [gi, value]))
  }
  return {
    counter(uuid: string, value: number, t: number): void {
      if (counters.size < MAX_CARDS || counters.has(uuid)) counters.set(uuid, { t, value })
    },
    instance(uuid: string, gi: string, value: number, t: number): void {
      const known = instances.get(uuid) ?? new Map<string, { readonly t: number; readonly value: number }>()
      if (instances.size < MAX_CARDS || instances.has(uuid)) instances.set(uuid, known)
      known.set(gi, { t, value })
    },
    /** `isAwaited`: a holder has just come, and what it belongs to is being looked up. The next look then counts this time too, for its owner. */
    look(uuid: string, gpu: string, held: readonly Held[], now: (GpuNow & { readonly t: number }) | undefined, t: number, isAwaited: boolean): void {
      const last = lookedAt.get(uuid)
      if (isAwaited && last !== undefined && t - last >= 0 && t - last <= PUT_OFF_MS) return
      if (lookedAt.size < MAX_CARDS || last !== undefined) lookedAt.set(uuid, t)
      const counter = counters.get(uuid)
      const isRead = now !== undefined && isFresh(now.t, t, READ_WITHIN_MS)
      const ratios = ratiosOf(uuid, t)
      book.look(
        uuid,
        gpu,
        {
          t,
          ...(isRead && now.ratio !== undefined ? { ratio: now.ratio } : {}),
          ...(isRead && now.watts !== undefined ? { watts: now.watts } : {}),
          ...(counter !== undefined && isFresh(counter.t, t, READ_WITHIN_MS) ? { counter: counter.value } : {}),
          ...(ratios === undefined ? {} : { instances: ratios }),
          holders: held.map(({ run, seat, bytes, ratio }) => ({
            run: run?.key ?? '',
            card: seat,
            mib: bytes / MIB,
            ...(ratio === undefined ? {} : { ratio }),
          })),
        },
        ownerOf,
      )
    },
  }
}
