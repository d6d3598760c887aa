// Runs that have ended as text: what became of each and why, how long it ran, what it used and lost, and where its report is.
import { energyText, outcomeText } from '../../agent/text/job.ts'
import { severityOfRun, type Outcome, type Run } from '../../agent/model/job.ts'
import type { RunMessage } from '../../agent/model/notification.ts'
import { memoryText } from '../../agent/text/bytes.ts'
import { counted, firstOf, indexRanges, plural } from '../../agent/text/grammar.ts'
import { gpuTimeText, twoUnitSpan } from '../../agent/text/span.ts'
import { utcText } from '../../agent/text/time.ts'
import { cut } from './outgoing.ts'
import { clip, oneLine } from './clean.ts'
import { fitted } from './escape.ts'
import { HTML, MARKDOWN, PLAIN, type Markup } from './render.ts'

/** A name and its text, such as `Why` and one sentence. */
export type RunLine = readonly [label: string, text: string]

const MAX_TEXT = 400
const MAX_LIST = 24
/** As it leaves the host: no text of it is long. */
export const outgoingRun = (run: Run): Run => cut(run, MAX_TEXT, MAX_LIST)

const DID: Readonly<Record<Outcome, string>> = {
  completed: 'completed',
  failed: 'failed',
  killed: 'was killed',
  cancelled: 'was cancelled',
  out_of_memory: 'ran out of memory',
  time_limit: 'reached its time limit',
  preempted: 'was preempted',
  lost_gpu: 'lost its GPU',
  unknown: 'ended, how is not known',
}
const name = ({ job }: Run): string => clip(oneLine(job), 80)
const lasted = ({ started_at: from, ended_at: to, seen_at: seen }: Run): string => twoUnitSpan((to ?? seen) - from)

/** `train-llm ran out of memory after 2 h 5 min`. */
export function runHeadline(run: Run): string {
  const { outcome = 'unknown', started_before: isPartly } = run
  return `${name(run)} ${DID[outcome]} after ${isPartly === true ? 'more than ' : ''}${lasted(run)}`
}

function gpusText({ gpus, gpu_seconds: seconds }: Run): string {
  const numbers = gpus.map(({ gpu }) => gpu)
  const which = numbers.every((number) => /^\d+$/.test(number)) ? indexRanges(numbers.map(Number)) : firstOf([...new Set(numbers)], 8)
  return `${which}: ${gpuTimeText(seconds.active)} with work, ${gpuTimeText(seconds.idle)} without`
}

export function runLines(run: Run, host: string): readonly RunLine[] {
  const { outcome = 'unknown', reason, signal, sent_by: sentBy, exit_code: exitCode, user, gpus, incidents } = run
  const { energy_joules: joules, memory_peak_bytes: memory, gpu_memory_peak_bytes: gpuMemory, gpu_seconds: seconds } = run
  const line = (label: string, text: string | undefined): readonly RunLine[] => (text === undefined || text === '' ? [] : [[label, text]])
  const peaks = [
    ...(gpuMemory === undefined ? [] : [`${memoryText(gpuMemory)} on GPUs`]),
    ...(memory === undefined ? [] : [`${memoryText(memory)} on the host`]),
  ]
  const ended = [
    outcomeText(outcome),
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(signal === undefined ? [] : [`${signal}${sentBy === undefined ? '' : ` sent by ${sentBy}`}`]),
  ]
  return [
    ...line('Why', reason === undefined ? undefined : clip(oneLine(reason), MAX_TEXT)),
    ...line('Outcome', ended.join(', ')),
    ...line('Job', `${name(run)}, run ${run.run}${user === undefined ? '' : `, of ${oneLine(user)}`}, on ${oneLine(host)}`),
    ...line('When', `${run.started_before === true ? 'before ' : ''}${utcText(run.started_at)} to ${utcText(run.ended_at ?? run.seen_at)}, ${lasted(run)}`),
    ...line(plural(gpus.length, 'GPU'), gpus.length === 0 ? undefined : gpusText(run)),
    ...line('Peak memory', peaks.join(', ')),
    ...line('Energy', joules === undefined ? undefined : energyText(joules)),
    ...line(
      'Lost',
      seconds.lost === 0
        ? undefined
        : `${gpuTimeText(seconds.lost)}, since ${run.saved_at === undefined ? 'the start, as no saved state was seen' : 'the last saved state'}`,
    ),
    ...line(
      'Incidents',
      firstOf(
        incidents.map(({ id, title }) => `${clip(oneLine(title), 120)} (${id})`),
        3,
      ),
    ),
    ...line('Report', `on ${oneLine(host)}: warpwatch jobs ${run.job_id} --markdown`),
  ]
}

export type RunMessageText = {
  readonly headline: string
  readonly isBad: boolean
  /** The first in full where it is alone; of several one line each. */
  readonly lines: readonly RunLine[]
  readonly others: readonly string[]
  readonly notes: readonly string[]
}
const MAX_OTHERS = 20

export function runMessageText({ runs, host, expired }: RunMessage): RunMessageText {
  const bad = runs.filter((run) => severityOfRun(run) !== 'info')
  const [only, ...more] = runs
  const isAlone = only !== undefined && more.length === 0
  const sorted = [...bad, ...runs.filter((run) => severityOfRun(run) === 'info')]
  const others = isAlone ? [] : sorted.map((run) => `${runHeadline(run)}${run.reason === undefined ? '' : `: ${clip(oneLine(run.reason), 160)}`}`)
  return {
    headline: isAlone ? `${runHeadline(only)} on ${oneLine(host)}` : `${oneLine(host)}: ${counted(runs.length, 'run')} ended, ${bad.length} of them badly`,
    isBad: bad.length > 0,
    lines: isAlone ? runLines(only, host) : [],
    others:
      others.length > MAX_OTHERS ? [...others.slice(0, MAX_OTHERS), `and ${others.length - MAX_OTHERS} more: on ${oneLine(host)}: warpwatch jobs`] : others,
    notes:
      expired === undefined
        ? []
        : [`${counted(expired.count, 'earlier notification')} could not be delivered here in time and ${plural(expired.count, 'was', 'were')} dropped.`],
  }
}

/** One paragraph each, what matters most first. */
export const runParagraphs = ({ lines, others, notes }: RunMessageText, { text, strong }: Markup): readonly string[] => [
  ...lines.map(([label, words]) => `${strong(`${label}:`)} ${text(words)}`),
  ...others.map((one) => `• ${text(one)}`),
  ...notes.map(text),
]

/** At most `most` characters, ending after a whole paragraph. */
function rendered(message: RunMessage, markup: Markup, most: number): string {
  const words = runMessageText(message)
  let whole = fitted(words.headline, most, markup.strong)
  for (const paragraph of runParagraphs(words, markup)) {
    if (whole.length + 1 + paragraph.length > most) break
    whole += `\n${paragraph}`
  }
  return whole
}
export const plainRuns = (message: RunMessage, most = 16_000): string => rendered(message, PLAIN, most)
export const markdownRuns = (message: RunMessage, most = 16_000): string => rendered(message, MARKDOWN, most)
export const htmlRuns = (message: RunMessage, most = 16_000): string => rendered(message, HTML, most)
