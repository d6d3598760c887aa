// A program may catch an OOM and go on: its log shows it, by the level of the line or by what it counts afterwards. Such an OOM is a warning.
import type { LogLine } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import type { Severity } from '../../model/severity.ts'
import { createLife, type Life } from '../ends/signs/life.ts'
import { isWarned } from '../reported.ts'
import { readLine } from '../traceback/line.ts'
import { logKey } from './log-memory.ts'
import type { OpenIncident } from './open-incident.ts'

/** One line of progress may be another rank's, which stops as soon as it waits for the one that failed. */
const PROGRESS_LINES = 2
const PROGRESS_MS = 2_000
/** A log that shows no progress for so many lines shows none. */
const LINES_WATCHED = 2_000
const LOGS_WATCHED = 100

type Watch = { readonly open: OpenIncident; readonly life: Life; readonly t: number; readonly failedAt: number; number: number; shownAt: number; shown: number }

export type SurvivedOoms = {
  /** A line of a log reported an OOM. `before`: the lines of this log before it. */
  readonly reported: (open: OpenIncident, fault: Fault<IncidentKind>, line: LogLine, before: readonly string[]) => void
  /** A line without a fault. */
  readonly follow: (line: LogLine) => void
  /** The container of these incidents ended. */
  readonly ended: (incidents: readonly OpenIncident[]) => void
}

/** Gives the OOM of an incident another severity. */
function rate({ grouped }: OpenIncident, severity: Severity): boolean {
  const member = grouped.find(({ fault }) => fault.kind === 'cuda_oom')
  if (member === undefined || member.fault.severity === severity) return false
  member.fault = { ...member.fault, severity }
  return true
}

export function createSurvivedOoms(): SurvivedOoms {
  const watches = new Map<string, Watch>()
  /** Their programs got over one and may get over the next. */
  const survivors = new WeakSet<OpenIncident>()
  return {
    reported(open, fault, line, before) {
      if (line.stream === 'kernel') return
      const survives = survivors.has(open) || isWarned(line.text)
      if (rate(open, survives ? 'warning' : fault.severity)) open.changed = true
      if (survives || watches.has(logKey(line))) return
      const life = createLife()
      before.forEach((text, index) => life.add(readLine(text, index + 1), 0))
      const failedAt = before.length + 1
      watches.set(logKey(line), { open, life, t: line.t, failedAt, number: failedAt, shownAt: failedAt, shown: 0 })
      const [oldest] = watches.keys()
      if (watches.size > LOGS_WATCHED && oldest !== undefined) watches.delete(oldest)
    },
    follow(line) {
      if (watches.size === 0) return
      const key = logKey(line)
      const watch = watches.get(key)
      if (watch === undefined) return
      const { open, life, failedAt } = watch
      for (const text of line.text.split('\n')) {
        watch.number += 1
        life.add(readLine(text, watch.number), failedAt)
        if (life.progressAt() <= watch.shownAt) continue
        watch.shownAt = watch.number
        watch.shown += 1
      }
      const survived = watch.shown >= PROGRESS_LINES && line.t - watch.t >= PROGRESS_MS
      if (!survived && watch.number - failedAt < LINES_WATCHED && open.status !== 'resolved') return
      watches.delete(key)
      if (!survived) return
      survivors.add(open)
      if (rate(open, 'warning')) open.changed = true
    },
    ended(incidents) {
      for (const open of incidents) {
        if (open.exitCode === undefined || open.exitCode === 0) continue
        survivors.delete(open)
        if (rate(open, 'critical')) open.changed = true
      }
    },
  }
}
