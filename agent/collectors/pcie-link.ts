// The PCIe link as it is now, and its replays. Idle GPUs drop to a lower generation: compare the width, not the generation, with the highest.
import { gpuPcieLinkGeneration, gpuPcieLinkGenerationMax, gpuPcieLinkWidth, gpuPcieLinkWidthMax, gpuPcieReplayTotal } from '../metrics/gpu-links.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

export const pcieLink: Collector = {
  id: 'pcie-link',
  rate: 'slow',
  metrics: [gpuPcieLinkGeneration, gpuPcieLinkWidth, gpuPcieLinkGenerationMax, gpuPcieLinkWidthMax, gpuPcieReplayTotal],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetCurrPcieLinkGeneration'), gpuPcieLinkGeneration, device.labels),
      gauge(device.query('nvmlDeviceGetCurrPcieLinkWidth'), gpuPcieLinkWidth, device.labels),
      gauge(device.query('nvmlDeviceGetMaxPcieLinkGeneration'), gpuPcieLinkGenerationMax, device.labels),
      gauge(device.query('nvmlDeviceGetMaxPcieLinkWidth'), gpuPcieLinkWidthMax, device.labels),
      gauge(device.query('nvmlDeviceGetPcieReplayCounter'), gpuPcieReplayTotal, device.labels),
    ]),
  }),
}
