// A job became slower than it was, for good; with the reason where the GPUs' readings have it.
import { gpuClockHertz, gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, metricsOf, type GpuRow } from './parts/gpu-rows.ts'
import { createJobPace, type JobPace } from './parts/job-pace.ts'
import { containerOfJob, gpusOfJob, JOB_METRICS, jobRowsOf, logsAreRead } from './parts/job-rows.ts'
import { createFindingDeduper, type FindingDeduper } from './parts/per-gpu.ts'

const reason = (name: string) => ({ metric: gpuThrottleActive.name, labels: { reason: name } })
const COLUMNS = {
  hw_thermal_slowdown: reason('hw_thermal_slowdown'),
  sw_thermal_slowdown: reason('sw_thermal_slowdown'),
  hw_power_brake_slowdown: reason('hw_power_brake_slowdown'),
  hw_slowdown: reason('hw_slowdown'),
  sw_power_cap: reason('sw_power_cap'),
  clock: { metric: gpuClockHertz.name, labels: { domain: 'sm' } },
  utilization: { metric: gpuUtilizationRatio.name },
}
type Row = GpuRow<keyof typeof COLUMNS>
/** Nearest to the cause first. */
const REASONS = [
  ['hw_thermal_slowdown', 'is thermally throttled by the hardware'],
  ['sw_thermal_slowdown', 'is thermally throttled'],
  ['hw_power_brake_slowdown', 'is slowed by the power brake'],
  ['hw_slowdown', 'is slowed down by the hardware'],
  ['sw_power_cap', 'runs at its power limit'],
] as const
/** A power cap is usual on a busy GPU: it is the reason only where it costs more clock than before. */
const CLOCK_LOSS = 0.95
const UTILIZATION_LOSS = 0.2
/** Share of a new reading in what is usual: some minutes of readings each two seconds. */
const SMOOTH = 0.02
const LAG = 30

type Look = { readonly clock: number | undefined; readonly utilization: number | undefined }
/** What a GPU usually reads, of looks that are a minute old: the newest may already belong to the slow time. */
type Usual = Look & { readonly waiting: readonly Look[] }
type State = {
  readonly pace: JobPace
  readonly usual: Map<string, Usual>
  slowSince: number | undefined
  fromStep: number
  deduper: FindingDeduper | undefined
}
type Cause = { readonly text: string; readonly reasons: readonly string[]; readonly gpus: readonly string[] }

const MAX_JOBS = 512
const smooth = (before: number | undefined, now: number | undefined): number | undefined =>
  now === undefined ? before : before === undefined ? now : before + SMOOTH * (now - before)
function learned(before: Usual | undefined, { clock, utilization }: Look): Usual {
  const waiting = [...(before?.waiting ?? []), { clock, utilization }]
  const [oldest] = waiting
  if (waiting.length <= LAG || oldest === undefined) return { clock: before?.clock, utilization: before?.utilization, waiting }
  return { clock: smooth(before?.clock, oldest.clock), utilization: smooth(before?.utilization, oldest.utilization), waiting: waiting.slice(1) }
}
const time = (seconds: number): string =>
  seconds >= 10 ? `${seconds.toFixed(0)} s` : seconds >= 0.1 ? `${seconds.toFixed(2)} s` : `${(seconds * 1_000).toFixed(0)} ms`

function causeOf(rows: readonly Row[], usual: ReadonlyMap<string, Usual>): Cause | undefined {
  for (const [name, text] of REASONS) {
    const hit = rows.filter((row) => {
      const before = usual.get(row.uuid)?.clock
      const fell = before !== undefined && row.now.clock !== undefined && row.now.clock < CLOCK_LOSS * before
      return row.now[name] === 1 && (name !== 'sw_power_cap' || fell)
    })
    const first = hit[0]
    if (first !== undefined) return { text: `GPU ${first.index} ${text}`, reasons: [name], gpus: hit.map(({ index }) => String(index)) }
  }
  const slower = rows.find((row) => (row.now.clock ?? Infinity) < CLOCK_LOSS * (usual.get(row.uuid)?.clock ?? 0))
  if (slower !== undefined) {
    const [was, is] = [usual.get(slower.uuid)?.clock ?? 0, slower.now.clock ?? 0]
    return {
      text: `the clock of GPU ${slower.index} fell from ${Math.round(was / 1e6)} to ${Math.round(is / 1e6)} MHz`,
      reasons: [],
      gpus: [String(slower.index)],
    }
  }
  const waits = rows.find((row) => (row.now.utilization ?? Infinity) < (usual.get(row.uuid)?.utilization ?? 0) - UTILIZATION_LOSS)
  if (waits === undefined) return undefined
  const percents = [usual.get(waits.uuid)?.utilization ?? 0, waits.now.utilization ?? 0].map((ratio) => Math.round(100 * ratio))
  return {
    text: `GPU ${waits.index} waits: its utilization fell from ${percents[0]} to ${percents[1]} %, so the input or the host holds it back`,
    reasons: [],
    gpus: [String(waits.index)],
  }
}

