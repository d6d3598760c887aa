// What each GPU does now, and which of them only spin, from the newest readings.
import { createSpinWatch, type GpuLoad, type SpinWatch } from '../../hang/notice/spin.ts'
import { gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuSpinning } from '../../metrics/gpu-spinning.ts'
import type { Reading } from '../../model/reading.ts'
import type { makeSeries } from '../../model/series.ts'
import type { LatestStore } from '../../store/latest.ts'

export type GpuState = GpuLoad & { readonly uuid: string; readonly gpu: string; readonly spins: boolean | undefined; readonly worked: number }
export type GpuLoads = { readonly see: (t: number) => ReadonlyMap<string, GpuState> }

const MOST_GPUS = 1_024

export function createGpuLoads(latest: Pick<LatestStore, 'of'>): GpuLoads {
  const watches = new Map<string, SpinWatch>()
  const watchOf = (uuid: string): SpinWatch => {
    let watch = watches.get(uuid)
    if (watch === undefined) {
      if (watches.size >= MOST_GPUS) for (const oldest of watches.keys()) if (watches.delete(oldest)) break
      watches.set(uuid, (watch = createSpinWatch()))
    }
    return watch
  }
  const byUuid = (metric: string): ReadonlyMap<string, number> =>
    new Map(
      latest
        .of(metric)
        .flatMap(({ series: { labels }, value }) => (labels['uuid'] === undefined || labels['gi'] !== undefined ? [] : [[labels['uuid'], value] as const])),
    )

  return {
    see(t) {
      const [memory, watts, limits] = [gpuMemoryUtilizationRatio, gpuPowerWatts, gpuPowerLimitWatts].map(({ name }) => byUuid(name))
      const found = new Map<string, GpuState>()
      for (const { series, value: busy } of latest.of(gpuUtilizationRatio.name)) {
        const { uuid, gpu, gi } = series.labels
        const traffic = uuid === undefined ? undefined : memory?.get(uuid)
        if (uuid === undefined || gpu === undefined || gi !== undefined || traffic === undefined) continue
        const load: GpuLoad = { busy, memory: traffic, watts: watts?.get(uuid), limitWatts: limits?.get(uuid) }
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
