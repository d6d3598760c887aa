// NVLink: which links are up, bytes over all of them, and their errors.
import {
  gpuNvlinkActive,
  gpuNvlinkBytesTotal,
  gpuNvlinkDirectionBytesPerSecond,
  gpuNvlinkErrorsTotal,
  gpuNvlinkThroughputBytesPerSecond,
} from '../metrics/gpu-links.ts'
import { INVALID_ARGUMENT, NOT_SUPPORTED, SUCCESS, failureOf, isPermanent } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Attached, Collector, ReadGpu } from './collector.ts'
import { fieldGauges, gauge } from './parts/gauges.ts'
import { createRate } from './parts/rate.ts'

/** NVML_NVLINK_MAX_LINKS of header 13.3. */
const MOST_LINKS = 36
/** NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX: KiB, with the scope "all links". */
const ALL_LINKS = 0xffffffff
const BYTES = [
  { id: 138, scope: ALL_LINKS, direction: 'tx' },
  { id: 139, scope: ALL_LINKS, direction: 'rx' },
] as const
const ERRORS = [
  { id: 38, type: 'crc_flit' },
  { id: 45, type: 'crc_data' },
  { id: 52, type: 'replay' },
  { id: 59, type: 'recovery' },
] as const
const KIB = 1024

function attach(device: Device): Attached {
  let links: readonly ReadGpu[] | undefined
  const first = device.query('nvmlDeviceGetNvLinkState', [0])
  const counters = device.fields([...BYTES, ...ERRORS])
  const counted = fieldGauges(counters, [
    ...BYTES.map(({ direction }, at) => ({ metric: gpuNvlinkBytesTotal, labels: { ...device.labels, direction }, at, scale: KIB })),
    ...ERRORS.map(({ type }, at) => ({ metric: gpuNvlinkErrorsTotal, labels: { ...device.labels, type }, at: at + BYTES.length })),
  ])
  const throughput = makeSeries(gpuNvlinkThroughputBytesPerSecond, device.labels)
  const directions = BYTES.map(({ direction }) => ({
    series: makeSeries(gpuNvlinkDirectionBytesPerSecond, { ...device.labels, direction }),
    rate: createRate(),
  }))

  /** Link numbers have no gaps; the first that the driver refuses ends them. */
  const discover = (): readonly ReadGpu[] => {
    const found: ReadGpu[] = []
    for (let link = 0; link < MOST_LINKS; link++) {
      const query = device.query('nvmlDeviceGetNvLinkState', [link])
      const code = query.ask()
      if (code === INVALID_ARGUMENT || isPermanent(code)) break
      found.push(gauge(query, gpuNvlinkActive, { ...device.labels, link: String(link) }))
    }
    return found
  }
  return {
    read: (out, nowMs) => {
      const code = first.ask()
      if (code !== SUCCESS && links === undefined) {
        // A GPU without NVLink: one gap says it all.
        out.gap(gpuNvlinkActive, device.labels, failureOf(first.name, code === INVALID_ARGUMENT ? NOT_SUPPORTED : code))
        return
      }
      links ??= discover()
      for (const read of links) read(out, nowMs)
      counted(out, nowMs)
      const isRead = counters.codes[0] === SUCCESS && counters.codes[1] === SUCCESS
      if (!isRead) return directions.forEach(({ rate }) => rate.forget())
      let sum: number | undefined = 0
      for (const [at, { series, rate }] of directions.entries()) {
        const perSecond = rate.next((counters.values[at] ?? 0) * KIB, nowMs)
        if (perSecond !== undefined) out.reading(series, perSecond)
        sum = perSecond === undefined || sum === undefined ? undefined : sum + perSecond
      }
      if (sum !== undefined) out.reading(throughput, sum)
    },
  }
}

export const nvlink: Collector = {
  id: 'nvlink',
  rate: 'slow',
  metrics: [gpuNvlinkActive, gpuNvlinkBytesTotal, gpuNvlinkThroughputBytesPerSecond, gpuNvlinkDirectionBytesPerSecond, gpuNvlinkErrorsTotal],
  attach,
}
