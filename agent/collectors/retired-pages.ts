// Pages of memory taken out of use for errors (up to Volta and Turing; newer GPUs remap rows).
import { gpuRetiredPages, gpuRetiredPagesPending } from '../metrics/gpu-errors.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

export const retiredPages: Collector = {
  id: 'retired-pages',
  rate: 'slow',
  metrics: [gpuRetiredPages, gpuRetiredPagesPending],
  attach: (device) => ({
    read: all([
      gauge(device.retiredPages(0), gpuRetiredPages, { ...device.labels, cause: 'single_bit' }),
      gauge(device.retiredPages(1), gpuRetiredPages, { ...device.labels, cause: 'double_bit' }),
      gauge(device.query('nvmlDeviceGetRetiredPagesPendingStatus'), gpuRetiredPagesPending, device.labels),
    ]),
  }),
}
