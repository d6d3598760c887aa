// What the jobs' pages know of the past: asked for when a page opens, when its range changes, and again as the time goes on.
import { computed, effect, signal } from '@preact/signals'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { ApiError, getJson, storedToken } from '../../parts/connection/api.ts'
import { parseIncidents, parseSeries } from '../../parts/connection/messages.ts'
import { incidents, takeIncidents } from '../../parts/incident/known.ts'
import { agentNow, connection, frame } from '../../parts/live/state.ts'
import { parseNewest } from './page/runs-of.ts'
import { range } from './range.tsx'
import { type Range, spanQuery } from './ranges.ts'
import { slurmJobs, type SlurmJobs } from './slurm.ts'
import { beginOf, idleOf, type Interval, peaksOf, type Span, spansOf, unseenOf } from './timeline/spans.ts'

export type Past = {
  readonly range: Range
  /** Unix ms. */
  readonly from: number
  readonly to: number
  /** Where the picture begins: later than the range where the record does. */
  readonly begin: number
  readonly spans: readonly Span[]
  readonly peaks: ReadonlyMap<string, number>
  readonly idle: ReadonlyMap<string, number>
  /** By GPU: when it was not read, so that nobody knows who held it. */
  readonly unseen: ReadonlyMap<string, readonly Interval[]>
}
export type Asked = { readonly state: 'asking' } | { readonly state: 'there'; readonly past: Past } | { readonly state: 'failed'; readonly why: string }
export const asked = signal<Asked>({ state: 'asking' })
export const past = computed(() => (asked.value.state === 'there' ? asked.value.past : undefined))

/** What history does not show yet is at most so old. */
export const refreshMs = ({ stepMs }: Range): number => Math.min(60_000, Math.max(10_000, stepMs))
const tellWhy = (error: unknown): string => (error instanceof ApiError ? error.failure.message : 'the agent does not answer')

async function load(wanted: Range, end: number): Promise<Past> {
  const query = spanQuery(wanted, end)
  const series = async (metric: string) => parseSeries(await getJson(`api/v1/series?metric=warpwatch_${metric}&${query}`, storedToken()))
  // Processes in containers are in the containers' sums; an empty label means none.
  const [held, alone, utilization, used] = await Promise.all([
    series('container_gpu_memory_bytes'),
    series('process_gpu_memory_bytes&container='),
    series('gpu_utilization_ratio'),
    series('gpu_memory_used_bytes'),
  ])
  const spans = spansOf([...held, ...alone])
  const from = end - wanted.ms
  const begin = beginOf(used, from, end)
  return { range: wanted, from, to: end, begin, spans, peaks: peaksOf(spans), idle: idleOf(spans, utilization), unseen: unseenOf(used, begin, end) }
}

const ready = computed(() => connection.value.state === 'live' && frame.value !== undefined)

/** Runs `ask` now, whenever the connection is back, when the range changes, and then regularly while a page is looked at; gives the end of it. */
export function keepAsking(ask: (wanted: Range, end: number, current: () => boolean) => Promise<void>): () => void {
  let round = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = effect(() => {
    const wanted = range.value
    const live = ready.value
    const mine = ++round
    clearTimeout(timer)
    if (!live) return
    const again = async (): Promise<void> => {
      if (document.visibilityState === 'visible') await ask(wanted, wanted.end ?? agentNow.peek(), () => mine === round)
      if (mine === round) timer = setTimeout(() => void again(), refreshMs(wanted))
    }
    void again()
  })
  return () => {
    round++
    clearTimeout(timer)
    stop()
  }
}

const listed = signal<SlurmJobs>(new Map())
/** What Slurm calls its jobs: of those that run and those of the range. */
export const slurm = computed(() => slurmJobs(frame.value?.jobs ?? [], listed.value))
const MOST_JOBS = 1_000
const askedOf = new Set<string>()
/** The names of Slurm jobs that have ended, which the stream tells no more: asked once for each. */
async function nameSlurm({ spans, from }: Past): Promise<void> {
  const unnamed = spans.flatMap(({ job: { kind, name } }) =>
    kind === 'slurm' && slurm.peek().get(name)?.name === undefined && !askedOf.has(name) ? [name] : [],
  )
  if (unnamed.length === 0) return
  for (const name of unnamed) askedOf.add(name)
  try {
    const runs = parseNewest(await getJson(`api/v1/jobs?since=${Math.floor(from)}&limit=${MOST_JOBS}`, storedToken()))
    listed.value = slurmJobs(runs, listed.peek())
  } catch (error) {
    // Their numbers stay.
    console.warn(error)
  }
}

export const watchPast = (): (() => void) =>
  keepAsking(async (wanted, end, current) => {
    try {
      const found = await load(wanted, end)
      if (!current()) return
      asked.value = { state: 'there', past: found }
      await nameSlurm(found)
    } catch (error) {
      // What was there stays: the status line says that it is old.
      if (current() && asked.peek().state !== 'there') asked.value = { state: 'failed', why: tellWhy(error) }
    }
  })

const before = signal<ReadonlyMap<string, IncidentSummary>>(new Map())
/** As many as matter to a table; the agent gives 1,000 at most. */
const MOST = 300
/** Those of the range, and all that the stream has told. */
export const known = computed(() => takeIncidents(before.value, [...incidents.value.values()], 2 * MOST))

export const watchIncidents = (): (() => void) =>
  keepAsking(async (wanted, end, current) => {
    try {
      const reported = parseIncidents(await getJson(`api/v1/incidents?since=${Math.floor(end - wanted.ms)}&limit=${MOST}`, storedToken()))
      if (current()) before.value = new Map(reported.map((incident) => [incident.id, incident]))
    } catch (error) {
      // The stream tells what fires; only what is over is missing then.
      console.warn(error)
    }
  })
