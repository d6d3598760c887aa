// Turns what was parsed into readings and gaps of the same series that the collectors have.
import type { MetricDef } from '../../model/metric.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { Labels, Series } from '../../model/series.ts'
import type { FieldId } from './field-id.ts'
import type { ParsedGpu, Values } from './gpu.ts'
import { INFO, MEASURES, THROTTLE_BITS, THROTTLE_MASK } from './measures.ts'
import type { Parsed } from './result.ts'

export type GpuReadings = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
export type ReadingsOf = (gpu: ParsedGpu, labels: Labels, versions: Pick<Parsed, 'driverVersion' | 'cudaVersion'>) => GpuReadings

/** Series and labels are made once and kept; a field without a declared metric is left out. */
export function createReadings(metrics: readonly MetricDef[]): ReadingsOf {
  const named = new Map(metrics.map((metric) => [metric.name, metric]))
  const kept = new Map<string, Series>()
  const seriesOf = (metric: MetricDef, labels: Labels): Series => {
    const key = `${metric.name}\n${Object.values(labels).join('\n')}`
    let series = kept.get(key)
    if (series === undefined) {
      if (kept.size > 20_000) kept.clear() // MIG instances come and go
      series = makeSeries(metric, labels)
      kept.set(key, series)
    }
    return series
  }

  const put = ({ values, missing }: Values, place: Labels, readings: Reading[], gaps: Gap[]): void => {
    const resolve = (id: FieldId): { readonly metric: MetricDef; readonly labels: Labels } | undefined => {
      const { metric: name, labels } = MEASURES[id]
      const metric = named.get(name)
      return metric === undefined ? undefined : { metric, labels: { ...place, ...labels } }
    }
    for (const [id, value] of values) {
      const at = resolve(id)
      if (at !== undefined) readings.push({ series: seriesOf(at.metric, at.labels), value })
    }
    for (const [id, { reason, code, text }] of missing) {
      const at = resolve(id)
      if (at === undefined) continue
      const detail =
        text === ''
          ? 'this nvidia-smi does not print it'
          : reason === 'parse_error'
            ? `nvidia-smi prints ${JSON.stringify(text)}; expected a value with its unit`
            : `nvidia-smi: ${text}`
      gaps.push({ metric: at.metric.name, labels: seriesOf(at.metric, at.labels).labels, reason, ...(code === undefined ? {} : { code }), detail })
    }
  }

  return (gpu, place, { driverVersion, cudaVersion }) => {
    const readings: Reading[] = []
    const gaps: Gap[] = []
    const info = named.get(INFO)
    if (info !== undefined) {
      const texts: Readonly<Record<string, string | undefined>> = {
        name: gpu.name,
        pci_bus_id: gpu.pciBusId,
        driver_version: driverVersion,
        cuda_version: cudaVersion,
        vbios_version: gpu.vbios,
        serial: gpu.serial,
        minor: gpu.minor,
      }
      const labels: Record<string, string> = { ...place }
      for (const [name, text] of Object.entries(texts)) if (text !== undefined && info.labels.includes(name)) labels[name] = text
      readings.push({ series: seriesOf(info, labels), value: 1 })
    }
    put(gpu, place, readings, gaps)
    const mask = named.get(THROTTLE_MASK)
    if (mask !== undefined && THROTTLE_BITS.some(([id]) => gpu.values.has(id))) {
      let value = 0
      for (const [id, bit] of THROTTLE_BITS) if (gpu.values.get(id) === 1) value += bit
      readings.push({ series: seriesOf(mask, place), value })
    }
    for (const mig of gpu.migs) put(mig, { ...place, gi: String(mig.gi), ci: String(mig.ci) }, readings, gaps)
    return { readings, gaps }
  }
}
