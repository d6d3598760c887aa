// What two RAS answers say: whether anything was launched between them, and who has launched less, or something else, than the rest.
import type { RasComm } from '../model.ts'
import type { Job } from './job.ts'
import { minority, sidesBy } from './signature.ts'

const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** RAS names processes; ranks of the job are found by their pid and, where that is not unique, by their order on the hosts. */
function rankFinder(job: Job): (place: string) => number | undefined {
  const byPid = new Map<string, number[]>()
  for (const me of job.evidence.ranks.values()) if (me.pid !== undefined) byPid.set(String(me.pid), [...(byPid.get(String(me.pid)) ?? []), me.rank])
  const addresses = [
    ...new Set(
      job.evidence.polls.flatMap(({ comms }) =>
        comms.flatMap(({ ranks, dead }) => [...ranks, ...dead].map(({ place }) => place.slice(0, place.lastIndexOf(':')))),
      ),
    ),
  ]
  const hosts = [...new Set([...job.evidence.ranks.values()].flatMap(({ host }) => host ?? []))]
  // An address belongs to the host all of whose pids it names.
  const hostOf = new Map<string, string>()
  for (const address of addresses) {
    const pids = new Set(
      job.evidence.polls
        .flatMap(({ comms }) => comms.flatMap(({ ranks, dead }) => [...ranks, ...dead].map(({ place }) => place)))
        .filter((place) => place.startsWith(`${address}:`))
        .map((place) => place.slice(address.length + 1)),
    )
    const fitting = hosts.filter((host) => [...pids].every((pid) => (byPid.get(pid) ?? []).some((rank) => job.of(rank)?.host === host)))
    if (fitting.length === 1 && fitting[0] !== undefined) hostOf.set(address, fitting[0])
  }
  return (place) => {
    const at = place.lastIndexOf(':')
    const ranks = byPid.get(place.slice(at + 1)) ?? []
    if (ranks.length <= 1) return ranks[0]
    return ranks.find((rank) => job.of(rank)?.host === hostOf.get(place.slice(0, at)))
  }
}

export type Counts = {
  /** Nothing was launched by anybody between two answers so many seconds apart; 0 where something was; undefined where it cannot be told. */
  readonly frozenSeconds: number | undefined
  readonly moved: boolean
  readonly dead: readonly number[]
  /** Ranks behind in a communicator and ahead in none; empty where counts are equal. */
  readonly behind: readonly number[]
  /** Ranks with as many operations as the others, but of other kinds. */
  readonly differing: readonly number[]
}

const sumOf = (comms: readonly RasComm[]): string => JSON.stringify(comms.map(({ id, ranks }) => [id, ranks.map(({ rank, counts }) => [rank, counts])]))

export function countsOf(job: Job): Counts | undefined {
  const polls = job.evidence.polls.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
  const [first, last] = [polls[0], polls.at(-1)]
  if (last === undefined || first === undefined) return undefined
  const find = rankFinder(job)
  const counted = last.comms.some(({ ranks }) => ranks.some(({ counts }) => total(counts) > 0))
  const same = sumOf(first.comms) === sumOf(last.comms)
  const apart = first.at === undefined || last.at === undefined ? 0 : last.at - first.at
  const [behind, ahead, differing] = [new Set<number>(), new Set<number>(), new Set<number>()]
  for (const { ranks } of last.comms) {
    const totals = ranks.map(({ counts }) => total(counts))
    const most = Math.max(...totals)
    const least = Math.min(...totals)
    if (most > least)
      for (const { place, counts } of ranks) {
        const rank = find(place)
        if (rank !== undefined) (total(counts) < most ? behind : ahead).add(rank)
      }
    else {
      const few = minority(
        sidesBy(
          ranks.map((_, i) => i),
          (i) => JSON.stringify(ranks[i]?.counts),
        ),
      )
      for (const i of few ?? []) {
        const rank = find(ranks[i]?.place ?? '')
        if (rank !== undefined) differing.add(rank)
      }
    }
  }
  const sorted = (ranks: Iterable<number>): number[] => [...ranks].toSorted((a, b) => a - b)
  return {
    frozenSeconds: polls.length > 1 && counted && apart > 0 ? (same ? apart : 0) : undefined,
    moved: polls.length > 1 && !same,
    dead: sorted(new Set(last.comms.flatMap(({ dead }) => dead.flatMap(({ place }) => find(place) ?? [])))),
    behind: sorted([...behind].filter((rank) => !ahead.has(rank))),
    differing: sorted(differing),
  }
}
