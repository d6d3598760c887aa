// What a collector is: one aspect of a GPU, read through NVML in the sampler child. Imports no native code.
import type { Failure } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Labels, Series } from '../model/series.ts'
import type { ProcessLoad, ProcessRow, Rate } from '../sampler/protocol.ts'

export type CollectorOutput = {
  /** A value that is not finite, or negative where that cannot be, becomes a gap. */
  readonly reading: (series: Series, value: number) => void
  /** `labels` are the same object each time, as are equal failures: that is how an unchanged gap is known. */
  readonly gap: (metric: { readonly name: string }, labels: Labels, failure: Failure) => void
  /** All processes of the GPU at once; not called when they could not be read. */
  readonly processes: (rows: readonly ProcessRow[]) => void
  /** How busy each process kept the GPU since the last look; not called when that could not be read. */
  readonly loads: (loads: readonly ProcessLoad[]) => void
}

/** Reads one GPU once. Throws nothing: what fails becomes a gap. `nowMs` is a monotonic clock. */
export type ReadGpu = (out: CollectorOutput, nowMs: number) => void

export type Attached = {
  readonly read: ReadGpu
  /** Called between the readings, several times a second, by collectors that look for peaks. */
  readonly sample?: (nowMs: number) => void
}

export type Collector = {
  readonly id: string
  readonly rate: Rate
  readonly metrics: readonly MetricDef[]
  /** Called once for each GPU of an enumeration; undefined when this GPU can have nothing of it and no gap is worth a word. */
  readonly attach: (device: Device) => Attached | undefined
}
