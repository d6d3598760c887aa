// How far each rank has come in the collectives in which ranks wait: the table of ranks by collective. Pure.
import type { Evidence, Op } from '../model.ts'
import { jobOf, type Job } from './job.ts'
import { agree, opText } from './signature.ts'

/** The first that were waited in: what the others wait in follows from them. */
const MOST_COLLECTIVES = 6

/** One for each place in a group at which a rank waits, the first on the left. */
function collectivesOf(job: Job): readonly Op[] {
  const places = new Map<string, Op>()
  const heads = job.ranks.flatMap((rank) => (job.dead(rank) ? [] : (job.head(rank) ?? [])))
  for (const head of heads.toSorted((a, b) => (a.issued ?? Number.POSITIVE_INFINITY) - (b.issued ?? Number.POSITIVE_INFINITY))) {
    const place = `${head.group}#${head.seq}`
    if (!head.p2p && head.uncounted !== true && !places.has(place)) places.set(place, head)
  }
  return [...places.values()].slice(0, MOST_COLLECTIVES)
}

function nameOf(job: Job, { group: key, name, seq }: Op): string {
  const group = job.group(key)
  const called = group === undefined || group.desc === '' ? (group?.name ?? key) : group.desc === 'default_pg' ? group.desc : `${group.desc} (${group.name})`
  return `${name} ${seq} of ${called}`
}

/** Undefined for a rank that is not in the group, and where nothing says it. */
function stateOf(job: Job, rank: number, collective: Op): string | undefined {
  if (!job.members(collective.group).includes(rank)) return undefined
  const theirs = job.at(rank, collective.group, collective.seq)
  if (theirs !== undefined) {
    if (!agree(theirs, collective)) return `in ${opText(theirs)}`
    return theirs.state === 'done' ? 'done' : job.head(rank) === theirs ? 'waits' : 'issued'
  }
  const issued = job.issued(rank, collective.group)
  if (issued !== undefined && issued >= collective.seq) return 'issued'
  return job.dead(rank) ? 'ended before' : issued === undefined ? undefined : 'not joined'
}

/** By rank, what it has done in each of these collectives; empty where no dump and no line of a watchdog says in what the ranks wait. */
export function callsByRank(evidence: Evidence): ReadonlyMap<number, Readonly<Record<string, string>>> {
  const job = jobOf(evidence)
  const collectives = collectivesOf(job).map((op) => ({ op, name: nameOf(job, op) }))
  return new Map(
    job.ranks.flatMap((rank): [number, Readonly<Record<string, string>>][] => {
      const calls = collectives.flatMap(({ op, name }): [string, string][] => {
        const state = stateOf(job, rank, op)
        return state === undefined ? [] : [[name, state]]
      })
      return calls.length === 0 ? [] : [[rank, Object.fromEntries(calls)]]
    }),
  )
}
