// The PCIe link as it is now, and its replays. Idle GPUs drop to a lower generation: compare the width, not the generation, with the highest.
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmCounter, renamed } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

const link = (what: string, help: string) => defineMetric({ name: `warpwatch_gpu_pcie_link_${what}`, kind: 'gauge', unit: '1', help, labels: GPU_LABELS })
export const pcieLinkGeneration = link('generation', 'PCIe generation of the link now; lower when the GPU is idle.')
export const pcieLinkWidth = link('width', 'PCIe lanes of the link now.')
export const pcieLinkGenerationMax = link('generation_max', 'Highest PCIe generation of GPU and slot together.')
export const pcieLinkWidthMax = link('width_max', 'Most PCIe lanes of GPU and slot together.')
export const pcieReplays = defineMetric({
  name: 'warpwatch_gpu_pcie_replay_total',
  kind: 'counter',
  unit: '{replay}',
  help: 'Packets that had to be sent again over PCIe; a rise points at the slot, the riser or the board.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmCounter('DCGM_FI_DEV_PCIE_REPLAY_COUNTER', 'Total number of PCIe retries.'), 'DCGM_FI_DEV_PCIE_REPLAY_TOTAL'),
})

export const pcieLink: Collector = {
  id: 'pcie-link',
  rate: 'slow',
  metrics: [pcieLinkGeneration, pcieLinkWidth, pcieLinkGenerationMax, pcieLinkWidthMax, pcieReplays],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetCurrPcieLinkGeneration'), pcieLinkGeneration, device.labels),
      gauge(device.query('nvmlDeviceGetCurrPcieLinkWidth'), pcieLinkWidth, device.labels),
      gauge(device.query('nvmlDeviceGetMaxPcieLinkGeneration'), pcieLinkGenerationMax, device.labels),
      gauge(device.query('nvmlDeviceGetMaxPcieLinkWidth'), pcieLinkWidthMax, device.labels),
      gauge(device.query('nvmlDeviceGetPcieReplayCounter'), pcieReplays, device.labels),
    ]),
  }),
}
