// Rows of correlated incidents: one row for all that has one cause, headed by the cause while it fires. Pure.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { Repeated } from './repeats.ts'

export type Group = Repeated & {
  /** The other incidents with the same cause, in the order of the list. */
  readonly members: readonly Repeated[]
  /** The worst of those that fire; of the row's own incident when none does. */
  readonly severity: IncidentSummary['severity']
}

const RANK: Readonly<Record<IncidentSummary['severity'], number>> = { critical: 0, warning: 1, info: 2 }
const fires = ({ incident }: Repeated): boolean => incident.status === 'firing'

function groupOf(rows: readonly Repeated[], story: string | undefined): Group | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  const root = rows.find(({ incident }) => incident.id === story)
  // A cause that is over does not hide what still fires.
  const head = root !== undefined && (fires(root) || !rows.some(fires)) ? root : first
  const firing = rows.filter(fires)
  const [worst = head] = firing.toSorted((a, b) => RANK[a.incident.severity] - RANK[b.incident.severity])
  const ids = new Set(rows.flatMap((row) => [...row.ids]))
  return { ...head, ids, members: rows.filter((row) => row !== head), severity: worst.incident.severity }
}

/** In the order of the first row of each group. */
export function groups(rows: readonly Repeated[]): readonly Group[] {
  const byStory = Map.groupBy(rows, ({ incident: { id, story } }) => story ?? id)
  return [...byStory].flatMap(([story, members]) => groupOf(members, story) ?? [])
}

/** What needs attention now: it fires, or it comes and goes. */
export const isCurrent = ({ incident, flapping, members }: Group): boolean => incident.status === 'firing' || flapping || members.some(fires)

/** `seat` stays the same while the row stands, whichever of its incidents heads it. */
export type Seated = { readonly seat: string; readonly group: Group }
export type Standing = {
  /** The rows as they were laid out, each as it is now. */
  readonly rows: readonly Seated[]
  /** Current ones that had no room when the rows were laid out. */
  readonly hidden: readonly Group[]
  /** Current ones that came since. */
  readonly arrived: readonly Group[]
  /** What is over and has no row. */
  readonly over: readonly Group[]
}

/** Nothing is laid out yet: what is current is open, as far as there is room. */
export function fresh(groups: readonly Group[], room: number): Standing {
  const current = groups.filter(isCurrent)
  return {
    rows: current.slice(0, room).map((group) => ({ seat: group.incident.id, group })),
    hidden: current.slice(room),
    arrived: [],
    over: groups.filter((group) => !isCurrent(group)),
  }
}
