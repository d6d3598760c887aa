// Which series shows a fault best, cut down to what one line of text can draw: the last minutes before it.
import { containerMemoryBytes } from '../../agent/metrics/container.ts'
import { gpuClockHertz } from '../../agent/metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuMemoryUsedBytes } from '../../agent/metrics/gpu-memory.ts'
import { gpuPowerWatts } from '../../agent/metrics/gpu-power.ts'
import { gpuMemoryTemperatureCelsius, gpuTemperatureCelsius } from '../../agent/metrics/gpu-temperature.ts'
import { hostMemoryAvailableBytes, hostShmUsedBytes } from '../../agent/metrics/host.ts'
import type { Incident, IncidentSeries } from '../../agent/model/incident.ts'
import { kindOf } from '../../agent/model/kinds.ts'
import type { Chart } from '../../agent/model/kinds/kind.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import type { Spark } from '../../agent/model/notification.ts'

/** 60 characters fit into a line on a phone held sideways. */
const MOST_VALUES = 60

type Choice = { readonly metric: string; readonly title: string; readonly unit: string; readonly labels?: Readonly<Record<string, string>> }

const gpu = ({ name, unit }: MetricDef, title: string, labels: Readonly<Record<string, string>> = {}): Choice => ({
  metric: name,
  title,
  unit,
  labels,
})
const MEMORY_HEAT = gpu(gpuMemoryTemperatureCelsius, 'memory temperature')
/** By the name that a kind's declaration gives. */
const CHARTS: Readonly<Record<Chart, Choice>> = {
  memory: gpu(gpuMemoryUsedBytes, 'memory used'),
  utilization: gpu(gpuUtilizationRatio, 'utilization'),
  temperature: gpu(gpuTemperatureCelsius, 'temperature'),
  power: gpu(gpuPowerWatts, 'power'),
  sm_clock: gpu(gpuClockHertz, 'SM clock', { domain: 'sm' }),
  container_memory: { metric: containerMemoryBytes.name, title: 'memory of the container', unit: 'By' },
  host_memory: { metric: hostMemoryAvailableBytes.name, title: 'memory available on the host', unit: 'By' },
  shm: { metric: hostShmUsedBytes.name, title: 'shared memory used', unit: 'By' },
}
const BY_REASON: readonly (readonly [pattern: RegExp, choices: readonly Choice[]])[] = [
  [/memory_temperature/, [MEMORY_HEAT, CHARTS.temperature]],
  [/thermal/, [CHARTS.temperature, CHARTS.sm_clock]],
  [/power/, [CHARTS.power, CHARTS.sm_clock]],
]

function choicesFor({ kind, facts }: Incident): readonly Choice[] {
  // A threshold of the user's own names its metric.
  if (kind === 'custom' && facts.metric !== undefined) return [{ metric: facts.metric, title: facts.name ?? 'value', unit: unitOf(facts.metric) }]
  const [reason = ''] = facts.active_reasons ?? []
  const reasoned = kind === 'throttling' ? BY_REASON.find(([pattern]) => pattern.test(reason))?.[1] : undefined
  // The first that was read is drawn. Kinds that no reading shows (versions, libraries, links, a full disk) have none.
  return reasoned ?? (kindOf(kind).chart ?? []).map((chart) => CHARTS[chart])
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
  // Slow readings come each ten seconds: no gap is between two of them.
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
