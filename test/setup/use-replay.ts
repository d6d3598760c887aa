// A host with known truth, second by second without waiting, for the part of the agent that counts use, with its files: 16 processes of their own sessions on one GPU,
// one of which comes or goes each second, and an agent that is killed at any moment and is back after some seconds.
import type { Jobs } from '../../agent/wiring/jobs.ts'
import { gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuMemoryUnattributedBytes } from '../../agent/metrics/gpu-memory.ts'
import { gpuEnergyJoulesTotal } from '../../agent/metrics/gpu-power.ts'
import { processGpuMemoryBytes, processGpuUtilizationRatio } from '../../agent/metrics/process.ts'
import type { Event } from '../../agent/model/event.ts'
import type { Labels } from '../../agent/model/series.ts'
import type { Reading } from '../../agent/model/reading.ts'
import { makeSeries } from '../../agent/model/series.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import { randomOf } from './random.ts'

export type ReplayOptions = {
  readonly seed: number
  readonly kills: number
  /** The longest time that the agent is away. */
  readonly downMs: number
  /** The agent as it starts with the files of the one before. */
  readonly open: () => Jobs
}
export type Sums = { heldMs: number; activeMs: number }
export type Replay = {
  /** By job. */
  readonly truth: ReadonlyMap<string, Sums>
  readonly joules: number
  /** The last agent, which has not been ended. */
  readonly jobs: Jobs
  /** How many processes no agent saw. */
  readonly unseen: number
}

const T = 1_800_000_000_000
const SLOTS = 16
const PERCENT = 5
const [IDLE_WATTS, BUSY_WATTS] = [60, 540]
const GPU: Labels = { gpu: '0', uuid: 'GPU-0' }
const GIB = 2 ** 30

type Life = { readonly pid: number; readonly slot: number; readonly from: number; to: number; isSeen: boolean }
type Step = { readonly t: number; readonly run: () => void }

