// A job goes on running while its step does not move for much longer than it ever did.
import type { TypedFinding } from '../../model/finding.ts'
import { roughSpan } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createLoops } from './parts/loops.ts'
import { containerOfJob, JOB_METRICS, jobRowsOf, logsAreRead } from './parts/job-rows.ts'
import { createFindingDeduper, type FindingDeduper } from './parts/per-gpu.ts'

type State = { step: number; at: number; longest: number; gaps: number; deduper: FindingDeduper | undefined }

const MAX_JOBS = 512
/** Gaps before it is known what is usual. */
const LEAST = 3

export const progressStalled = defineDetector({
  id: 'progress-stalled',
  kinds: ['progress_stalled'],
  title: 'A job runs and makes no progress',
  severity: 'warning',
  watches: JOB_METRICS,
  everyMs: 10_000,
  options: {
    minutes: { default: 10, min: 1, max: 1_440, help: 'For how long the step must not change at least.' },
    gaps: { default: 3, min: 1.5, max: 100, help: 'And for how many times the longest pause that the job has made so far (evaluation, checkpoint).' },
  },
  expression: { none: 'how long a job may be silent follows from the pauses that it has made before; the metrics do not have them' },
  create({ minutes, gaps }, { present, tracks }) {
    const states = new Map<string, State>()
    const loops = createLoops()
    /** A log file stays when its job has ended: then nothing of the job holds a GPU. */
    const runs = (container: string | undefined, since: number): boolean =>
      container === undefined
        ? [...tracks.all()].some(({ endedT, firstT }) => endedT === undefined && firstT <= since)
        : [...present.inventory.containers()].some(({ name, pid }) => name === container && pid !== undefined) ||
          [...tracks.all()].some((track) => track.container === container && track.endedT === undefined)
    return {
      ingest: loops.ingest,
      judge(t) {
        const found: TypedFinding[] = [...loops.judge(t)]
        const rows = jobRowsOf(present)
        for (const { job, step, progressedAt, ratio } of rows.values()) {
          let state = states.get(job)
          if (state === undefined) {
            if (states.size >= MAX_JOBS) for (const oldest of states.keys()) if (states.delete(oldest)) break
            states.set(job, (state = { step, at: progressedAt, longest: 0, gaps: 0, deduper: undefined }))
          }
          if (step !== state.step) {
            state.longest = Math.max(state.longest, progressedAt - state.at)
            state.gaps += 1
            state.step = step
            state.at = progressedAt
          }
          if (loops.has(job)) continue
          const container = containerOfJob(present, tracks, job)
          const about = { named: job, ...(container === undefined ? {} : { container }) }
          state.deduper ??= createFindingDeduper({ kind: 'progress_stalled', key: job, about })
          const silent = t - progressedAt
          const limit = Math.max(minutes * 60_000, gaps * state.longest)
          if (silent < limit) {
            state.deduper.healthy(found, `its step is ${step} now`)
            continue
          }
          if ((ratio ?? 0) >= 1) {
            state.deduper.healthy(found, 'it has done all its steps')
            continue
          }
          if (state.gaps < LEAST || !runs(container, progressedAt)) continue
          state.deduper.faulty(found, {
            kind: 'progress_stalled',
            key: job,
            about,
            state: 'faulty',
            severity: 'warning',
            title: `${job} has been at step ${step} for ${roughSpan(silent)}`,
            verdict: `${job} is still running but has not gone beyond step ${step} for ${roughSpan(silent)}. Its longest pause before was ${roughSpan(state.longest)}.`,
            facts: {
              job,
              stalled_at_step: step,
              idle_seconds: Math.round(silent / 1_000),
              usual_gap_seconds: Math.round(state.longest / 1_000),
              since_ms: Math.round(progressedAt),
            },
            remedies: [{ text: 'See where its processes are stuck before ending them.', command: 'py-spy dump --pid PID' }],
          })
        }
        for (const [job, { deduper }] of states) {
          if (rows.has(job) || !logsAreRead(present, t)) continue
          deduper?.healthy(found, 'its log has ended')
          states.delete(job)
        }
        return found
      },
    }
  },
})
