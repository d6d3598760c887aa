// A training job over four GPUs makes no progress: one rank waits for data, the others wait for it in collectives of two groups.
import type { HangRank } from '../../../model/facts.ts'
import { everyCycle, type Scenario } from '../scenario.ts'
import type { Process } from '../world.ts'

const STOPS_AT = 60
/** The agent waits for some times the usual pause before it looks. */
const FOUND_AT = 100
/** Looked at again, so that the incident stays. */
const LOOK_EVERY = 60
const ENDS_AT = 1_500
const CULPRIT = 3
/** How long after the first wait theirs began, by rank, ms. */
const BEGAN_AFTER = [500, 300, 0] as const
const SYNC = '/app/parallel.py:131 sync'

/** What waits where, as a look at ranks with tensor and data parallelism says it: rank 0 waits for 1, 1 and 2 wait for 3. test/unit/simulated compares it with the judge. */
const STANDS: readonly Pick<HangRank, 'rank' | 'waits_for' | 'calls'>[] = [
  { rank: 0, waits_for: 'all_reduce 1205 of mesh_tp', calls: { 'all_reduce 1205 of mesh_tp (1)': 'waits' } },
  {
    rank: 1,
    waits_for: 'reduce_scatter 610 of mesh_dp',
    calls: { 'reduce_scatter 610 of mesh_dp (4)': 'waits', 'all_reduce 1205 of mesh_tp (1)': 'not joined' },
  },
  { rank: 2, waits_for: 'all_reduce 1204 of mesh_tp', calls: { 'all_reduce 1204 of mesh_tp (2)': 'waits' } },
  { rank: CULPRIT, waits_for: 'data', calls: { 'all_reduce 1204 of mesh_tp (2)': 'not joined', 'reduce_scatter 610 of mesh_dp (4)': 'not joined' } },
]

function rowOf(process: Process, since: number): HangRank {
  const rank = process.card.index
  const culprit = rank === CULPRIT
  return {
    rank,
    ...(culprit ? { culprit } : { since_ms: since + (BEGAN_AFTER[rank] ?? 0) }),
    gpu: String(rank),
    container: process.owner?.identity.name,
    pid: process.pid,
    stands_at: culprit ? '/app/data.py:57 next_batch' : SYNC,
    ...STANDS.find((row) => row.rank === rank),
  }
}

export const jobHang: Scenario = {
  name: 'job-hang',
  shows: `at ${STOPS_AT} s pretrain-trainer-1 stops: rank ${CULPRIT} waits for data, three GPUs spin in collectives; the incident names the rank at ${FOUND_AT} s; the job is restarted at 25 min; again every 30 min`,
  begin: (stage) => {
    const ranks = stage.processesOf('pretrain-trainer-1')
    let since = 0
    const found = (state: 'hangs' | 'over', text: string): void =>
      stage.hang({
        job: 'pretrain-trainer-1',
        container: 'pretrain-trainer-1',
        state,
        since,
        text,
        cause: 'missing',
        confidence: 'likely',
        culprits: [CULPRIT],
        waits_in: 'all_reduce 1204 of group mesh_tp',
        stands_at: [`rank ${CULPRIT}: /app/data.py:57 next_batch`],
        call_sites: [],
        ranks: ranks.map((process) => rowOf(process, since)).toSorted((a, b) => Number(b.culprit === true) - Number(a.culprit === true) || a.rank - b.rank),
        remedies: [
          'Look at the data loader of that rank: a worker that died or reads from slow storage. DataLoader(timeout=120) turns the wait into an error that names the worker.',
          'Check the storage that the workers read (NFS, object store): mount with a time-out, or copy the shards to a local disk.',
        ],
        evidence: ['ranks 0, 1, 2 and 3 are at the same place in every look', `rank ${CULPRIT} has not joined the collective that the others wait in`],
      })
    return everyCycle(1_800, (second) => {
      if (second === STOPS_AT) {
        since = stage.now()
        for (const process of ranks) process.stands = process.card.index === CULPRIT ? 'waits' : 'spins'
      }
      if (since === 0) return
      if (second >= FOUND_AT && second < ENDS_AT && (second - FOUND_AT) % LOOK_EVERY === 0)
        found(
          'hangs',
          `Hang since ${new Date(since).toISOString().slice(11, 19)} UTC: Rank ${CULPRIT} (GPU ${CULPRIT}) waits for data, at /app/data.py:57 in next_batch; the others wait for it in all_reduce 1204 of group mesh_tp (2).`,
        )
      if (second !== ENDS_AT) return
      found('over', 'it has ended')
      const box = stage.box('pretrain-trainer-1')
      // As `docker restart` does it.
      if (box !== undefined) stage.die(box, 143)
      since = 0
    })
  },
}
