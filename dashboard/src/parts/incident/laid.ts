// Which incidents stand open above the cards: those that were there when the reader opened the view, or asked for more. One that arrives later is counted in
// the line above them, and one that is over keeps its place, so that nothing moves while somebody reads. Pure.
import { isCurrent, type Group } from './groups.ts'

/** What was laid out, each group by the ids that it had. */
export type Laid = { readonly rows: readonly { readonly seat: string; readonly ids: ReadonlySet<string> }[]; readonly hidden: readonly ReadonlySet<string>[] }

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

const meets = (ids: ReadonlySet<string>, was: ReadonlySet<string>): boolean => [...was].some((id) => ids.has(id))

/** Nothing is laid out yet: what is current stands open, as far as there is room. */
function fresh(groups: readonly Group[], room: number): Standing {
  const current = groups.filter(isCurrent)
  return {
    rows: current.slice(0, room).map((group) => ({ seat: group.incident.id, group })),
    hidden: current.slice(room),
    arrived: [],
    over: groups.filter((group) => !isCurrent(group)),
  }
}

export function layOut(groups: readonly Group[], room: number): Laid {
  const { rows, hidden } = fresh(groups, room)
  return { rows: rows.map(({ seat, group: { ids } }) => ({ seat, ids })), hidden: hidden.map(({ ids }) => ids) }
}

export function standing(groups: readonly Group[], laid: Laid | undefined, room: number): Standing {
  if (laid === undefined) return fresh(groups, room)
  const taken = new Set<Group>()
  const rows = laid.rows.flatMap(({ seat, ids: was }) => {
    const group = groups.find(({ ids }) => meets(ids, was))
    // Two rows become one when their incidents turn out to have one cause.
    if (group === undefined || taken.has(group)) return []
    taken.add(group)
    return [{ seat, group }]
  })
  const rest = groups.filter((group) => !taken.has(group))
  const current = rest.filter(isCurrent)
  const wasHidden = ({ ids }: Group): boolean => laid.hidden.some((was) => meets(ids, was))
  return {
    rows,
    hidden: current.filter(wasHidden),
    arrived: current.filter((group) => !wasHidden(group)),
    over: rest.filter((group) => !isCurrent(group)),
  }
}
