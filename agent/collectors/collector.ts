// What a collector is: one aspect of a GPU, read through NVML in the sampler child. Imports no native code.
import type { Device } from '../nvml/device.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Gap } from '../model/reading.ts'
import type { Labels, Series } from '../model/series.ts'
import type { ProcessRow, Rate } from '../sampler/protocol.ts'

export type CollectorOutput = {
  readonly reading: (series: Series, value: number) => void
  readonly gap: (metric: MetricDef, labels: Labels, reason: Gap['reason'], code?: number, detail?: string) => void
  readonly process: (row: ProcessRow) => void
}

/** Reads one GPU once. Throws nothing: what fails becomes a gap. */
export type ReadGpu = (out: CollectorOutput) => void

export type Collector = {
  readonly id: string
  readonly rate: Rate
  readonly metrics: readonly MetricDef[]
  /** Called once for each GPU of an enumeration; undefined when this GPU can have nothing of it and no gap is worth a word. */
  readonly attach: (device: Device) => ReadGpu | undefined
}
