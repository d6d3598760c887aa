// What happened on a GPU or in a job, as marks on charts: incidents when they began and came again, restarts and new containers as the readings tell them. Pure.
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import type { SeriesRow } from '../../../../../agent/model/live.ts'
import { containerKey } from '../../../text/names.ts'
import { jobOf } from '../../job/identity.ts'

export type Mark = {
  /** Unix seconds. */
  readonly second: number
  readonly kind: 'critical' | 'warning' | 'info' | 'restart'
  readonly text: string
  /** `job KEY` and `gpu UUID`. */
  readonly about: readonly string[]
  /** Of a restart, or of an incident that names no GPU: the container, of which readings say on which GPUs it was. */
  readonly container?: string
}

const subjectsOf = ({ subject: { gpu, container, process } }: IncidentSummary): readonly string[] => {
  const job = jobOf({
    ...(container !== undefined && { container: container.name, namespace: container.namespace, pod: container.pod }),
    ...(process !== undefined && { pid: process.pid }),
  })
  return [...(gpu?.uuid === undefined ? [] : [`gpu ${gpu.uuid}`]), ...(container === undefined && process === undefined ? [] : [`job ${job.key}`])]
}

/** When it happened, and where it came again the newest time as well. */
export function incidentMarks(all: Iterable<IncidentSummary>): readonly Mark[] {
  return [...all].flatMap((incident): readonly Mark[] => {
    const { title, severity: kind, count, last_seen_at: seen, started_at: started, occurred_at: occurred } = incident
    const about = subjectsOf(incident)
    if (about.length === 0) return []
    const { gpu, container } = incident.subject
    const where = gpu?.uuid === undefined && container !== undefined ? { container: containerKey({ ...container, container: container.name }) } : {}
    const mark = (ms: number, text: string): Mark => ({ second: Math.round(ms / 1000), kind, text, about, ...where })
    // Of one that came again `occurred_at` is the newest time, of the first when it happened, which may be before it was seen.
    const newest = occurred ?? (count > 1 ? seen : started)
    return count > 1 && newest - started > 2_000 ? [mark(started, title), mark(newest, `${title} (${count} times)`)] : [mark(newest, title)]
  })
}

/** A counter that rose is a restart; another container under the same name is a new one, perhaps of another image. */
export function restartMarks(rows: readonly SeriesRow[]): readonly Mark[] {
  const marks: Mark[] = []
  const seen = new Map<string, SeriesRow[]>()
  for (const row of rows) {
    const container = containerKey(row.labels)
    seen.set(container, [...(seen.get(container) ?? []), row])
    const about = [`job ${jobOf(row.labels).key}`]
    let before: number | undefined
    for (const [i, value] of row.max.entries()) {
      if (typeof value !== 'number') continue
      const second = Math.round((row.t[i] ?? 0) / 1000)
      if (before !== undefined && value > before) marks.push({ second, kind: 'restart', text: `${container} restarted`, about, container })
      before = value
    }
  }
  const firstOf = (row: SeriesRow): number => row.t[row.max.findIndex((value) => typeof value === 'number')] ?? 0
  for (const [container, same] of seen) {
    const sorted = same.toSorted((a, b) => firstOf(a) - firstOf(b))
    for (const [i, row] of sorted.entries()) {
      const last = sorted[i - 1]
      if (last === undefined || last.labels['container_id'] === row.labels['container_id']) continue
      const image = row.labels['image']
      const text = image !== undefined && image !== last.labels['image'] ? `${container} deployed: ${image}` : `${container} recreated`
      marks.push({ second: Math.round(firstOf(row) / 1000), kind: 'restart', text, about: [`job ${jobOf(row.labels).key}`], container })
    }
  }
  return marks.toSorted((a, b) => a.second - b.second)
}

/** Those within so many seconds, the nearest first. */
export const near = (marks: readonly Mark[], second: number, within: number): readonly Mark[] =>
  marks.filter((mark) => Math.abs(mark.second - second) <= within).toSorted((a, b) => Math.abs(a.second - second) - Math.abs(b.second - second))
