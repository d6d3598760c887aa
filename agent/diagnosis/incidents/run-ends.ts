// Puts together what the engine says of a container's end and what its log said last, and judges both once.
import type { ContainerEvent, LogTail } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { kindOf } from '../../model/kinds.ts'
import { isLogKind } from '../../model/log-kinds.ts'
import type { KnownEnd } from '../ends/judge.ts'
import type { HostIdentityIndex } from './host-identity-index.ts'
import { rootOf, subjectOf, type OpenIncident } from './open-incident.ts'
import type { Place } from './subject.ts'

/** What ended a run with these last lines; undefined where another fault explains it, or nothing was wrong. */
export type EndJudge = (lines: readonly string[], known: KnownEnd, origin: LogTail['origin']) => Fault | undefined
export type RunEnd = { readonly fault: Fault; readonly place: Place }
export type RunEndsOptions = {
  readonly judge: EndJudge
  readonly open: () => readonly OpenIncident[]
  readonly identities: Pick<HostIdentityIndex, 'requested' | 'processes'>
}
export type RunEnds = {
  readonly container: (event: ContainerEvent) => RunEnd | undefined
  readonly tail: (event: LogTail) => RunEnd | undefined
  /** Ends whose log never came. */
  readonly tick: (t: number) => readonly RunEnd[]
}

/** The end of a log is read within a moment of the engine's word; where it is not, a crash's exit code alone decides. */
const WAIT_MS = 5_000
/** Of other exit codes nothing can be said without the log, which a busy engine may give late. */
const LATE_MS = 60_000
/** What was seen so shortly before a container's end has to do with it. */
const CRASH_MS = 60_000
/** `docker stop -t` gives a program so long, and then its end is still the one that was asked for. */
const STOPPED_MS = 15 * 60_000
/** A container that restarts again and again is judged at most so often. */
const AGAIN_MS = 10_000
/** 128 + SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: the program's own fault, whatever its log says. */
const CRASHES: ReadonlySet<number | undefined> = new Set([132, 133, 134, 135, 136, 139])
/** SIGINT, SIGQUIT, SIGKILL, SIGTERM; others are messages to the program. */
const ENDING: ReadonlySet<number> = new Set([2, 3, 9, 15])
const MAX_KNOWN = 2_048

type Known = { startedAt?: number; stoppedAt?: number; oomAt?: number; judgedAt?: number; died?: ContainerEvent; tail?: LogTail }

export function createRunEnds({ judge, open, identities }: RunEndsOptions): RunEnds {
  const containers = new Map<string, Known>()
  const waiting = new Set<Known>()
  const of = (id: string): Known => {
    const key = id.slice(0, 12)
    const known = containers.get(key) ?? {}
    containers.delete(key)
    containers.set(key, known)
    for (const oldest of containers.keys()) {
      if (containers.size <= MAX_KNOWN) break
      containers.delete(oldest)
    }
    return known
  }
  const judged = (known: Known): RunEnd | undefined => {
    const { died, tail, oomAt } = known
    delete known.died
    delete known.tail
    waiting.delete(known)
    if (died === undefined) return undefined
    known.judgedAt = died.t
    const { exit_code: exitCode, container, container_id: id } = died
    const oomKilled = oomAt !== undefined && died.t - oomAt < 60_000
    // The kernel's kill is told by the engine's own event.
    if (oomKilled || (tail === undefined && !CRASHES.has(exitCode))) return undefined
    const fault = judge(tail?.lines ?? [], exitCode === undefined ? {} : { exitCode }, tail?.origin ?? { container, container_id: id })
    const isOfIt = (other: string | undefined): boolean => other?.slice(0, 12) === id.slice(0, 12)
    const from = Math.max(known.startedAt ?? 0, died.t - CRASH_MS)
    // What the probe, the kernel or a detector saw explains the end too, though the log says nothing of it.
    const isExplained = (one: OpenIncident): boolean => {
      const { kind } = rootOf(one).fault
      return kind !== fault?.kind && isOfIt(subjectOf(one).container?.id) && one.lastSeenAt >= from && isLogKind(kind) && kindOf(kind).crash?.fatal !== false
    }
    if (fault === undefined || open().some(isExplained)) return undefined
    const hasGpu = (identities.requested(id)?.length ?? 0) > 0 || identities.processes(died.t).some(({ containerId }) => isOfIt(containerId))
    // On a GPU host other containers end too: that is worth a line, not a call at night.
    return { fault: hasGpu ? fault : { ...fault, severity: 'info' }, place: { t: died.t, stream: 'container', container, containerId: id } }
  }

  return {
    container(event) {
      const known = of(event.container_id)
      const { action, t, signal } = event
      if (action === 'start') {
        known.startedAt = t
        delete known.stoppedAt
        // One that ends at once may have been read to its end before the engine's word of its start is.
        if (known.tail !== undefined && known.tail.t < t) delete known.tail
      }
      if (action === 'kill' && (signal === undefined || ENDING.has(signal))) known.stoppedAt = t
      if (action === 'oom') known.oomAt = t
      if (action !== 'die' && action !== 'died') return undefined
      const stopped = known.stoppedAt !== undefined && t - known.stoppedAt < STOPPED_MS
      const isAgain = known.judgedAt !== undefined && Math.abs(t - known.judgedAt) < AGAIN_MS
      if ((event.exit_code ?? 0) === 0 || stopped || isAgain) {
        delete known.tail
        return undefined
      }
      known.died = event
      if (known.tail !== undefined && Math.abs(t - known.tail.t) < WAIT_MS) return judged(known)
      waiting.add(known)
      return undefined
    },
    tail(event) {
      const id = event.origin.container_id
      if (id === undefined) return undefined
      const known = of(id)
      // A last look after the stream has nothing new.
      if (event.lines.length > 0 || known.tail === undefined) known.tail = event
      return known.died === undefined ? undefined : judged(known)
    },
    tick(t) {
      const found: RunEnd[] = []
      for (const known of waiting) {
        const waitMs = known.tail !== undefined || CRASHES.has(known.died?.exit_code) ? WAIT_MS : LATE_MS
        // A reading carries the time at which it began. On a busy host that may be before an end that was reported meanwhile.
        if (known.died !== undefined && Math.abs(t - known.died.t) < waitMs) continue
        const end = judged(known)
        if (end !== undefined) found.push(end)
      }
      return found
    },
  }
}