export function replay({ seed, kills, downMs, open }: ReplayOptions): Replay {
  const random = randomOf(seed)
  const lives: Life[] = []
  const here = new Map<number, Life>()
  const truth = new Map<string, Sums>()
  let [t, joules, nextPid] = [T, 0, 4_000]
  let jobs = open()
  let isDown = false
  let seriesOf = new Map<string, ReturnType<typeof makeSeries>>()
  const nameOf = ({ slot }: Life): string => `train-${slot}`

  /** The host as it was until now. */
  const pass = (now: number): void => {
    const ms = now - t
    t = now
    for (const life of here.values()) {
      const sums = truth.get(nameOf(life)) ?? { heldMs: 0, activeMs: 0 }
      truth.set(nameOf(life), { heldMs: sums.heldMs + ms, activeMs: sums.activeMs + (ms * PERCENT) / 100 })
    }
    joules += ((IDLE_WATTS + (BUSY_WATTS * here.size * PERCENT) / 100) * ms) / 1_000
  }
  const enter = (slot: number): void => {
    const life = { pid: nextPid++, slot, from: t, to: Number.POSITIVE_INFINITY, isSeen: false }
    lives.push(life)
    here.set(slot, life)
  }
  const leave = (slot: number): void => {
    const life = here.get(slot)
    if (life !== undefined) life.to = t
    here.delete(slot)
  }
  const alive = (pid: number, now: number): Life | undefined => lives.find((life) => life.pid === pid && life.to > now)

  const reading = (metric: MetricDef, labels: Labels, value: number): Reading => {
    const key = `${metric.name} ${labels['pid'] ?? ''}`
    const series = seriesOf.get(key) ?? makeSeries(metric, labels)
    seriesOf.set(key, series)
    return { series, value }
  }
  const scrape = (group: string, readings: readonly Reading[]): void =>
    jobs.ingest({ type: 'scrape', t, source: 'gpu', group, ttlMs: 3_000, durationMs: 0, readings, gaps: [] })
  /** As the sources do: what the driver says, then who those processes are, as far as they are still there a moment later. */
  const look = (later: number): void => {
    if (isDown) return
    // The driver's figures are means of the second before.
    const busy = (life: Life): number => ((Math.min(life.to, t) - Math.max(life.from, t - 1_000)) / 1_000) * (PERCENT / 100)
    const ratio = lives.reduce((sum, life) => sum + Math.max(0, busy(life)), 0)
    scrape('0/fast', [reading(gpuUtilizationRatio, GPU, ratio), reading(gpuEnergyJoulesTotal, GPU, Math.round(joules * 1_000) / 1_000)])
    const readings = [...here.values()].flatMap((life) => {
      life.isSeen = true
      const labels = { ...GPU, pid: String(life.pid) }
      return [reading(processGpuMemoryBytes, labels, 2 * GIB), reading(processGpuUtilizationRatio, labels, busy(life))]
    })
    scrape('0/processes', [...readings, reading(gpuMemoryUnattributedBytes, GPU, 0)])
    schedule.push({ t: t + later, run: lookUp })
  }
  const process = (life: Pick<Life, 'pid' | 'from' | 'slot'>, action: 'seen' | 'exit'): Event => ({
    type: 'process',
    t,
    action,
    pid: life.pid,
    root: { pid: life.pid, start_ticks: life.from, started_at: life.from, command: `train-${life.slot}` },
    ancestors: [],
    user: 'ada',
  })
  const lookUp = (): void => {
    if (isDown) return
    for (const pid of jobs.interest.strangers()) {
      const life = alive(pid, t)
      if (life === undefined) jobs.interest.unidentified(pid)
      else jobs.ingest(process(life, 'seen'))
    }
    for (const { pid } of jobs.interest.roots()) {
      const life = lives.find((one) => one.pid === pid)
      if (life !== undefined && life.to <= t) jobs.ingest(process(life, 'exit'))
    }
  }
  const tick = (): void => {
    if (!isDown) jobs.tick(t)
  }

  let schedule: Step[] = []
  const until = (end: number, step: () => void): void => {
    for (let second = Math.ceil(t / 1_000) * 1_000; second < end; second += 1_000) {
      schedule.push({ t: second, run: () => look(5 + Math.floor(300 * random() ** 4)) }, { t: second + 250, run: tick })
      schedule.push({ t: second + Math.floor(1_000 * random()), run: step })
    }
    for (;;) {
      const next = schedule.reduce<Step | undefined>((first, one) => (first === undefined || one.t < first.t ? one : first), undefined)
      if (next === undefined || next.t > end) break
      schedule = schedule.filter((one) => one !== next)
      pass(Math.max(t, next.t))
      next.run()
    }
    pass(end)
  }
  const comeAndGo = (): void => {
    const slot = Math.floor(random() * SLOTS)
    const away = Array.from({ length: SLOTS }, (_, at) => at).filter((at) => !here.has(at))
    if (away.length > 3) enter(away[Math.floor(random() * away.length)] ?? 0)
    else leave(slot)
  }

  const settle = 3_000
  const quiet = (): void => undefined
  until(t + settle, quiet)
  for (let slot = 0; slot < SLOTS; slot++) {
    until(t + 250, quiet)
    enter(slot)
  }
  for (let kill = 0; kill < kills; kill++) {
    // Some are killed before they have looked.
    until(t + (kill % 5 === 4 ? 200 : 1_000 + Math.floor(5_000 * random())), comeAndGo)
    isDown = true
    until(t + 500 + Math.floor((downMs - 500) * random()), comeAndGo)
    jobs = open()
    seriesOf = new Map()
    isDown = false
  }
  for (let slot = 0; slot < SLOTS; slot++) {
    until(t + 250, quiet)
    leave(slot)
  }
  until(t + settle, quiet)
  return { truth, joules, jobs, unseen: lives.filter(({ isSeen }) => !isSeen).length }
}
