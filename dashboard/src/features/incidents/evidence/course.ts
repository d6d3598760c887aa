// Which seconds a reader of the evidence goes through, and with which one begins: the last that shows what led to the fault. Pure.
import type { Incident, IncidentLogLine } from '../../../../../agent/model/incident.ts'
import { PROCESS_BYTES, readSeconds, windowOf, type Window } from './lines.ts'

export type Course = Window & {
  /** The second of the fault. */
  readonly fault: number
  /** The one that is shown until another is chosen. */
  readonly start: number
}

/** Of a restart loop: the last second of each life that ended, which the fault's own second, when someone saw the loop, comes after. */
export function lastSeconds({ kind, subject, evidence: { series } }: Pick<Incident, 'kind' | 'subject' | 'evidence'>): readonly number[] {
  if (kind !== 'oom_restart_loop') return []
  const found = new Set<number>()
  for (const { metric, labels, t } of series) {
    if (metric !== PROCESS_BYTES || labels['container'] !== subject.container?.name) continue
    if (subject.container === undefined && labels['process'] !== subject.process?.name) continue
    const last = Math.round((t.at(-1) ?? 0) / 1000)
    if (Math.max(...readSeconds(series, labels['uuid'])) > last) found.add(last)
  }
  return [...found].toSorted((a, b) => a - b)
}

/** A card that does not answer is told of seconds later: the last one at which it did. */
export function courseOf(incident: Pick<Incident, 'kind' | 'subject' | 'evidence' | 'started_at' | 'occurred_at'>): Course {
  const at = incident.occurred_at ?? incident.started_at
  const window = windowOf(at)
  const fault = Math.round(at / 1000)
  const before = (seconds: Iterable<number>): number | undefined =>
    [...seconds].toSorted((a, b) => a - b).findLast((each) => each < fault && each >= window.from)
  const start = before(lastSeconds(incident)) ?? before(readSeconds(incident.evidence.series, incident.subject.gpu?.uuid)) ?? fault - 1
  return { ...window, fault, start }
}

/** Which line of the log is the fault's own: of several that are marked, as of earlier occurrences, the first of those nearest to it; -1 where none is. */
export function faultLine(lines: readonly Pick<IncidentLogLine, 't' | 'matched'>[], fault: number): number {
  let found = -1
  let nearest = Number.POSITIVE_INFINITY
  for (const [i, { t, matched }] of lines.entries()) {
    const away = Math.abs(Math.round(t / 1000) - fault)
    if (matched !== true || away >= nearest) continue
    found = i
    nearest = away
  }
  return found
}
