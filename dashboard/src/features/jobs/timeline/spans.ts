// Who held which card when, from the history of GPU memory: spans of one job on one card, what it held at its most, and for how long nothing ran meanwhile. Pure.
import type { SeriesRow } from '../../../../../agent/model/live.ts'
import { type JobName, jobOf } from '../../../parts/job/identity.ts'

/** One step of history, Unix ms, the end not part of it, with the highest reading in it: a mean would hide what a card ran out by. */
export type Step = { readonly from: number; readonly to: number; readonly bytes: number }
export type Span = {
  readonly job: JobName
  readonly uuid: string
  readonly gpu: number
  /** The MIG instance, where it is one. */
  readonly gi: string | undefined
  readonly from: number
  readonly to: number
  /** At its most; exact for one series, whatever the steps. */
  readonly highest: number
  /** Oldest first, without holes of more than one step. */
  readonly steps: readonly Step[]
}

type Lane = { readonly job: JobName; readonly uuid: string; readonly gpu: number; readonly gi: string | undefined; readonly steps: Map<number, Step> }

/** Adds up the series of a job on a card: restarts, several processes, several containers of a pod. */
function lanesOf(rows: readonly SeriesRow[]): readonly Lane[] {
  const lanes = new Map<string, Lane>()
  for (const { labels, t, max, step_ms: stepMs } of rows) {
    const { uuid } = labels
    if (uuid === undefined) continue
    const job = jobOf(labels)
    const gi = labels['gi'] === '' ? undefined : labels['gi']
    const key = `${uuid} ${gi ?? ''} ${job.key}`
    const lane: Lane = lanes.get(key) ?? { job, uuid, gpu: Number(labels['gpu'] ?? -1), gi, steps: new Map<number, Step>() }
    lanes.set(key, lane)
    for (const [i, from] of t.entries()) {
      const bytes = max[i]
      if (typeof bytes !== 'number' || bytes <= 0) continue
      lane.steps.set(from, { from, to: from + stepMs, bytes: bytes + (lane.steps.get(from)?.bytes ?? 0) })
    }
  }
  return [...lanes.values()]
}

/** Spans in the order in which they began. A single missed step is no end. */
export function spansOf(rows: readonly SeriesRow[]): readonly Span[] {
  const spans: Span[] = []
  for (const { steps, ...whom } of lanesOf(rows)) {
    let run: Step[] = []
    const close = (): void => {
      const [first] = run
      const last = run.at(-1)
      if (first === undefined || last === undefined) return
      spans.push({ ...whom, from: first.from, to: last.to, highest: Math.max(...run.map(({ bytes }) => bytes)), steps: run })
      run = []
    }
    for (const step of [...steps.values()].toSorted((a, b) => a.from - b.from)) {
      const last = run.at(-1)
      if (last !== undefined && step.from - last.to > step.to - step.from) close()
      run.push(step)
    }
    close()
  }
  return spans.toSorted((a, b) => a.from - b.from || a.gpu - b.gpu || (a.job.key < b.job.key ? -1 : 1))
}

/** The most that each job held at once, over all its cards: of each step the highest readings together, so an upper bound where it held several. */
export function peaksOf(spans: readonly Span[]): ReadonlyMap<string, number> {
  const sums = new Map<string, Map<number, number>>()
  for (const { job, steps } of spans) {
    const own = sums.get(job.key) ?? new Map<number, number>()
    sums.set(job.key, own)
    for (const { from, bytes } of steps) own.set(from, (own.get(from) ?? 0) + bytes)
  }
  return new Map([...sums].map(([key, own]) => [key, Math.max(...own.values())]))
}

/** Below this nothing ran at all: the agent's own bound (agent/diagnosis/detectors/idle-gpu-held.ts). */
const IDLE_RATIO = 0.005

