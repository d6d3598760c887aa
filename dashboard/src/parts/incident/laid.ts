// Which incidents are listed above the cards: those that were there when the reader opened the view, or asked for the new ones. A later one is only counted in
// the line above the list, and a resolved one keeps its row, so that nothing moves while the page is being read. Pure.
import { fresh, isCurrent, type Group, type Standing } from './groups.ts'

/** What was laid out, each group by the ids that it had. */
export type Laid = { readonly rows: readonly { readonly seat: string; readonly ids: ReadonlySet<string> }[]; readonly hidden: readonly ReadonlySet<string>[] }

const meets = (ids: ReadonlySet<string>, was: ReadonlySet<string>): boolean => [...was].some((id) => ids.has(id))

export function layOut(groups: readonly Group[], room: number): Laid {
  const { rows, hidden } = fresh(groups, room)
  return { rows: rows.map(({ seat, group: { ids } }) => ({ seat, ids })), hidden: hidden.map(({ ids }) => ids) }
}

export function standing(groups: readonly Group[], laid: Laid): Standing {
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
