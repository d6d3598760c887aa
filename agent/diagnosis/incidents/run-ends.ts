// Puts together what the engine says of a container's end and what its log said last, and judges both once.
import type { ContainerEvent, LogTail } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { KnownEnd } from '../ends/judge.ts'

/** What ended a run with these last lines; undefined where another fault explains it, or nothing was wrong. */
export type EndJudge = (lines: readonly string[], known: KnownEnd, origin: LogTail['origin']) => Fault | undefined
/** `startedAt`: of the run, Unix ms; 0 where nobody saw it. */
export type RunEnd = { readonly fault: Fault; readonly died: ContainerEvent; readonly startedAt: number }
export type RunEnds = {
  readonly container: (event: ContainerEvent) => RunEnd | undefined
  readonly tail: (event: LogTail) => RunEnd | undefined
  /** Ends whose log never came. */
  readonly tick: (t: number) => readonly RunEnd[]
}

/** The end of a log is read within a moment of the engine's word; where it is not, the exit code alone decides. */
const WAIT_MS = 5_000
/** `docker stop -t` gives a program so long, and then its end is still the one that was asked for. */
const STOPPED_MS = 15 * 60_000
/** A container that restarts again and again is judged at most so often. */
const AGAIN_MS = 10_000
/** 128 + SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: the program's own fault, whatever its log says. Of other codes nothing can be said without a log. */
const CRASHES: ReadonlySet<number | undefined> = new Set([132, 133, 134, 135, 136, 139])
/** SIGINT, SIGQUIT, SIGKILL, SIGTERM; others are messages to the program. */
const ENDING: ReadonlySet<number> = new Set([2, 3, 9, 15])
const MAX_KNOWN = 2_048

type Known = { startedAt?: number; stoppedAt?: number; oomAt?: number; judgedAt?: number; died?: ContainerEvent; tail?: LogTail }

export function createRunEnds(judge: EndJudge): RunEnds {
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
    return fault && { fault, died, startedAt: known.startedAt ?? 0 }
  }

  return {
    container(event) {
      const known = of(event.container_id)
      const { action, t, signal } = event
      if (action === 'start') {
        known.startedAt = t
        delete known.stoppedAt
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
      known.tail = event
      return known.died === undefined ? undefined : judged(known)
    },
    tick(t) {
      const found: RunEnd[] = []
      for (const known of waiting) {
        if (known.died !== undefined && t >= known.died.t && t - known.died.t < WAIT_MS) continue
        const end = judged(known)
        if (end !== undefined) found.push(end)
      }
      return found
    },
  }
}
