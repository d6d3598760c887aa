// Pages of memory taken out of use for errors (up to Volta and Turing; newer GPUs remap rows).
import { defineMetric } from '../model/metric.ts'
import type { Collector } from './collector.ts'
import { dcgmCounter } from './parts/dcgm.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS } from './parts/labels.ts'

export const retiredPagesMetric = defineMetric({
  name: 'warpwatch_gpu_retired_pages',
  kind: 'gauge',
  unit: '{page}',
  help: 'Pages retired for several single-bit errors or for one double-bit error.',
  labels: [...GPU_LABELS, 'cause'],
  dcgm: {
    classic: [
      dcgmCounter('DCGM_FI_DEV_RETIRED_SBE', 'Total number of retired pages due to single-bit errors.', 1, { cause: 'single_bit' }),
      dcgmCounter('DCGM_FI_DEV_RETIRED_DBE', 'Total number of retired pages due to double-bit errors.', 1, { cause: 'double_bit' }),
    ],
  },
})
export const retiredPagesPending = defineMetric({
  name: 'warpwatch_gpu_retired_pages_pending',
  kind: 'gauge',
  unit: '1',
  help: 'Whether pages wait for a reset to be retired (1).',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmCounter('DCGM_FI_DEV_RETIRED_PENDING', 'Total number of pages pending retirement.')] },
})

export const retiredPages: Collector = {
  id: 'retired-pages',
  rate: 'slow',
  metrics: [retiredPagesMetric, retiredPagesPending],
  attach: (device) => ({
    read: all([
      gauge(device.retiredPages(0), retiredPagesMetric, { ...device.labels, cause: 'single_bit' }),
      gauge(device.retiredPages(1), retiredPagesMetric, { ...device.labels, cause: 'double_bit' }),
      gauge(device.query('nvmlDeviceGetRetiredPagesPendingStatus'), retiredPagesPending, device.labels),
    ]),
  }),
}
