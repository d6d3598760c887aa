// PCIe and NVLink: the links themselves, bytes over them, and their errors.
import { defineMetric } from '../model/metric.ts'
import { dcgmCounter, dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

const link = (what: string, help: string) =>
  defineMetric({ name: `warpwatch_gpu_pcie_link_${what}`, subject: 'gpu', field: `pcie_link_${what}`, kind: 'gauge', unit: '1', help, labels: GPU_LABELS })
export const gpuPcieLinkGeneration = link('generation', 'PCIe generation of the link now; lower when the GPU is idle.')
export const gpuPcieLinkWidth = link('width', 'PCIe lanes of the link now.')
export const gpuPcieLinkGenerationMax = link('generation_max', 'Highest PCIe generation of GPU and slot together.')
export const gpuPcieLinkWidthMax = link('width_max', 'Most PCIe lanes of GPU and slot together.')
export const gpuPcieReplayTotal = defineMetric({
  name: 'warpwatch_gpu_pcie_replay_total',
  subject: 'gpu',
  field: 'pcie_replay_total',
  kind: 'counter',
  unit: '{replay}',
  help: 'Packets that had to be sent again over PCIe; a rise points at the slot, the riser or the board.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmCounter('DCGM_FI_DEV_PCIE_REPLAY_COUNTER', 'Total number of PCIe retries.'), 'DCGM_FI_DEV_PCIE_REPLAY_TOTAL'),
})
const BYTES = 'bytes transmitted over the PCIe bus - including both protocol headers and data payloads - in bytes per second.'
export const gpuPcieThroughputBytesPerSecond = defineMetric({
  name: 'warpwatch_gpu_pcie_throughput_bytes_per_second',
  subject: 'gpu',
  field: 'pcie_throughput_bytes_per_second',
  kind: 'gauge',
  unit: 'By/s',
  help: 'Bytes per second over PCIe since the previous reading; tx leaves the GPU, rx reaches it.',
  labels: [...GPU_LABELS, 'direction'],
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_PROF_PCIE_TX_BYTES', `The rate of ${BYTES}`, 1, { direction: 'tx' }),
      dcgmGauge('DCGM_FI_PROF_PCIE_RX_BYTES', `The rate of ${BYTES.replace('transmitted', 'received')}`, 1, { direction: 'rx' }),
    ],
  },
})
export const gpuNvlinkActive = defineMetric({
  name: 'warpwatch_gpu_nvlink_active',
  subject: 'gpu',
  field: 'nvlink_active',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the NVLink is up (1) or down (0).',
  labels: [...GPU_LABELS, 'link'],
  history: false,
})
export const gpuNvlinkBytesTotal = defineMetric({
  name: 'warpwatch_gpu_nvlink_bytes_total',
  subject: 'gpu',
  field: 'nvlink_bytes_total',
  kind: 'counter',
  unit: 'By',
  help: 'Payload bytes over all NVLinks of the GPU; tx leaves it, rx reaches it.',
  labels: [...GPU_LABELS, 'direction'],
})
export const gpuNvlinkThroughputBytesPerSecond = defineMetric({
  name: 'warpwatch_gpu_nvlink_throughput_bytes_per_second',
  subject: 'gpu',
  field: 'nvlink_throughput_bytes_per_second',
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
export const gpuNvlinkDirectionBytesPerSecond = defineMetric({
  name: 'warpwatch_gpu_nvlink_direction_bytes_per_second',
  subject: 'gpu',
  field: 'nvlink_direction_bytes_per_second',
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
export const gpuNvlinkErrorsTotal = defineMetric({
  name: 'warpwatch_gpu_nvlink_errors_total',
  subject: 'gpu',
  field: 'nvlink_errors_total',
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
