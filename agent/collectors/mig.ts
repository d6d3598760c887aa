// MIG: whether it is on, and which instances there are. Their memory, processes and GPM ratios come from those collectors.
import { gpuMigEnabled, gpuMigInfo, gpuMigMultiprocessors } from '../metrics/mig.ts'
import { LAYOUTS } from '../nvml/layouts.ts'
import { makeSeries } from '../model/series.ts'
import type { Collector } from './collector.ts'
import { all, gauge } from './parts/gauges.ts'

export const mig: Collector = {
  id: 'mig',
  rate: 'slow',
  metrics: [gpuMigEnabled, gpuMigInfo, gpuMigMultiprocessors],
  attach: (device) => ({
    read: all([
      gauge(device.query('nvmlDeviceGetMigMode', [], ['u32', 'u32']), gpuMigEnabled, device.labels),
      ...device.mig.flatMap((instance) => {
        const info = makeSeries(gpuMigInfo, { ...instance.labels, mig_uuid: instance.uuid, name: instance.name })
        return [
          gauge(instance.struct('nvmlDeviceGetAttributes_v2', LAYOUTS.nvmlDeviceAttributes_t), gpuMigMultiprocessors, instance.labels),
          (out: Parameters<ReturnType<typeof gauge>>[0]) => out.reading(info, 1),
        ]
      }),
    ]),
  }),
}
