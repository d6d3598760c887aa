// The state in which a request for GPU memory failed: from PyTorch itself where the probe saw it, else from the message, with the driver's figures beside it.
import type { AllocatorOom } from '../../../model/event.ts'
import type { Facts } from '../../../model/facts.ts'
import type { GpuMemory, Track } from '../../detectors/parts/tracks.ts'
import type { Moment } from './past.ts'

export type Neighbour = {
  readonly pid?: number
  readonly bytes: number
  readonly container?: string
  readonly process?: string
  /** Another process of the failing container. */
  readonly sameContainer?: boolean
}

export type OomState = {
  /** probe: exact bytes of the moment after the flush. message: as printed, with two decimals. */
  readonly from: 'probe' | 'message'
  readonly requested: number
  /** What the card can give, and what this process may use of it. */
  readonly total: number
  readonly limit: number
  readonly capped: boolean
  readonly free: number
  readonly allocated: number | undefined
  readonly reserved: number
  /** Reserved, free and of no use: it is between blocks that live. */
  readonly stranded: number
  /** Free in pools of CUDA graphs and `MemPool`s. */
  readonly pools: number
  readonly processBytes: number | undefined
  /** Of the process, but not PyTorch's: CUDA context, libraries, other frameworks. */
  readonly outside: number | undefined
  /** Biggest first; undefined when nobody said who else there is. */
  readonly neighbours: readonly Neighbour[] | undefined
  /** Of each figure of a message. */
  readonly rounding: number
  /** The driver said shortly before that as much was free: no neighbour had just given it back. */
  readonly driverFree: number | undefined
}

const GIB = 2 ** 30
/** A limit is one only if it is less than what the driver can give; both come from different places (1.5 % is the driver's own share). */
const CAP_BELOW = 0.985
/** A process that is not named is ours when it holds what PyTorch holds, plus context and libraries. */
const CONTEXT_AT_MOST = 4 * GIB

export type Seen = {
  readonly facts: Facts
  readonly oom: AllocatorOom | undefined
  readonly track: Track | undefined
  readonly gpu: GpuMemory | undefined
  /** Of the process, when it was last known to live. */
  readonly moment: Moment | undefined
  readonly neighbours: readonly Neighbour[]
  /** Processes of the message that belong to the failing container. */
  readonly isOwn: (pid: number) => boolean
}

/** undefined where the figures do not say what was asked for, what was free and what PyTorch held. */
export function oomStateOf(seen: Seen): OomState | undefined {
  const { facts, oom, gpu, moment } = seen
  const own = ownProcess(seen)
  const others = neighboursOf(seen, own)
  const base = {
    neighbours: others,
    driverFree: moment?.freeBytes,
  }
  const cardTotal = gpu === undefined ? undefined : gpu.used + gpu.free
  if (oom !== undefined) {
    const { allocated_bytes: allocated, reserved_bytes: reserved, active_bytes: active } = oom.stats
    const free = oom.free_bytes ?? facts.free_bytes
    const limited = limitOf(seen, cardTotal)
    const total = facts.total_bytes ?? cardTotal ?? (limited.capped ? undefined : oom.limit_bytes)
    if (reserved === undefined || free === undefined || total === undefined) return undefined
    const pools = (oom.pools ?? []).filter(({ pool: [a, b] }) => a !== 0 || b !== 0).reduce((sum, { free_bytes: bytes }) => sum + bytes, 0)
    const outside = own !== undefined ? Math.max(0, own - reserved) : moment?.outsideBytes
    return {
      ...base,
      from: 'probe',
      requested: oom.request_bytes,
      total,
      limit: limited.limit ?? total,
      capped: limited.capped,
      free,
      allocated,
      reserved,
      stranded: Math.max(0, reserved - Math.max(allocated ?? 0, active ?? 0) - pools),
      pools,
      outside,
      processBytes: own ?? (outside === undefined ? undefined : reserved + outside),
      rounding: 0,
    }
  }
  const { requested_bytes: requested, free_bytes: free, total_bytes: total, allocated_bytes: allocated } = facts
  if (requested === undefined || free === undefined || total === undefined || (allocated ?? facts.reserved_bytes) === undefined) return undefined
  const pools = facts.private_pools_bytes ?? 0
  const reserved = facts.reserved_bytes ?? (allocated ?? 0) + (facts.reserved_unallocated_bytes ?? 0) + pools
  const limited = limitOf(seen, cardTotal)
  return {
    ...base,
    from: 'message',
    requested,
    total,
    limit: limited.limit ?? total,
    capped: limited.capped,
    free,
    allocated,
    reserved,
    stranded: facts.reserved_unallocated_bytes ?? Math.max(0, reserved - (allocated ?? reserved) - pools),
    pools,
    outside: own === undefined ? undefined : Math.max(0, own - reserved),
    processBytes: own,
    rounding: requested >= GIB || free >= GIB ? 0.005 * GIB : 0.005 * 2 ** 20,
  }
}

