// NVLink: which links are up, bytes over all of them, and their errors.
import { INVALID_ARGUMENT, NOT_SUPPORTED, SUCCESS, failureOf, isPermanent } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { defineMetric } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Attached, Collector, ReadGpu } from './collector.ts'
import { dcgmCounter, dcgmGauge } from './parts/dcgm.ts'
import { fieldGauges, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'
import { createRate } from './parts/rate.ts'

export const nvlinkActive = defineMetric({
  name: 'warpwatch_gpu_nvlink_active',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the NVLink is up (1) or down (0).',
  labels: [...GPU_LABELS, 'link'],
  history: false,
})
export const nvlinkBytes = defineMetric({
  name: 'warpwatch_gpu_nvlink_bytes_total',
  kind: 'counter',
  unit: 'By',
  help: 'Payload bytes over all NVLinks of the GPU; tx leaves it, rx reaches it.',
  labels: [...GPU_LABELS, 'direction'],
})
export const nvlinkThroughput = defineMetric({
  name: 'warpwatch_gpu_nvlink_throughput_bytes_per_second',
  kind: 'gauge',
  unit: 'By/s',
  help: 'Payload bytes per second over all NVLinks, both directions together, since the previous reading.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [dcgmCounter('DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL', 'Total number of NVLink bandwidth counters for all lanes.', 1e-6)],
    current: [dcgmGauge('DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND', 'NVLink throughput of all lanes (in bytes per second).')],
  },
})
const perDirection = (direction: 'tx' | 'rx', help: string) =>
  dcgmGauge(`DCGM_FI_PROF_NVLINK_${direction === 'tx' ? 'TX' : 'RX'}_BYTES`, help, 1, { direction })
export const nvlinkDirectionThroughput = defineMetric({
  name: 'warpwatch_gpu_nvlink_direction_bytes_per_second',
  kind: 'gauge',
  unit: 'By/s',
  help: 'Payload bytes per second over all NVLinks since the previous reading; tx leaves the GPU, rx reaches it.',
  labels: [...GPU_LABELS, 'direction'],
  dcgm: {
    classic: [
      perDirection('tx', 'The rate of data transmitted over NVLink, not including protocol headers, in bytes per second.'),
      perDirection('rx', 'The rate of data received over NVLink, not including protocol headers, in bytes per second.'),
    ],
  },
  history: false,
})
const dcgmError = (name: string, help: string, type: string) => dcgmCounter(name, help, 1, { type })
export const nvlinkErrors = defineMetric({
  name: 'warpwatch_gpu_nvlink_errors_total',
  kind: 'counter',
  unit: '{error}',
  help: 'NVLink errors of all links by type (Hopper and older).',
  labels: [...GPU_LABELS, 'type'],
  dcgm: {
    classic: [
      dcgmError('DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL', 'Total number of NVLink flow-control CRC errors.', 'crc_flit'),
      dcgmError('DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL', 'Total number of NVLink data CRC errors.', 'crc_data'),
      dcgmError('DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL', 'Total number of NVLink retries.', 'replay'),
      dcgmError('DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL', 'Total number of NVLink recovery errors.', 'recovery'),
    ],
  },
})

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
    ...BYTES.map(({ direction }, at) => ({ metric: nvlinkBytes, labels: { ...device.labels, direction }, at, scale: KIB })),
    ...ERRORS.map(({ type }, at) => ({ metric: nvlinkErrors, labels: { ...device.labels, type }, at: at + BYTES.length })),
  ])
  const throughput = makeSeries(nvlinkThroughput, device.labels)
  const directions = BYTES.map(({ direction }) => ({ series: makeSeries(nvlinkDirectionThroughput, { ...device.labels, direction }), rate: createRate() }))

  /** Link numbers have no gaps; the first that the driver refuses ends them. */
  const discover = (): readonly ReadGpu[] => {
    const found: ReadGpu[] = []
    for (let link = 0; link < MOST_LINKS; link++) {
      const query = device.query('nvmlDeviceGetNvLinkState', [link])
      const code = query.ask()
      if (code === INVALID_ARGUMENT || isPermanent(code)) break
      found.push(gauge(query, nvlinkActive, { ...device.labels, link: String(link) }))
    }
    return found
  }
  return {
    read: (out, nowMs) => {
      const code = first.ask()
      if (code !== SUCCESS && links === undefined) {
        // A GPU without NVLink: one gap says it all.
        out.gap(nvlinkActive, device.labels, failureOf(first.name, code === INVALID_ARGUMENT ? NOT_SUPPORTED : code))
        return
      }
      links ??= discover()
      for (const read of links) read(out, nowMs)
      counted(out, nowMs)
      const told = counters.codes[0] === SUCCESS && counters.codes[1] === SUCCESS
      if (!told) return directions.forEach(({ rate }) => rate.forget())
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
  metrics: [nvlinkActive, nvlinkBytes, nvlinkThroughput, nvlinkDirectionThroughput, nvlinkErrors],
  attach,
}
