// The fall-back for GPUs: nvidia-smi, where the configuration asks for it or NVML cannot be used.
import { gpuMemoryMetrics } from '../attribution/gpu-memory.ts'
import { seesAllProcesses } from '../attribution/host-pids.ts'
import * as collectors from '../collectors/index.ts'
import { nvidiaSmiCommands } from '../lib/wsl.ts'
import { gpuSampleAgeSeconds } from '../metrics/gpu-identity.ts'
import { createFiles } from '../drm/files.ts'
import { onlyOtherMakers } from './cards/choose.ts'
import { defineSource } from './definition.ts'
import { createNvidiaSmiSource } from './nvidia-smi/source.ts'

const collectorMetrics = Object.values(collectors).flatMap((collector) => collector.metrics)

export const nvidiaSmi = defineSource({
  id: 'nvidia-smi',
  metrics: [...collectorMetrics, ...gpuMemoryMetrics, gpuSampleAgeSeconds],
  needs: ['config', 'identify', 'nvml'],
  create({ config, identify, nvml }) {
    const { source, nvidia_smi: command } = config.gpu
    if ((source !== 'nvidia-smi' && source !== 'auto') || config.simulate.scenario !== 'off') return undefined
    const { sys_root: sys, proc_root: proc } = config.host
    if (source === 'auto' && nvml.get() === 'off' && onlyOtherMakers(createFiles(), { sys, proc })) return undefined
    const seesAll = seesAllProcesses(config.host.proc_root)
    return createNvidiaSmiSource({
      commands: nvidiaSmiCommands(command),
      identify,
      ...(seesAll === undefined ? {} : { seesAllProcesses: seesAll }),
      metrics: collectorMetrics,
      active: () => source === 'nvidia-smi' || nvml.get() === 'down',
    })
  },
})