function limitOf({ facts, oom, track }: Seen, cardTotal: number | undefined): { readonly limit?: number; readonly capped: boolean } {
  if (facts.allowed_bytes !== undefined) return { limit: facts.allowed_bytes, capped: true }
  const sampled = track?.sample?.limit_bytes
  // null: the probe knows that there is none. What the event says is the total where no limit is set, and a MIG instance has a total of its own.
  const said = sampled === null || (sampled === undefined && oom?.mig_uuid !== undefined) ? undefined : (sampled ?? oom?.limit_bytes)
  const total = facts.total_bytes ?? cardTotal ?? (sampled === undefined ? undefined : oom?.limit_bytes)
  return said !== undefined && total !== undefined && said < CAP_BELOW * total ? { limit: said, capped: true } : { capped: false }
}

/** What the failing process holds in all, as the message says it: by its name, by its container, or by its size. */
function ownProcess({ facts, oom, track, isOwn }: Seen): number | undefined {
  if (facts.process_bytes !== undefined) return facts.process_bytes
  const listed = facts.other_processes ?? []
  const known = listed.filter(({ pid }) => pid !== undefined && (pid === (oom?.pid ?? track?.pid) || isOwn(pid)))
  if (known.length === 1) return known[0]?.bytes
  const held = oom?.stats.reserved_bytes ?? facts.reserved_bytes ?? (facts.allocated_bytes ?? 0) + (facts.reserved_unallocated_bytes ?? 0)
  const fitting = (known.length > 0 ? known : listed).filter(({ bytes }) => bytes >= held - 0.02 * GIB && bytes <= held + CONTEXT_AT_MOST)
  return fitting.length === 1 ? fitting[0]?.bytes : undefined
}

function neighboursOf({ facts, neighbours, isOwn }: Seen, own: number | undefined): readonly Neighbour[] | undefined {
  const listed = facts.other_processes
  const named = new Map(neighbours.map((neighbour) => [neighbour.pid, neighbour]))
  if (listed !== undefined) {
    const left = facts.process_bytes === undefined && own !== undefined ? without(listed, own) : listed
    if (facts.process_bytes === undefined && own === undefined) return neighbours.length > 0 ? neighbours : undefined
    // The message's own figure is of the moment; names come from the driver's list.
    return left
      .map(({ pid, bytes }) => ({ ...(pid === undefined ? {} : { ...named.get(pid), pid, ...(isOwn(pid) ? { sameContainer: true } : {}) }), bytes }))
      .sort((a, b) => b.bytes - a.bytes)
  }
  if (neighbours.length > 0) return [...neighbours].sort((a, b) => b.bytes - a.bytes)
  return facts.process_bytes === undefined ? undefined : []
}

function without<T extends { readonly bytes: number }>(list: readonly T[], bytes: number): readonly T[] {
  const at = list.findIndex((one) => one.bytes === bytes)
  return list.filter((_, index) => index !== at)
}
