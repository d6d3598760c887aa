// What each GPU does now, and which of them only spin, from the newest readings.
import { createSpinWatch, type GpuLoad, type SpinWatch } from '../../hang/notice/spin.ts'
import { gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuSpinning } from '../../metrics/gpu-spinning.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import type { makeSeries } from '../../model/series.ts'
import type { LatestStore } from '../../store/latest.ts'

export type GpuState = GpuLoad & { readonly uuid: string; readonly gpu: string; readonly spins: boolean | undefined; readonly worked: number }
export type GpuLoads = { readonly see: (t: number) => ReadonlyMap<string, GpuState> }

const MOST_GPUS = 1_024

type Field = 'busy' | 'memory' | 'watts' | 'limitWatts'
type Figures = Partial<Record<Field, number>> & { gpu?: string | undefined }
const FIELDS: ReadonlyMap<MetricDef, Field> = new Map<MetricDef, Field>([
  [gpuUtilizationRatio, 'busy'],
  [gpuMemoryUtilizationRatio, 'memory'],
  [gpuPowerWatts, 'watts'],
  [gpuPowerLimitWatts, 'limitWatts'],
])

export function createGpuLoads(latest: Pick<LatestStore, 'groups'>): GpuLoads {
  const watches = new Map<string, SpinWatch>()
  const watchOf = (uuid: string): SpinWatch => {
    let watch = watches.get(uuid)
    if (watch === undefined) {
      if (watches.size >= MOST_GPUS) for (const oldest of watches.keys()) if (watches.delete(oldest)) break
      watches.set(uuid, (watch = createSpinWatch()))
    }
    return watch
  }
  /** What a whole GPU says: all of it in one pass, as most readings of a host are about something else. */
  const figures = (): ReadonlyMap<string, Figures> => {
    const found = new Map<string, Figures>()
    for (const { readings } of latest.groups())
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        const field = reading === undefined ? undefined : FIELDS.get(reading.series.metric)
        if (reading === undefined || field === undefined) continue
        const { uuid, gpu, gi } = reading.series.labels
        if (uuid === undefined || gi !== undefined) continue
        let of = found.get(uuid)
        if (of === undefined) found.set(uuid, (of = {}))
        of[field] = reading.value
        if (field === 'busy') of.gpu = gpu
      }
    return found
  }

  return {
    see(t) {
      const found = new Map<string, GpuState>()
      for (const [uuid, { busy, memory: traffic, watts, limitWatts, gpu }] of figures()) {
        if (busy === undefined || gpu === undefined || traffic === undefined) continue
        const load: GpuLoad = { busy, memory: traffic, watts, limitWatts }
        const watch = watchOf(uuid)
        const said = watch.see(t, load)
        found.set(uuid, { ...load, memory: said?.spins === true ? said.memory : traffic, uuid, gpu, spins: said?.spins, worked: watch.worked() })
      }
      return found
    },
  }
}

export const spinReadings = (states: Iterable<GpuState>, seriesFor: typeof makeSeries): readonly Reading[] =>
  [...states].flatMap(({ uuid, gpu, spins }) => (spins === undefined ? [] : [{ series: seriesFor(gpuSpinning, { gpu, uuid }), value: Number(spins) }]))
