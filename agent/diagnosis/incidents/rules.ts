// The figures behind incidents: how long one stays open, what joins what, which fault of a crash is its root. The kinds declare their part of it.
import type { Fault } from '../../model/fault.ts'
import { kindOf, type IncidentKind } from '../../model/kinds.ts'
import { isLogKind } from '../../model/log-kinds.ts'

const MINUTE_MS = 60_000

/** Faults of one crash come within so long: the OOM, the other ranks' messages, the exit. */
export const CRASH_WINDOW_MS = 60_000
/** A program that was started again needs at least so long to its next fault: imports, the CUDA context. What comes sooner is of the run that ended. */
export const RESTART_MS = 3_000
/** PyTorch's default NCCL time-out: so long after the first rank died the others say so. */
const NCCL_TIMEOUT_MS = 600_000
/** A kernel line, the engine's event and the counter report one kill within so long. */
export const SAME_KILL_MS = 5_000
/** The probe and the log report one failure when so close; a log is read a little later than the probe. */
export const SAME_OOM_MS = 10_000
const DEFAULT_QUIET_MINUTES = 15

/** How long an incident stays open without the same fault, while the agent samples. */
export const quietMs = (kind: IncidentKind): number => (kindOf(kind).quietMinutes ?? DEFAULT_QUIET_MINUTES) * MINUTE_MS

export const hitsWholeGpu = (kind: IncidentKind): boolean => kindOf(kind).crash?.hitsWholeGpu === true
export const echoesGpu = (kind: IncidentKind): boolean => kindOf(kind).crash?.echoesGpu === true
export const needsReading = (kind: IncidentKind): boolean => kindOf(kind).needsReading === true
/** A detector says when it is over: of kinds from numbers always, of some that logs show too. */
export const isHeldLogKind = (kind: IncidentKind): boolean => kindOf(kind).crash?.heldByDetector === true
/** What a detector finds is no part of a crash, but for these. */
export const findingJoins = (kind: IncidentKind): boolean => isHeldLogKind(kind) || kindOf(kind).crash?.joins === true

/** How long after the last fault of a crash this one still belongs to it. */
export function joinWindowMs(fault: Fault<IncidentKind>): number {
  return fault.kind === 'nccl_error' ? (fault.facts.timeout_ms ?? NCCL_TIMEOUT_MS) + CRASH_WINDOW_MS : CRASH_WINDOW_MS
}

/** That one came with a crash does not make it the crash's consequence. */
const isAlone = (kind: IncidentKind): boolean => kindOf(kind).crash?.alone === true || !isLogKind(kind)
/** A fault and what programs print of it are one story, whichever came first. */
const isEchoOf = (kind: IncidentKind, other: IncidentKind): boolean => kindOf(kind).crash?.echoOf === other

/** Whether a fault can be a part of a crash with others: equal kinds always, those that are alone only with themselves and their echoes. */
export const canJoin = (kind: IncidentKind, others: readonly IncidentKind[]): boolean =>
  others.includes(kind) || others.some((other) => isEchoOf(kind, other) || isEchoOf(other, kind)) || (!isAlone(kind) && !others.every(isAlone))

/** Xids that follow from another error: preemptive clean-ups and channel tear-downs (NVIDIA's Xid catalogue calls 43, 45, 109 and 154 such). */
const FOLLOWING_XIDS: ReadonlySet<number> = new Set([43, 45, 109, 154])
/** The GPU is off the bus, or needs a reset: nothing a program says is nearer to the cause. */
const DECISIVE_XIDS: ReadonlySet<number> = new Set([48, 62, 64, 74, 79, 92, 94, 95, 119, 120, 140])
const DEFAULT_RANK = 10

/** Of the board, not of a program that runs on it. */
export const isDecisiveXid = (xid: number | undefined): boolean => xid !== undefined && DECISIVE_XIDS.has(xid)

/** The lower the nearer to the cause: what the hardware and the system say comes before what a program makes of it. */
export function rootRank({ kind, facts: { xid } }: Fault<IncidentKind>): number {
  if (kind === 'xid' && isDecisiveXid(xid)) return 0.5
  if (kind === 'xid' && xid !== undefined && FOLLOWING_XIDS.has(xid)) return 12.5
  return kindOf(kind).crash?.rank ?? DEFAULT_RANK
}
