// Jobs that a look at their processes found in a loop without end, before their first step: as findings until they go on.
import { LOOP_CAUSE, type Event, type HangEvent } from '../../../model/event.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { roughSpan } from '../../../text/span.ts'

export type Loops = {
  readonly ingest: (event: Event) => void
  /** What there is to say at this time. */
  readonly judge: (t: number) => readonly TypedFinding[]
  readonly has: (job: string) => boolean
}

const MOST_JOBS = 512
/** Looks come every two minutes; without one nobody knows any more. */
const SILENT_MS = 15 * 60_000

const about = ({ job, container }: HangEvent): { kind: 'progress_stalled'; key: string; about: { named: string; container?: string } } => ({
  kind: 'progress_stalled',
  key: job,
  about: { named: job, ...(container === undefined ? {} : { container }) },
})

function finding(event: HangEvent, t: number): TypedFinding {
  const { job, since, text, confidence, stands_at: stands, ranks, remedies } = event
  const gpus = [...new Set(ranks.flatMap(({ gpu }) => gpu ?? []))]
  const [at = ''] = stands
  return {
    ...about(event),
    state: 'faulty',
    severity: 'warning',
    title: `${job} has made no step for ${roughSpan(t - since)}: it computes at ${at.replace(/^rank \d+: /, '')}`.slice(0, 300),
    verdict: `${text} It may be a loop that does not end; long work that prints nothing and takes no memory looks the same.`,
    facts: { job, idle_seconds: Math.round((t - since) / 1_000), since_ms: since, confidence, stands_at: stands, ...(gpus.length === 0 ? {} : { gpus }) },
    remedies: remedies.map((remedy) => ({ text: remedy })),
  }
}

export function createLoops(): Loops {
  const loops = new Map<string, HangEvent>()
  const over = new Map<string, HangEvent>()
  return {
    ingest(event) {
      if (event.type !== 'hang') return
      if (event.state === 'hangs' && event.cause === LOOP_CAUSE) {
        if (loops.has(event.job) || loops.size < MOST_JOBS) loops.set(event.job, event)
      } else if (loops.delete(event.job)) over.set(event.job, event)
    },
    judge(t) {
      const found: TypedFinding[] = []
      for (const event of over.values()) found.push({ ...about(event), state: 'healthy', why: event.text })
      over.clear()
      for (const [job, event] of loops) {
        if (t - event.t <= SILENT_MS) found.push(finding(event, t))
        else {
          found.push({ ...about(event), state: 'unknown', why: 'its processes have not been looked at for long' })
          loops.delete(job)
        }
      }
      return found
    },
    has: (job) => loops.has(job),
  }
}
