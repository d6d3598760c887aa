// Bytes over PCIe per second, from byte counters (R555 and newer) or GPM (Hopper and newer). nvmlDeviceGetPcieThroughput blocks for 20 ms and is never called.
import { gpuPcieThroughputBytesPerSecond } from '../metrics/gpu-links.ts'
import { SUCCESS, failureOf, isPermanent } from '../nvml/codes.ts'
import { NOT_YET } from '../nvml/device.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Attached, Collector, ReadGpu } from './collector.ts'
import { createRate } from './parts/rate.ts'

/** NVML_FI_DEV_PCIE_COUNT_TX_BYTES and RX_BYTES; NVML_GPM_METRIC_PCIE_TX_PER_SEC and RX_PER_SEC in MiB/s. */
const WAYS = [
  { direction: 'tx', field: 197, gpm: 20 },
  { direction: 'rx', field: 198, gpm: 21 },
] as const
const MIB = 1024 ** 2

function attach(device: Device): Attached {
  const ways = WAYS.map(({ direction }) => {
    const labels = { ...device.labels, direction }
    return { labels, series: makeSeries(gpuPcieThroughputBytesPerSecond, labels), rate: createRate() }
  })
  const counters = device.fields(WAYS.map(({ field }) => ({ id: field })))
  const gpm = device.gpm(WAYS.map((way) => way.gpm))
  const fromGpm: ReadGpu = (out) => {
    const code = gpm.ask()
    if (code === NOT_YET) return
    for (const [at, { labels, series }] of ways.entries()) {
      if (code === SUCCESS && gpm.codes[at] === SUCCESS) out.reading(series, (gpm.values[at] ?? Number.NaN) * MIB)
      // The counters' failure is the one to report: GPM is only their stand-in.
      else out.gap(gpuPcieThroughputBytesPerSecond, labels, counters.failure(at))
    }
  }
  return {
    read: (out, nowMs) => {
      const code = counters.ask()
      if (code === SUCCESS && ways.every((_, at) => isPermanent(counters.codes[at] ?? SUCCESS))) return fromGpm(out, nowMs)
      for (const [at, { labels, series, rate }] of ways.entries()) {
        if (code !== SUCCESS) out.gap(gpuPcieThroughputBytesPerSecond, labels, failureOf('nvmlDeviceGetFieldValues', code))
        else if (counters.codes[at] !== SUCCESS) out.gap(gpuPcieThroughputBytesPerSecond, labels, counters.failure(at))
        else {
          const perSecond = rate.next(counters.values[at] ?? 0, nowMs)
          if (perSecond !== undefined) out.reading(series, perSecond)
          continue
        }
        rate.forget()
      }
      return undefined
    },
  }
}

export const pcieThroughput: Collector = { id: 'pcie-throughput', rate: 'slow', metrics: [gpuPcieThroughputBytesPerSecond], attach }
