// Which series shows a fault best, cut down to what one line of text can draw: the last minutes before it.
import type { Incident, IncidentKind, IncidentSeries } from '../../agent/model/incident.ts'
import type { Spark } from '../../agent/model/notification.ts'

/** 60 characters fit into a line on a phone held sideways. */
const MOST_VALUES = 60

type Choice = { readonly metric: string; readonly title: string; readonly unit: string; readonly labels?: Readonly<Record<string, string>> }

const gpu = (name: string, title: string, unit: string, labels: Readonly<Record<string, string>> = {}): Choice => ({
  metric: `warpwatch_gpu_${name}`,
  title,
  unit,
  labels,
})
const MEMORY = gpu('memory_used_bytes', 'memory used', 'By')
const LOAD = gpu('utilization_ratio', 'utilization', '1')
const HEAT = gpu('temperature_celsius', 'temperature', 'Cel')
const MEMORY_HEAT = gpu('memory_temperature_celsius', 'memory temperature', 'Cel')
const POWER = gpu('power_watts', 'power', 'W')
const CLOCK = gpu('clock_hertz', 'SM clock', 'Hz', { domain: 'sm' })
const CONTAINER: Choice = { metric: 'warpwatch_container_memory_bytes', title: 'memory of the container', unit: 'By' }
const HOST_FREE: Choice = { metric: 'warpwatch_host_memory_available_bytes', title: 'memory available on the host', unit: 'By' }
const SHM: Choice = { metric: 'warpwatch_host_shm_used_bytes', title: 'shared memory used', unit: 'By' }

/** The first that was read is drawn. Kinds that no reading shows (versions, libraries, links, a full disk) have none. */
const CHOICES: Readonly<Partial<Record<IncidentKind, readonly Choice[]>>> = {
  cuda_oom: [MEMORY],
  nvml_allocator_assert: [MEMORY],
  allocator_internal: [MEMORY],
  cublas_cudnn_error: [MEMORY],
  batch_halving: [MEMORY],
  memory_exhaustion_forecast: [MEMORY],
  memory_leak: [MEMORY],
  fragmentation_pressure: [MEMORY],
  allocator_retry_storm: [MEMORY],
  oom_restart_loop: [MEMORY],
  neighbour_pressure: [MEMORY],
  unattributed_memory: [MEMORY],
  host_oom_kill: [CONTAINER, HOST_FREE],
  shm_exhausted: [SHM, CONTAINER],
  xid: [LOAD],
  gpu_lost: [LOAD],
  gpu_missing: [LOAD],
  driver_hung: [LOAD],
  container_lost_gpu: [LOAD],
  illegal_memory_access: [LOAD],
  nccl_error: [LOAD],
  idle_gpu_held: [LOAD],
  input_bound: [LOAD],
  telemetry_stale: [LOAD],
  target_down: [LOAD],
  straggler_gpu: [CLOCK, LOAD],
  throttling: [CLOCK, HEAT],
  thermal_or_power: [HEAT, POWER],
  power_brake: [POWER, CLOCK],
}
const BY_REASON: readonly (readonly [pattern: RegExp, choices: readonly Choice[]])[] = [
  [/memory_temperature/, [MEMORY_HEAT, HEAT]],
  [/thermal/, [HEAT, CLOCK]],
  [/power/, [POWER, CLOCK]],
]

function choicesFor({ kind, facts }: Incident): readonly Choice[] {
  // A threshold of the user's own names its metric.
  if (kind === 'custom' && facts.metric !== undefined) return [{ metric: facts.metric, title: facts.name ?? 'value', unit: unitOf(facts.metric) }]
  const [reason = ''] = facts.active_reasons ?? []
  const reasoned = kind === 'throttling' ? BY_REASON.find(([pattern]) => pattern.test(reason))?.[1] : undefined
  return reasoned ?? CHOICES[kind] ?? []
}
const unitOf = (metric: string): string =>
  metric.endsWith('_bytes') ? 'By' : metric.endsWith('_ratio') ? '1' : metric.endsWith('_celsius') ? 'Cel' : metric.endsWith('_watts') ? 'W' : ''

/** Of several cards the one that the incident names, else the one with the highest reading: that is where it broke. */
function seriesFor({ subject, evidence, started_at: startedAt }: Incident, { metric, labels = {} }: Choice): IncidentSeries | undefined {
  const fits = evidence.series.filter(
    (series) =>
      series.metric === metric &&
      Object.entries(labels).every(([name, value]) => series.labels[name] === value) &&
      (subject.gpu?.uuid === undefined || series.labels['uuid'] === undefined || series.labels['uuid'] === subject.gpu.uuid),
  )
  const highest = ({ t, value }: IncidentSeries): number => Math.max(Number.NEGATIVE_INFINITY, ...value.filter((_, i) => (t[i] ?? Infinity) <= startedAt))
  return fits.toSorted((a, b) => highest(b) - highest(a))[0]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** The highest reading of each step up to the fault; what came after it (the memory is free again) would hide it. */
function drawn({ t, value }: IncidentSeries, to: number): Pick<Spark, 'from' | 'to' | 'values'> | undefined {
  const times = t.filter((when) => when <= to)
  const [first] = times
  if (first === undefined || times.length < 2) return undefined
  // Slow readings come each ten seconds: no gap stands between two of them.
  const apart = median(times.slice(1).map((when, i) => when - (times[i] ?? when)))
  const step = Math.max(1_000, apart, Math.ceil((to - first) / (MOST_VALUES - 1) / 1_000) * 1_000)
  const length = Math.min(MOST_VALUES, Math.floor((to - first) / step) + 1)
  const values = Array.from<number | null>({ length }).fill(null)
  times.forEach((when, i) => {
    const at = length - 1 - Math.floor((to - when) / step)
    const reading = value[i]
    if (at >= 0 && reading !== undefined && Number.isFinite(reading)) values[at] = Math.max(values[at] ?? reading, reading)
  })
  return values.filter((one) => one !== null).length < 2 ? undefined : { from: to - (length - 1) * step, to, values }
}

export function sparkOf(incident: Incident): Spark | undefined {
  for (const choice of choicesFor(incident)) {
    const series = seriesFor(incident, choice)
    const line = series === undefined ? undefined : drawn(series, incident.started_at)
    if (series === undefined || line === undefined) continue
    const { gpu: index } = series.labels
    return { metric: choice.metric, title: index === undefined ? choice.title : `GPU ${index} ${choice.title}`, unit: choice.unit, ...line }
  }
  return undefined
}
