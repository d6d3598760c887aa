// The rows of the jobs' table: those that run and those that held a card within the range, filtered and sorted. Pure.
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import { jobHit, jobOf, KIND_WORDS, type JobName } from '../../../parts/job/identity.ts'
import { busyRatio, type Job } from '../running.ts'
import type { Past } from '../past.ts'
import type { SlurmJob, SlurmJobs } from '../slurm.ts'
import type { Span } from '../timeline/spans.ts'
import { GPU_UNREADABLE } from '../../../parts/incident/kind-sets.ts'
import { sortRows, type SortKey, type SortState } from '../../../parts/table/sort.ts'

export type JobRow = {
  readonly job: Job
  /** When it was last seen on a card, Unix ms; undefined while it runs. */
  readonly endedAt: number | undefined
  /** Its first GPU now, else the one that it held last: a job that restarts keeps its place. */
  readonly gpu: number | undefined
  /** Gone for so short a time that it may only restart. */
  readonly away: boolean
  /** The most GPU memory within the range. */
  readonly peak: number | undefined
  /** GPU seconds, within the range. */
  readonly idle: number | undefined
  readonly lost: number
  /** What Slurm knows of it, for whoever looks for its name, user, account or partition. */
  readonly slurm: SlurmJob | undefined
  readonly incidents: readonly IncidentSummary[]
  readonly firing: readonly IncidentSummary[]
}

/** Engines wait up to a minute before they start a container again that ends at once. */
const RESTARTS_WITHIN_MS = 120_000

/** What is known of a job that no frame tells any more. */
const ended = (name: JobName): Job => ({
  ...name,
  containers: [],
  processes: [],
  holdings: [],
  gpuBytes: undefined,
  unread: [],
  unused: [],
  silent: [],
  busy: [],
  cores: undefined,
  memoryBytes: undefined,
  limitBytes: undefined,
  oomKills: undefined,
  restarts: undefined,
})

/** The job that an incident hit: its container or Slurm job, else the one that its process belongs to. */
export function jobKeyOf(incident: Pick<IncidentSummary, 'subject' | 'facts'>, jobByPid: ReadonlyMap<number, string>): string | undefined {
  const own = jobHit(incident)
  if (own !== undefined) return own.key
  const { process } = incident.subject
  return process === undefined ? undefined : (jobByPid.get(process.pid) ?? `pid:${process.pid}`)
}

/** All whom it hit: its own job, and the containers of what followed from it, as of a card that several jobs shared. */
function hitBy(incident: IncidentSummary, jobByPid: ReadonlyMap<number, string>): ReadonlySet<string> {
  const own = jobKeyOf(incident, jobByPid)
  const others = incident.consequences.flatMap(({ container }) => (container === undefined ? [] : jobOf({ container }).key))
  return new Set([...(own === undefined ? [] : [own]), ...others])
}

/**
 * Whoever holds memory of a GPU that is sick, or held it meanwhile as one that does not answer names no process: the incident names no job, and stops or slows down each.
 * One step of history before it counts, as a lost GPU has no reading from its first second on.
 */
function onItsGpu(incident: IncidentSummary, jobs: readonly Job[], spans: readonly Span[]): readonly string[] {
  const { status, consequences, subject, kind, started_at: began, resolved_at: ended } = incident
  const { gpu, process } = subject
  if (gpu?.uuid === undefined || process !== undefined || jobHit(incident) !== undefined || consequences.length > 0) return []
  const now = status === 'firing' ? jobs.filter(({ holdings }) => holdings.some(({ index, bytes }) => index === gpu.index && bytes !== 0)) : []
  const meanwhile = GPU_UNREADABLE.has(kind)
    ? spans.filter(
        ({ uuid, from, to, steps: [first] }) =>
          uuid === gpu.uuid && from <= (ended ?? Infinity) && to + (first === undefined ? 0 : first.to - first.from) >= began,
      )
    : []
  return [...new Set([...now.map(({ key }) => key), ...meanwhile.map(({ job }) => job.key)])]
}

