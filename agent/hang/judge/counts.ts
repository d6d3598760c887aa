// What two RAS answers say: whether anything was launched between them, and who has launched less, or something else, than the rest.
import type { RasComm } from '../model.ts'
import type { Job } from './job.ts'
import { launchesOf, total } from './launches.ts'

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
    if (place.startsWith('#')) return Number(place.slice(1))
    const at = place.lastIndexOf(':')
    const ranks = byPid.get(place.slice(at + 1)) ?? []
    if (ranks.length <= 1) return ranks[0]
    return ranks.find((rank) => job.of(rank)?.host === hostOf.get(place.slice(0, at)))
  }
}

export type Counts = {
  /** Nothing was launched by anybody between two answers so many seconds apart; 0 where something was; undefined where it cannot be known. */
  readonly frozenSeconds: number | undefined
  /** Two answers without a time have the same counts. */
  readonly unchanged: boolean
  readonly moved: boolean
  readonly dead: readonly number[]
  /** Ranks behind in a communicator and ahead in none; empty where counts are equal. */
  readonly behind: readonly number[]
  /** Ranks ahead in a communicator and behind in none. */
  readonly ahead: readonly number[]
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
  const launches = launchesOf(last.comms)
  const ranksAt = (places: readonly string[]): number[] => [...new Set(places.flatMap((place) => find(place) ?? []))].toSorted((a, b) => a - b)
  return {
    frozenSeconds: polls.length > 1 && counted && apart > 0 ? (same ? apart : 0) : undefined,
    unchanged: polls.length > 1 && counted && same && first.at === undefined,
    // A report as text has counts only where they differ.
    moved: polls.length > 1 && !same && (first.at !== undefined || first.comms.some(({ ranks }) => ranks.length > 0)),
    dead: ranksAt(last.comms.flatMap(({ dead }) => dead.map(({ place }) => place))),
    behind: ranksAt(launches.behind),
    ahead: ranksAt(launches.ahead),
    differing: ranksAt(launches.differing),
  }
}
