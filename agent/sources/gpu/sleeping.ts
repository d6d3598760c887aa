// What is said of a GPU that sleeps, or that is left alone so that it can: idle, who it is and how much memory it has; the rest are gaps.
import { gpuAsleep, gpuInfo } from '../../metrics/gpu-identity.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuTemperatureCelsius } from '../../metrics/gpu-temperature.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { Sample } from '../../sampler/child-handle.ts'
import type { GpuRegistry, KnownGpu } from './registry.ts'
import type { RuntimeSleep } from './runtime-sleep.ts'

/** These do not change while it sleeps. */
const LASTING: ReadonlySet<string> = new Set([gpuInfo.name, gpuMemoryTotalBytes.name])
const UNREAD = [gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuPowerWatts, gpuTemperatureCelsius, processGpuMemoryBytes] as const

export const asleepText = 'the GPU is asleep (power/runtime_status), or not in use and left alone so that it can sleep; NVML would keep it awake'

export type SleepingOptions = {
  readonly sleep: RuntimeSleep
  readonly registry: Pick<GpuRegistry, 'all'>
  /** Takes all back that a GPU said. */
  readonly silence: (gpu: KnownGpu, t: number) => void
  readonly emit: (t: number, group: string, readings: readonly Reading[], gaps: readonly Gap[]) => void
}
export type Sleeping = {
  readonly mayRead: () => boolean
  /** Remembers what lasts, and whether the GPU is in use. */
  readonly sampled: (sample: Sample) => void
  /** Each second in which NVML is closed. */
  readonly tell: (t: number) => void
}

export function createSleeping({ sleep, registry, silence, emit }: SleepingOptions): Sleeping {
  const lasting = new Map<string, Map<string, Reading>>()
  const now = (): number => performance.now()
  const isWhole = ({ series }: Reading): boolean => series.labels['gi'] === undefined
  return {
    mayRead: () => sleep.mayRead(now()),
    sampled({ sample, readings }) {
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading === undefined) continue
        const { name } = reading.series.metric
        if (!LASTING.has(name) || !isWhole(reading)) continue
        const known = lasting.get(sample.uuid) ?? new Map<string, Reading>()
        lasting.set(sample.uuid, known.set(name, reading))
      }
      if (sample.rate !== 'fast') return
      const load = readings.find((reading) => reading.series.metric.name === gpuUtilizationRatio.name && isWhole(reading))?.value ?? 0
      const rows = sample.processes ?? []
      sleep.sampled(
        now(),
        load > 0 || rows.some(({ type }) => type !== 'G'),
        rows.map(({ pid }) => pid),
      )
    },
    tell(t) {
      const suspended = sleep.suspended()
      const known = [...registry.all()]
      for (const gpu of known) {
        const fast = `${gpu.key}/fast`
        gpu.gap = undefined
        if ([...gpu.groups].some((group) => group !== fast)) silence(gpu, t)
        gpu.groups.add(fast)
        const readings = [
          { series: makeSeries(gpuAsleep, gpu.labels), value: suspended.length > 0 ? 1 : 0 },
          { series: makeSeries(gpuUtilizationRatio, gpu.labels), value: 0 },
          ...(lasting.get(gpu.uuid ?? '')?.values() ?? []),
        ]
        emit(
          t,
          fast,
          readings,
          UNREAD.map((metric) => ({ metric: metric.name, labels: gpu.labels, reason: 'not_supported', detail: asleepText })),
        )
      }
      const unknown: Gap = { metric: 'gpu', labels: {}, reason: 'not_supported', detail: `${suspended.join(', ')}: ${asleepText}` }
      emit(t, 'nvml', [], known.length > 0 ? [] : [unknown])
      emit(t, 'age', [], [])
    },
  }
}
