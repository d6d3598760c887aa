// Puts what was seen into an open incident as it comes: the fault's own text, lines after it, readings until the time after it has passed.
import type { LogLine } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { AFTER_MS, type EvidenceReader, type Scope } from './evidence.ts'
import { logKey } from './log-memory.ts'
import { subjectOf, type OpenIncident } from './open-incident.ts'
import type { Place } from './subject.ts'

/** Readings come up to a tick after their second. */
const COMPLETE_AFTER_MS = AFTER_MS + 1_500

const scopeOf = (open: OpenIncident): Scope => ({ subject: subjectOf(open), gpus: [...open.gpus] })

export type EvidenceCollection = {
  /** A fault of this incident was seen; `line` where a log shows it. */
  readonly seen: (open: OpenIncident, fault: Fault<IncidentKind>, place: Place, line: LogLine | undefined) => void
  /** A line that shows no fault, perhaps after one that did. */
  readonly following: (all: readonly OpenIncident[], line: LogLine) => void
  /** True when something was added that comes with time: the container's settings, and the readings once the time after the fault has passed. */
  readonly late: (open: OpenIncident) => boolean
}

/** `elapsed`: of the tracker's clock. */
export function createEvidenceCollection(evidence: EvidenceReader, elapsed: () => number): EvidenceCollection {
  const words = (open: OpenIncident, { kind, evidence: own }: Fault<IncidentKind>, line: LogLine): void => {
    const seenBefore = open.logs.has(logKey(line))
    // The verdict of an OOM has the figures of its last failure: those lines are evidence, however late they come.
    if (open.complete && seenBefore && kind !== 'cuda_oom') return
    const shows = new Set(own.map(({ text }) => text.trim()))
    // The log's own words are better than ours for the same.
    open.logLines = evidence.merge(
      open.logLines.filter(({ stream }) => stream !== 'numbers'),
      seenBefore
        ? [{ ...evidence.after(line), matched: true }]
        : evidence.before(line, [...open.gpus]).map((kept) => (kept.matched !== true && shows.has(kept.text.trim()) ? { ...kept, matched: true } : kept)),
    )
    open.logs.add(logKey(line))
  }

  return {
    seen(open, fault, place, line) {
      const first = open.logLines.length === 0 && open.processes.length === 0
      if (line !== undefined) words(open, fault, line)
      else if (first) open.logLines = [evidence.ownText(place.t, place.stream, fault.verdict)]
      if (open.complete) return
      if (open.processes.length === 0) open.processes = evidence.processes(scopeOf(open), place.t)
      open.container ??= evidence.container(scopeOf(open))
      if (first) open.series = evidence.series(scopeOf(open), open.occurredAt)
    },
    following(all, line) {
      const key = logKey(line)
      for (const open of all) {
        if (open.complete || !open.logs.has(key)) continue
        const marked = open.logLines.findIndex(({ matched }) => matched === true)
        if (Math.abs(line.t - open.lastSeenAt) > AFTER_MS || !evidence.canTakeMore(open.logLines, marked + 1)) continue
        if (evidence.isOfOtherGpu(line.text, [...open.gpus])) continue
        open.logLines = evidence.merge(open.logLines, [evidence.after(line)])
        open.changed = true
      }
    },
    late(open) {
      if (open.complete) return false
      const before = open.container
      // The engine's answer may come after the crash.
      open.container ??= evidence.container(scopeOf(open))
      if (elapsed() - open.evidenceFrom < COMPLETE_AFTER_MS) return open.container !== before
      open.series = evidence.series(scopeOf(open), open.occurredAt)
      open.complete = true
      return true
    },
  }
}
