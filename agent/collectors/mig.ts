// MIG: whether it is on, and which instances there are. Their memory, processes and GPM ratios come from those collectors.
import { LAYOUTS } from '../nvml/layouts.ts'
import { defineMetric } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'
import { GPU_LABELS, MIG_LABELS } from './parts/labels.ts'

export const migEnabled = defineMetric({
  name: 'warpwatch_gpu_mig_enabled',
  kind: 'gauge',
  unit: '1',
  help: 'Whether MIG is on (1) or off (0).',
  labels: GPU_LABELS,
  history: false,
})
export const migInfo = defineMetric({
  name: 'warpwatch_gpu_mig_info',
  kind: 'info',
  unit: '1',
  help: 'Always 1; one series for each MIG instance.',
  labels: [...MIG_LABELS, 'mig_uuid', 'name'],
  history: false,
})
export const migMultiprocessors = defineMetric({
  name: 'warpwatch_gpu_mig_multiprocessors',
  kind: 'gauge',
  unit: '1',
  help: 'Multiprocessors of the MIG instance.',
  labels: MIG_LABELS,
  history: false,
})

export const mig: Collector = {
  id: 'mig',
  rate: 'slow',
  metrics: [migEnabled, migInfo, migMultiprocessors],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetMigMode', [], ['u32', 'u32']), migEnabled, device.labels),
      ...device.mig.flatMap((instance) => {
        const info = makeSeries(migInfo, { ...instance.labels, mig_uuid: instance.uuid, name: instance.name })
        return [
          gauge(instance.struct('nvmlDeviceGetAttributes_v2', LAYOUTS.nvmlDeviceAttributes_t), migMultiprocessors, instance.labels),
          (out: Parameters<ReturnType<typeof gauge>>[0]) => out.reading(info, 1),
        ]
      }),
    ]),
  }),
}
