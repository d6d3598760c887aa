// One GPU of a job that spans several is slower than the others: in a data-parallel training all wait for it, and look busy while they do.
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive } from '../../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../../metrics/gpu-load.ts'
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../../metrics/gpu-power.ts'
import { gpuTemperatureCelsius } from '../../../metrics/gpu-temperature.ts'
import type { Facts } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { megahertz } from '../../../text/figures.ts'
import { spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from '../parts/gpu-rows.ts'
import { createHold, type Hold } from '../parts/hold.ts'
import { createHolders, HOLDER_METRICS } from '../parts/holders.ts'
import { below, jobsOf, median, type Job } from './peers.ts'

const reason = (name: string) => ({ metric: gpuThrottleActive.name, labels: { reason: name } })
const COLUMNS = {
  utilization: { metric: gpuUtilizationRatio.name },
  clock: { metric: gpuClockHertz.name, labels: { domain: 'sm' } },
  clockMax: { metric: gpuClockMaxHertz.name, labels: { domain: 'sm' } },
  temperature: { metric: gpuTemperatureCelsius.name },
  power: { metric: gpuPowerWatts.name },
  limit: { metric: gpuPowerLimitWatts.name },
  sw_thermal_slowdown: reason('sw_thermal_slowdown'),
  hw_thermal_slowdown: reason('hw_thermal_slowdown'),
  hw_slowdown: reason('hw_slowdown'),
  hw_power_brake_slowdown: reason('hw_power_brake_slowdown'),
  applications_clocks_setting: reason('applications_clocks_setting'),
  sw_power_cap: reason('sw_power_cap'),
}
type Row = GpuRow<keyof typeof COLUMNS>
const HINDERS = ['hw_thermal_slowdown', 'sw_thermal_slowdown', 'hw_power_brake_slowdown', 'hw_slowdown', 'applications_clocks_setting'] as const

/** A job of two has no majority. */
const LEAST_GPUS = 3
const EVERY_MS = 5_000
/** Means of about a minute: clocks waver from second to second. */
const WEIGHT = 1 / 12
const WARM_LOOKS = 12
const MAX_STEP_MS = 30_000
/** Cards of one model differ by a few percent at the same load; clocks are reported in steps of 15 MHz. */
const LEAST_SPREAD = 0.008

type Mean = { lastT: number; looks: number; share: number; utilization: number }
type State = {
  readonly uuid: string
  /** As it was seen last. */
  job: Job
  readonly hold: Hold
  sinceT: number | undefined
  reportedHealthy: boolean
  seenT: number
}
type Judged = { readonly slow: boolean | undefined; readonly middle: number; readonly share: number }

const remediesOf = (index: number): readonly Remedy[] => [
  { text: 'See what holds this card back, beside its peers.', command: `nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE,POWER -i ${index}` },
  {
    text: 'Compare all of them while they work.',
    command: 'nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,power.draw,power.limit,clocks_event_reasons.active --format=csv -l 5',
  },
  {
    text: 'Heat: look at its fans, heat sink and air. A clock or power limit that only this card has: take it back.',
    command: `sudo nvidia-smi -i ${index} -rgc; sudo nvidia-smi -i ${index} -rac`,
  },
  { text: 'Until it is repaired, run the job without this GPU: the others are faster alone.' },
]

export const stragglerGpu = defineDetector({
  id: 'straggler-gpu',
  kinds: ['straggler_gpu'],
  title: 'One GPU of a job is slower than the others',
  severity: 'warning',
  watches: [...new Set([...metricsOf(COLUMNS), ...HOLDER_METRICS])],
  everyMs: EVERY_MS,
  options: {
    for_minutes: { default: 3, min: 0, max: 1_440, help: 'For how long it must be slower than its peers.' },
    clear_seconds: { default: 60, min: 0, max: 3_600, help: 'For how long it must keep up again, until it is over.' },
    slower_ratio: { default: 0.1, min: 0.02, max: 0.9, help: 'By how much its SM clock must be below the median of its peers.' },
    load_ratio: { default: 0.7, min: 0.1, max: 1, help: 'Mean utilization from which on a GPU takes part; ranks that wait in NCCL are busy too.' },
  },
  expression: { none: 'it compares each GPU with the others of its container or Slurm job by a robust distance, which PromQL has no function for' },
  create(options, { present }) {
    const rows = createGpuRows(present, COLUMNS)
    const holders = createHolders(present)
    const means = new Map<string, Mean>()
    const states = new Map<string, State>()

    const note = (t: number, { uuid, now: { clock, clockMax, utilization } }: Row): void => {
      if (clock === undefined || clockMax === undefined || clockMax <= 0 || utilization === undefined) return
      const mean = means.get(uuid)
      const share = clock / clockMax
      if (mean === undefined || t <= mean.lastT || t - mean.lastT > MAX_STEP_MS) {
        means.set(uuid, { lastT: t, looks: 1, share, utilization })
        return
      }
      mean.lastT = t
      mean.looks++
      const weight = Math.max(WEIGHT, 1 / mean.looks)
      mean.share += (share - mean.share) * weight
      mean.utilization += (utilization - mean.utilization) * weight
    }
    const meanOf = (t: number, uuid: string): Mean | undefined => {
      const mean = means.get(uuid)
      return mean === undefined || t - mean.lastT > MAX_STEP_MS || mean.looks < WARM_LOOKS ? undefined : mean
    }

    const judgeOne = (t: number, row: Row, job: Job, all: ReadonlyMap<string, Row>): Judged | undefined => {
      const mean = meanOf(t, row.uuid)
      if (mean === undefined) return undefined
      const peers = job.gpus.flatMap(({ uuid }) => (uuid === row.uuid ? [] : (meanOf(t, uuid) ?? [])))
      // Half of a job that rests, or cannot be read, is no measure.
      const working = peers.filter(({ utilization }) => utilization >= options.load_ratio)
      if (working.length < LEAST_GPUS - 1 || working.length < peers.length / 2) return undefined
      const { middle, far } = below(
        mean.share,
        working.map(({ share }) => share),
        LEAST_SPREAD,
      )
      const judged = { middle, share: mean.share }
      if (mean.share >= middle * (1 - options.slower_ratio / 2)) return { ...judged, slow: false }
      if (mean.share > middle * (1 - options.slower_ratio) || !far || mean.utilization < options.load_ratio) return { ...judged, slow: undefined }
      // At the same power limit as the others a card that draws more does more: an uneven load, or a chip that needs more volts; no fault.
      const limits = job.gpus.flatMap(({ uuid }) => all.get(uuid)?.now.limit ?? [])
      const capped = row.now.sw_power_cap === 1 && !HINDERS.some((name) => row.now[name] === 1)
      const lowered = row.now.limit !== undefined && row.now.limit < 0.95 * median(limits)
      return { ...judged, slow: capped && !lowered ? undefined : true }
    }

    const faultyFinding = (t: number, state: State, row: Row, { middle, share }: Judged, all: ReadonlyMap<string, Row>): TypedFinding => {
      const { now, index, uuid } = row
      const { job } = state
      const others = job.gpus.filter((gpu) => gpu.uuid !== uuid)
      const ofPeers = (name: 'temperature' | 'power' | 'limit'): number | undefined => {
        const values = others.flatMap((gpu) => all.get(gpu.uuid)?.now[name] ?? [])
        return values.length === 0 ? undefined : median(values)
      }
      const [temperature, power, limit] = [ofPeers('temperature'), ofPeers('power'), ofPeers('limit')]
      const loss = Math.round((1 - share / middle) * 1_000) / 1_000
      const clockMax = now.clockMax ?? 0
      const active = HINDERS.filter((name) => now[name] === 1)
      const lowered = now.limit !== undefined && limit !== undefined && now.limit < 0.95 * limit
      const heat =
        now.temperature === undefined || temperature === undefined
          ? ''
          : ` It is ${Math.round(now.temperature)} °C hot, the others ${Math.round(temperature)} °C.`
      const why =
        active.length > 0
          ? ` The driver gives as reason: ${active.join(', ')}.`
          : lowered
            ? ` Its power limit is ${Math.round(now.limit ?? 0)} W, that of the others ${Math.round(limit)} W.`
            : ' The driver gives no reason: its clocks may be locked.'
      const facts: Facts = {
        gpus: job.gpus.map((gpu) => String(gpu.index)),
        jobs: [job.ownerText],
        sm_clock_hertz: Math.round(share * clockMax),
        sm_clock_peers_hertz: Math.round(middle * clockMax),
        ...(now.clockMax === undefined ? {} : { sm_clock_max_hertz: now.clockMax }),
        speed_loss_ratio: loss,
        active_reasons: active,
        ...(now.temperature === undefined ? {} : { temperature_celsius: now.temperature }),
        ...(temperature === undefined ? {} : { temperature_peers_celsius: temperature }),
        ...(now.power === undefined ? {} : { power_watts: now.power }),
        ...(power === undefined ? {} : { power_peers_watts: power }),
        since_ms: state.sinceT ?? t,
      }
      return {
        kind: 'straggler_gpu',
        key: keyOf(state),
        about: aboutOf(state),
        state: 'faulty',
        severity: 'warning',
        title: `GPU ${index} is ${Math.round(loss * 100)} % slower than the other ${others.length} of ${job.ownerText}`,
        verdict: `${gpuText(row)} has run at ${megahertz(share * clockMax)} for ${spanText(Math.max(1, t - (state.sinceT ?? t)))}, while the other ${others.length} GPUs of ${job.ownerText} run at ${megahertz(middle * clockMax)}: if they share one training, all are as slow as this one.${heat}${why}`,
        facts,
        remedies: remediesOf(index),
      }
    }
    const keyOf = ({ uuid, job }: State): string => `${job.owner} ${uuid}`
    const aboutOf = ({ uuid, job }: State) => ({
      uuid,
      ...(job.container === undefined ? {} : { container: job.container }),
      ...(job.containerId === undefined ? {} : { containerId: job.containerId }),
    })
    const healthy = (found: TypedFinding[], state: State, why?: string): void => {
      if (state.reportedHealthy) return
      state.reportedHealthy = true
      found.push({ kind: 'straggler_gpu', key: keyOf(state), about: aboutOf(state), state: 'healthy', ...(why === undefined ? {} : { why }) })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const all = rows.read()
        for (const row of all.values()) note(t, row)
        const listed = holders.read(t)
        for (const job of jobsOf(listed.values(), LEAST_GPUS)) {
          for (const { uuid } of job.gpus) {
            const row = all.get(uuid)
            if (row === undefined) continue
            const key = `${job.owner} ${uuid}`
            let state = states.get(key)
            if (state === undefined) {
              const hold = createHold({ forMs: options.for_minutes * 60_000, clearMs: options.clear_seconds * 1_000 })
              states.set(key, (state = { uuid, job, hold, sinceT: undefined, reportedHealthy: false, seenT: t }))
            }
            state.seenT = t
            state.job = job
            const judged = judgeOne(t, row, job, all)
            if (judged?.slow === true) state.sinceT ??= t
            const held = state.hold.see(t, judged?.slow)
            if (judged?.slow === false && state.hold.settled() !== 'faulty') state.sinceT = undefined
            if (held === 'healthy') healthy(found, state)
            else if (held === 'faulty' && judged !== undefined) {
              state.reportedHealthy = false
              found.push(faultyFinding(t, state, row, judged, all))
            }
          }
        }
        for (const [key, state] of states) {
          if (state.seenT === t) continue
          state.hold.see(t, undefined)
          const gpu = listed.get(state.uuid)
          if (gpu?.listed !== true || gpu.holders.some(({ owner }) => owner === state.job.owner)) continue
          // A list may come a little later than a restart: not at the first look without it.
          if (t - state.seenT < MAX_STEP_MS && t >= state.seenT) continue
          healthy(found, state, 'the job no longer runs on it')
          states.delete(key)
        }
        return found
      },
    }
  },
})