export const jobSlowdown = defineDetector({
  id: 'job-slowdown',
  kinds: ['job_slowdown'],
  title: 'A job became slower than it was',
  severity: 'warning',
  watches: [...JOB_METRICS, ...metricsOf(COLUMNS)],
  everyMs: 2_000,
  options: {
    factor: { default: 1.2, min: 1.05, max: 10, help: 'A step must take so many times as long as the job was used to.' },
  },
  expression: { none: "it compares what a step takes with the job's whole past, without evaluations and checkpoints; PromQL cannot leave those out" },
  create({ factor }, { present, tracks }) {
    const gpus = createGpuRows(present, COLUMNS)
    const states = new Map<string, State>()
    const stateOf = (job: string): State => {
      let state = states.get(job)
      if (state === undefined) {
        if (states.size >= MAX_JOBS) for (const oldest of states.keys()) if (states.delete(oldest)) break
        states.set(job, (state = { pace: createJobPace(), usual: new Map(), slowSince: undefined, fromStep: 0, deduper: undefined }))
      }
      return state
    }
    return {
      judge(t) {
        const found: TypedFinding[] = []
        const rows = gpus.read()
        const jobs = jobRowsOf(present)
        for (const { job, step, progressedAt } of jobs.values()) {
          const state = stateOf(job)
          state.pace.see(step, progressedAt)
          const container = containerOfJob(present, tracks, job)
          const mine = [...gpusOfJob(tracks, container)].flatMap((uuid) => rows.get(uuid) ?? [])
          const said = state.pace.judge(factor)
          if (said?.slow !== true && state.slowSince === undefined)
            for (const { uuid, now } of mine) state.usual.set(uuid, learned(state.usual.get(uuid), { clock: now.clock, utilization: now.utilization }))
          if (said === undefined) continue
          const about = { named: job, ...(container === undefined ? {} : { container }) }
          state.deduper ??= createFindingDeduper({ kind: 'job_slowdown', key: job, about })
          state.pace.freeze(said.slow)
          if (!said.slow) {
            if (state.slowSince !== undefined) state.slowSince = undefined
            state.deduper.healthy(found, 'its steps take as long as before')
            continue
          }
          if (state.slowSince === undefined) [state.slowSince, state.fromStep] = [t, said.fromStep]
          const cause = causeOf(mine, state.usual)
          const times = (said.is / said.was).toFixed(1)
          state.deduper.faulty(found, {
            kind: 'job_slowdown',
            key: job,
            about,
            state: 'faulty',
            severity: 'warning',
            title: `${job} became slower: ${times} times as long a step${cause === undefined ? '' : `, ${cause.text.split(',')[0]?.split(':')[0]}`}`,
            verdict: `A step of ${job} takes ${time(said.is)} instead of ${time(said.was)} since step ${state.fromStep}. ${cause === undefined ? 'Cause unknown: none of its GPUs is throttled or waits more than before.' : `Cause: ${cause.text}.`}`,
            facts: {
              job,
              slow_from_step: state.fromStep,
              slowdown_factor: Number((said.is / said.was).toFixed(2)),
              step_seconds: said.is,
              step_seconds_before: said.was,
              since_ms: state.slowSince,
              ...(cause === undefined || cause.reasons.length === 0 ? {} : { active_reasons: cause.reasons }),
              ...(cause === undefined ? {} : { gpus: cause.gpus }),
            },
            remedies: [
              cause === undefined || cause.reasons.length === 0
                ? { text: 'See whether the input, a neighbour or the host holds the job back.', command: 'nvidia-smi dmon -s pucm -d 1 -c 30' }
                : { text: 'See what holds the GPU back.', command: `nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER,CLOCK -i ${cause.gpus[0] ?? '0'}` },
            ],
          })
        }
        for (const [job, { deduper }] of states) {
          if (jobs.has(job) || !logsAreRead(present, t)) continue
          deduper?.healthy(found, 'its log has ended')
          states.delete(job)
        }
        return found
      },
    }
  },
})
