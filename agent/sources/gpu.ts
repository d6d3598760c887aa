// The GPUs of this host through NVML: which metrics they have, when the configuration wants them, and the word that it does not.
import { gpuMemoryMetrics } from '../attribution/gpu-memory.ts'
import { seesAllProcesses } from '../attribution/host-pids.ts'
import * as collectors from '../collectors/index.ts'
import { nvmlLibraries } from '../lib/wsl.ts'
import { gpuAsleep } from '../metrics/gpu-identity.ts'
import type { Gap } from '../model/reading.ts'
import type { Source } from '../model/source.ts'
import { createFiles } from '../drm/files.ts'
import { onlyOtherMakers } from './cards/choose.ts'
import { defineSource } from './definition.ts'
import { showsDriver } from './gpu/driver-signs.ts'
import { createGpuSource, gpuSourceMetrics } from './gpu/source.ts'
import { createRuntimeSleep } from './gpu/runtime-sleep.ts'
import { hostMemoryOf } from './gpu/unified-memory.ts'

const collectorMetrics = Object.values(collectors).flatMap((collector) => collector.metrics)

const SAY_OFF_MS = 10_000

/** That nobody looks is told as a gap: without one a reader cannot tell it from a host without a driver. */
const switchedOff: Source = {
  id: 'gpu',
  metrics: [],
  start({ emit, every }) {
    const gaps: readonly Gap[] = [{ metric: 'gpu', labels: {}, reason: 'not_supported', detail: 'gpu.source is off in the configuration' }]
    const say = (t: number): void => emit({ type: 'scrape', t, source: 'gpu', group: 'off', ttlMs: 3 * SAY_OFF_MS, durationMs: 0, readings: [], gaps })
    every(SAY_OFF_MS, say)
    say(Date.now())
  },
  stop: () => {},
}

export const gpu = defineSource({
  id: 'gpu',
  metrics: [...collectorMetrics, ...gpuSourceMetrics, ...gpuMemoryMetrics, gpuAsleep],
  needs: ['config', 'childEntry', 'identify', 'nvml', 'connectInside'],
  create({ config, childEntry, identify, nvml, connectInside }) {
    if (config.gpu.source === 'nvidia-smi' || config.simulate.scenario !== 'off') return undefined
    if (config.gpu.source === 'off') return switchedOff
    const { sys_root: sys, proc_root: proc } = config.host
    if (config.gpu.source === 'auto' && config.gpu.library === '' && onlyOtherMakers(createFiles(), { sys, proc })) return undefined
    nvml.set('starting')
    const seesAll = seesAllProcesses(config.host.proc_root)
    const source = createGpuSource({
      childEntry,
      libraries: nvmlLibraries(config.gpu.library),
      ...(config.gpu.library === '' ? { mayWork: () => showsDriver({ sys, proc }) } : {}),
      peakHz: config.gpu.peak_hz,
      deadlineMs: config.gpu.deadline_ms,
      collectorMetrics,
      identify,
      hostMemory: hostMemoryOf(proc),
      sleep: createRuntimeSleep(createFiles(), { sys, proc }),
      ...(seesAll === undefined ? {} : { seesAllProcesses: seesAll }),
      onState: (state) => nvml.set(state.kind),
    })
    connectInside.set(source.connect)
    return source
  },
})
