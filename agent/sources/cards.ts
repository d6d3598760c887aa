// GPUs of AMD, Intel and Jetson boards, from the kernel's files. A host without any costs one look at /sys/class/drm a minute; with some, each maker's are read by a child of its own.
import { gpuMemoryMetrics } from '../attribution/gpu-memory.ts'
import { seesAllProcesses } from '../attribution/host-pids.ts'
import * as vendors from '../drm/index.ts'
import { defineSource } from './definition.ts'
import { createCardsSource } from './cards/source.ts'
import { gpuSourceMetrics } from './gpu/source.ts'

const collectorMetrics = [...new Set(Object.values(vendors).flatMap(({ collectors }) => collectors.flatMap(({ metrics }) => metrics)))]

export const cards = defineSource({
  id: 'cards',
  metrics: [...collectorMetrics, ...gpuSourceMetrics, ...gpuMemoryMetrics],
  needs: ['config', 'childEntry', 'identify', 'nvml', 'latest', 'connectInside'],
  create({ config, childEntry, identify, nvml, latest, connectInside }) {
    if (config.gpu.source === 'off' || config.simulate.scenario !== 'off') return undefined
    const seesAll = seesAllProcesses(config.host.proc_root)
    return createCardsSource({
      roots: { sys: config.host.sys_root, proc: config.host.proc_root },
      integrated: config.gpu.integrated,
      nvidia: () => ({
        state: nvml.get(),
        indices: latest.inventory.gpus().flatMap(({ index, vendor }) => (vendor === undefined || vendor === 'nvidia' ? [index] : [])),
      }),
      connects: (connect) => connectInside.set(connect),
      sampler: {
        childEntry,
        libraries: [],
        peakHz: config.gpu.peak_hz,
        deadlineMs: config.gpu.deadline_ms,
        collectorMetrics,
        identify,
        ...(seesAll === undefined ? {} : { seesAllProcesses: seesAll }),
      },
    })
  },
})
