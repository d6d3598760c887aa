// The GPUs of this host through NVML: which metrics they have, and when the configuration wants them.
import { gpuMemoryMetrics } from '../attribution/gpu-memory.ts'
import { seesAllProcesses } from '../attribution/host-pids.ts'
import * as collectors from '../collectors/index.ts'
import { nvmlLibraries } from '../lib/wsl.ts'
import type { SourceDefinition } from './definition.ts'
import { gpuSourceMetrics } from './gpu/metrics.ts'
import { createGpuSource } from './gpu/source.ts'

const collectorMetrics = Object.values(collectors).flatMap((collector) => collector.metrics)

export const gpu: SourceDefinition = {
  id: 'gpu',
  metrics: [...collectorMetrics, ...gpuSourceMetrics, ...gpuMemoryMetrics],
  create({ config, childEntry, identify, nvml }) {
    if (config.gpu.source === 'off' || config.gpu.source === 'nvidia-smi' || config.simulate.scenario !== 'off') return undefined
    nvml.set('starting')
    const seesAll = seesAllProcesses(config.host.proc_root)
    return createGpuSource({
      childEntry,
      libraries: nvmlLibraries(config.gpu.library),
      peakHz: config.gpu.peak_hz,
      deadlineMs: config.gpu.deadline_ms,
      collectorMetrics,
      identify,
      ...(seesAll === undefined ? {} : { seesAllProcesses: seesAll }),
      onState: (state) => nvml.set(state.kind),
    })
  },
}