/** Seconds of GPU time in which each job held memory while nothing ran on that GPU, whole steps only. A job whose GPUs do not say is absent. */
export function idleOf(spans: readonly Span[], utilization: readonly SeriesRow[]): ReadonlyMap<string, number> {
  const busiest = new Map<string, { readonly stepMs: number; readonly at: ReadonlyMap<number, number> }>()
  for (const { labels, t, max, step_ms: stepMs } of utilization) {
    const at = new Map<number, number>()
    for (const [i, from] of t.entries()) if (typeof max[i] === 'number') at.set(from, max[i])
    if (labels['uuid'] !== undefined && (labels['gi'] ?? '') === '') busiest.set(labels['uuid'], { stepMs, at })
  }
  const idle = new Map<string, number>()
  for (const { job, uuid, gi, steps } of spans) {
    const gpu = busiest.get(uuid)
    // A MIG instance's own work is not told by its GPU's figure.
    if (gpu === undefined || gi !== undefined) continue
    for (const { from, to } of steps) {
      const within: (number | undefined)[] = []
      for (let t = Math.floor(from / gpu.stepMs) * gpu.stepMs; t < to; t += gpu.stepMs) within.push(gpu.at.get(t))
      if (within.includes(undefined)) continue
      const none = within.every((ratio) => (ratio ?? 0) < IDLE_RATIO)
      idle.set(job.key, (idle.get(job.key) ?? 0) + (none ? (to - from) / 1000 : 0))
    }
  }
  return idle
}

/** Spans of one card in as few lines as they need, none over another; a job that comes back takes its line again where it is free. */
export function packed(spans: readonly Span[]): readonly (readonly Span[])[] {
  const lines: Span[][] = []
  for (const span of spans) {
    const free = lines.filter((line) => (line.at(-1)?.to ?? 0) <= span.from)
    const line = free.find((each) => each.some(({ job }) => job.key === span.job.key)) ?? free[0]
    if (line === undefined) lines.push([span])
    else line.push(span)
  }
  return lines
}

export type Interval = { readonly from: number; readonly to: number }

/** Beyond this share of the range nothing was recorded: the picture begins with the record, or it would be empty for the most part. */
const YOUNG = 0.1
/** So many minutes are shown of the youngest record. */
const LEAST_MS = 300_000

/** Where a picture of [from, to) begins: with the first reading of any GPU where the agent is younger than the range. */
export function beginOf(used: readonly SeriesRow[], from: number, to: number): number {
  const first = used.reduce((least, { t, mean }) => Math.min(least, t[mean.findIndex((value) => typeof value === 'number')] ?? to), to)
  return first - from > (to - from) * YOUNG && first < to ? Math.min(first, to - LEAST_MS) : from
}

/** When each GPU was not read. A single missed step is none. */
export function unseenOf(used: readonly SeriesRow[], from: number, to: number): ReadonlyMap<string, readonly Interval[]> {
  const unseen = new Map<string, readonly Interval[]>()
  for (const { labels, t, mean, step_ms: stepMs } of used) {
    if (labels['uuid'] === undefined || (labels['gi'] ?? '') !== '') continue
    const read = t.filter((_, i) => typeof mean[i] === 'number')
    const ends = [from, ...read.map((at) => at + stepMs)]
    const holes = [...read, to].map((at, i) => ({ from: Math.max(from, ends[i] ?? from), to: at }))
    unseen.set(
      labels['uuid'],
      holes.filter((hole) => hole.to - hole.from > stepMs),
    )
  }
  return unseen
}

/** When the reading of a GPU begins in a picture that begins at `from`. */
export const readSince = (holes: readonly Interval[], from: number): number => holes.find((hole) => hole.from <= from)?.to ?? from

/** The outline of what a job held of a card, as an SVG path in a box of 1000 by 100. */
export function areaPath({ steps, from, to, highest }: Pick<Span, 'steps' | 'from' | 'to' | 'highest'>, total: number | undefined): string {
  const top = Math.max(total ?? 0, highest)
  const x = (ms: number): string => (((ms - from) / (to - from)) * 1000).toFixed(1)
  const y = (bytes: number): string => (100 - (bytes / top) * 100).toFixed(1)
  return `M0 100${steps.map((step) => `L${x(step.from)} ${y(step.bytes)}L${x(step.to)} ${y(step.bytes)}`).join('')}L1000 100Z`
}
