// The GPUs of this host as the newest readings tell them.
import { gpuInfo } from '../metrics/gpu-identity.ts'
import { gpuMigInfo } from '../metrics/mig.ts'
import type { LatestStore } from '../store/latest.ts'
import type { HostGpu } from './definition.ts'

/** The GPUs of the host by their newest gpu_info. */
export function hostGpus(latest: LatestStore): readonly HostGpu[] {
  const migs = latest.of(gpuMigInfo.name).map(({ series }) => series.labels)
  return latest
    .of(gpuInfo.name)
    .map(({ series: { labels } }) => ({
      index: Number(labels['gpu']),
      uuid: labels['uuid'] ?? '',
      ...(labels['minor'] === undefined ? {} : { minor: Number(labels['minor']) }),
      mig: migs.flatMap((mig) => (mig['uuid'] === labels['uuid'] && mig['mig_uuid'] !== undefined ? [mig['mig_uuid']] : [])),
    }))
    .sort((a, b) => a.index - b.index)
}