export function rowsOf(
  jobs: readonly Job[],
  past: Pick<Past, 'from' | 'spans' | 'peaks' | 'idle'> | undefined,
  incidents: Iterable<IncidentSummary>,
  slurm: SlurmJobs = new Map(),
): readonly JobRow[] {
  const { from = 0, spans = [], peaks = new Map<string, number>(), idle = new Map<string, number>() } = past ?? {}
  const running = new Set(jobs.map(({ key }) => key))
  const gone = new Map<string, { readonly name: JobName; readonly to: number }>()
  for (const { job, to } of spans) if (!running.has(job.key)) gone.set(job.key, { name: job, to: Math.max(to, gone.get(job.key)?.to ?? 0) })
  const newest = Math.max(0, ...spans.map(({ to }) => to))
  const lastOn = new Map(spans.toSorted((a, b) => a.to - b.to || b.gpu - a.gpu).map(({ job, gpu }) => [job.key, gpu]))
  const jobByPid = new Map(jobs.flatMap(({ key, processes }) => processes.map(({ pid }) => [pid, key] as const)))
  const byJob = new Map<string, IncidentSummary[]>()
  for (const incident of incidents) {
    if (incident.status !== 'firing' && incident.last_seen_at < from) continue
    for (const key of [...hitBy(incident, jobByPid), ...onItsGpu(incident, jobs, spans)]) byJob.set(key, [...(byJob.get(key) ?? []), incident])
  }
  const row = (job: Job, endedAt: number | undefined): JobRow => {
    const hit = (byJob.get(job.key) ?? []).toSorted((a, b) => b.started_at - a.started_at)
    // Jobs that share a card have lost its time once: it is told of the one that the incident is about.
    const own = hit.filter((incident) => incident.started_at >= from && jobKeyOf(incident, jobByPid) === job.key)
    // History may be some seconds behind what the job holds now.
    const highest = Math.max(peaks.get(job.key) ?? 0, job.gpuBytes ?? 0)
    return {
      job,
      endedAt,
      gpu: job.holdings[0]?.index ?? lastOn.get(job.key),
      away: endedAt !== undefined && newest - endedAt < RESTARTS_WITHIN_MS,
      peak: highest > 0 ? highest : job.gpuBytes,
      idle: idle.get(job.key),
      lost: own.reduce((sum, { facts }) => sum + (facts.gpu_seconds_lost ?? 0), 0),
      slurm: job.kind === 'slurm' ? slurm.get(job.name) : undefined,
      incidents: hit,
      firing: hit.filter(({ status }) => status === 'firing'),
    }
  }
  return [...jobs.map((job) => row(job, undefined)), ...[...gone.values()].map(({ name, to }) => row(ended(name), to))]
}

/** GPU seconds for nothing: undefined where neither is known. */
export const wasted = ({ idle, lost }: Pick<JobRow, 'idle' | 'lost'>): number | undefined => (idle === undefined && lost === 0 ? undefined : (idle ?? 0) + lost)

function wordsOf({ job, slurm = {} }: JobRow): string {
  const rows = job.containers.map(({ row }) => row)
  const gpus = [...new Set([...job.holdings.map(({ index }) => index), ...job.containers.flatMap(({ requested }) => requested)])]
  return [
    job.key,
    job.name,
    KIND_WORDS[job.kind],
    ...Object.values(slurm),
    ...rows.flatMap(({ container, container_id: id, image, compose_project: project, compose_service: service }) => [container, id, image, project, service]),
    ...job.processes.flatMap(({ pid, process }) => [String(pid), process]),
    ...gpus.map((index) => `gpu ${index}`),
  ]
    .join('\n')
    .toLowerCase()
}

/** All words must be there; `gpu 6` is one. */
export function fits(row: JobRow, text: string): boolean {
  const words = text.toLowerCase().match(/gpu \d+|\S+/g) ?? []
  if (words.length === 0) return true
  const own = `${wordsOf(row)}\n`
  return words.every((word) => own.includes(/^gpu \d+$/.test(word) ? `${word}\n` : word))
}

export const KEYS: Readonly<Record<string, (row: JobRow) => SortKey>> = {
  job: ({ job, slurm }) => slurm?.name ?? job.name,
  gpus: ({ gpu }) => gpu,
  memory: ({ job }) => job.gpuBytes,
  peak: ({ peak }) => peak,
  busy: ({ job }) => busyRatio(job),
  cores: ({ job }) => job.cores,
  host: ({ job }) => job.memoryBytes,
  oom: ({ job }) => job.oomKills,
  restarts: ({ job }) => job.restarts,
  incidents: ({ firing, incidents }) => firing.length + incidents.length / 1000,
  wasted,
}

export const DEFAULT_SORT: SortState = { column: 'gpus', descending: false }
/** `-peak` is the highest first. */
export function parseSort(text: string | undefined): SortState {
  const column = text?.replace(/^-/, '') ?? ''
  return !Object.hasOwn(KEYS, column) ? DEFAULT_SORT : { column, descending: text?.startsWith('-') === true }
}
export const sortText = ({ column, descending }: SortState): string | undefined =>
  column === DEFAULT_SORT.column && descending === DEFAULT_SORT.descending ? undefined : `${descending ? '-' : ''}${column}`

/** Jobs that run, or may only restart, before those that are over, whatever the order. */
export function arranged(rows: readonly JobRow[], text: string, { column, descending }: SortState): readonly JobRow[] {
  const key = KEYS[column] ?? (() => undefined)
  const found = sortRows(
    rows.filter((row) => fits(row, text)),
    key,
    descending,
    ({ job }) => job.key,
  )
  return [...found.filter(({ endedAt, away }) => endedAt === undefined || away), ...found.filter(({ endedAt, away }) => endedAt !== undefined && !away)]
}
