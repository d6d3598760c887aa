// A job hangs: what a look at its processes found, after its progress had stopped, as an incident until it goes on or ends.
import { gpuSpinning } from '../../metrics/gpu-spinning.ts'
import { LOOP_CAUSE, type HangEvent } from '../../model/event.ts'
import type { TypedFinding } from '../../model/finding.ts'
import type { Confidence } from '../../model/confidence.ts'
import { utcText } from '../../text/time.ts'
import { defineDetector } from './definition.ts'

/** Looks come at least every two minutes; without one nobody knows any more. */
const SILENT_MS = 15 * 60_000
const MOST_JOBS = 512

/** What it rests on. How sure that is, is beside the verdict as the incident's confidence. */
const BASIS: Readonly<Record<Confidence, string>> = {
  read: 'A library or a dump says so.',
  computed: 'It follows from what each rank does.',
  likely: 'Judged by what its processes look like.',
}

export const jobHang = defineDetector({
  id: 'job-hang',
  kinds: ['job_hang'],
  title: 'A job hangs, and who holds it up',
  severity: 'critical',
  watches: [],
  everyMs: 1_000,
  options: {},
  expression: { none: `who holds a job up is found by looking at its processes; ${gpuSpinning.name} shows the GPUs that wait for them` },
  create() {
    const hangs = new Map<string, HangEvent>()
    const over = new Map<string, HangEvent>()
    return {
      ingest(event) {
        if (event.type !== 'hang') return
        if (event.cause === LOOP_CAUSE) {
          // One that only computes is an incident of progress-stalled.
          if (hangs.delete(event.job) && over.size < MOST_JOBS) over.set(event.job, event)
        } else if (event.state === 'over') {
          hangs.delete(event.job)
          if (over.size < MOST_JOBS) over.set(event.job, event)
        } else if (hangs.has(event.job) || hangs.size < MOST_JOBS) hangs.set(event.job, event)
      },
      judge(t) {
        const found: TypedFinding[] = []
        for (const event of over.values()) found.push({ ...about(event), state: 'healthy', why: event.text })
        over.clear()
        for (const [job, event] of hangs) {
          if (t - event.t > SILENT_MS) {
            found.push({ ...about(event), state: 'unknown', why: 'its processes have not been looked at for long' })
            hangs.delete(job)
          } else found.push(finding(event))
        }
        return found
      },
    }
  },
})

const about = ({
  job,
  container,
}: HangEvent): { readonly kind: 'job_hang'; readonly key: string; readonly about: { readonly named: string; readonly container?: string } } => ({
  kind: 'job_hang',
  key: job,
  about: { named: job, ...(container === undefined ? {} : { container }) },
})

/** `Hang since 14:02:11 UTC: rank 3 waits …` without what the title says too. */
const who = (text: string): string => {
  const rest = text.replace(/^Hang(?: since [\d:]+ UTC)?: /, '')
  return `${rest[0]?.toUpperCase() ?? ''}${rest.slice(1)}`
}

/** Who and what, without where and what follows, which the verdict says. */
function brief(sentence: string): string {
  const short = sentence.replace(/\.$/, '').replace(/(?:,| and now stands?)? at \S+:\d+\b.*$|; .*$/s, '')
  return /^(?:Ranks?|Process) /.test(short) ? `${short[0]?.toLowerCase() ?? ''}${short.slice(1)}` : short
}

function finding(event: HangEvent): TypedFinding {
  const { job, since, text, cause, confidence, culprits, waits_in: waitsIn, stands_at: stands, call_sites: sites, ranks, remedies } = event
  const gpus = [...new Set(ranks.flatMap(({ gpu, elsewhere }) => (elsewhere === true ? [] : (gpu ?? []))))]
  return {
    ...about(event),
    state: 'faulty',
    // A long call of the job's own looks the same from outside: nobody is woken for what only seems so.
    severity: confidence === 'likely' ? 'warning' : 'critical',
    title: `${job} hangs: ${brief(who(text))}`.slice(0, 300),
    verdict: `${who(text)} No progress since ${utcText(since)}. ${BASIS[confidence]}`,
    facts: {
      job,
      hang_cause: cause,
      confidence,
      since_ms: since,
      ...(culprits.length === 0 ? {} : { culprit_ranks: culprits.map(String) }),
      ...(waitsIn === undefined ? {} : { waits_in: waitsIn }),
      ...(stands.length === 0 ? {} : { stands_at: stands }),
      ...(sites.length === 0 ? {} : { call_sites: sites }),
      ...(gpus.length === 0 ? {} : { gpus }),
      ranks,
    },
    remedies: remedies.map((remedy) => ({ text: remedy })),
  }
}
