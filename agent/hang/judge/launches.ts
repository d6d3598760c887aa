// Who has launched fewer or more collectives than its peers, or others, by the counts of one RAS answer. Pure.
import type { RasComm } from '../model.ts'
import { minority, sidesBy } from './signature.ts'

export const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const totals = ({ ranks }: RasComm): number[] => ranks.map(({ counts }) => total(counts))

/** Groups of the same part in the job, such as the other tensor-parallel ones: as large, and without a common rank. */
function alike(comm: RasComm, comms: readonly RasComm[]): readonly RasComm[] {
  const mine = new Set(comm.ranks.map(({ place }) => place))
  return comms.filter((other) => other !== comm && other.size === comm.size && !other.ranks.some(({ place }) => mine.has(place)))
}

/** How many a rank of this group has launched where nothing is wrong: by most of its members, else by the other groups of its part. */
function normal(comm: RasComm, comms: readonly RasComm[]): number | undefined {
  const mine = totals(comm)
  const votes = new Map<number, number>()
  for (const value of mine) votes.set(value, (votes.get(value) ?? 0) + 1)
  for (const [value, count] of votes) if (mine.length > 2 && count * 2 > mine.length) return value
  const others = alike(comm, comms)
  // Nothing to compare with: whoever has launched less is more often the one that is missing.
  if (others.length === 0) return mine.length === 2 ? Math.max(...mine) : undefined
  const elsewhere = others.flatMap(totals)
  const [best, next] = [...votes.keys()]
    .map((value) => ({ value, count: elsewhere.filter((other) => other === value).length }))
    .toSorted((a, b) => b.count - a.count)
  return best !== undefined && best.count > (next?.count ?? 0) ? best.value : undefined
}

export type Launches = {
  /** Places of the ranks behind in a group and ahead in none; empty where counts are equal. */
  readonly behind: readonly string[]
  readonly ahead: readonly string[]
  /** As many operations as the others, but of other kinds. */
  readonly differing: readonly string[]
}

export function launchesOf(comms: readonly RasComm[]): Launches {
  const [behind, ahead, differing] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const comm of comms) {
    const mine = totals(comm)
    if (new Set(mine).size > 1) {
      const usual = normal(comm, comms)
      for (const { place, counts } of comm.ranks) {
        if (usual === undefined || total(counts) === usual) continue
        if (total(counts) < usual) behind.add(place)
        else ahead.add(place)
      }
      continue
    }
    const few = minority(
      sidesBy(
        mine.map((_, i) => i),
        (i) => JSON.stringify(comm.ranks[i]?.counts),
      ),
    )
    for (const i of few ?? []) differing.add(comm.ranks[i]?.place ?? '')
  }
  return {
    behind: [...behind].filter((place) => !ahead.has(place)),
    ahead: [...ahead].filter((place) => !behind.has(place)),
    differing: [...differing],
  }
}
