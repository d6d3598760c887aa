// Load and clocks of a Jetson's GPU: nvgpu's own file, and devfreq, which sets the clock.
import { gpuClockHertz, gpuClockMaxHertz } from '../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { report } from '../parts/report.ts'

/** nvgpu counts the load in thousandths. */
const PER_MILLE = 0.001

export const load: CardCollector = {
  id: 'load',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuUtilizationRatio],
  attach(card) {
    const series = makeSeries(gpuUtilizationRatio, card.labels)
    return { read: (out) => report(out, series, card.asleep() ? 0 : card.askNumber(`${card.device}/load`), PER_MILLE) }
  },
}

/** The memory's clock is in a folder that only root may read. */
const emcPath = ({ roots }: Card): string => `${roots.sys}/kernel/debug/bpmp/debug/clk/emc/rate`

export const clocks: CardCollector = {
  id: 'clocks',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuClockHertz],
  attach(card) {
    const graphics = makeSeries(gpuClockHertz, { ...card.labels, domain: 'graphics' })
    const memory = makeSeries(gpuClockHertz, { ...card.labels, domain: 'memory' })
    return {
      read(out) {
        report(out, graphics, card.askNumber(`${card.folder}/cur_freq`))
        report(out, memory, card.askNumber(emcPath(card)))
      },
    }
  },
}

/** The highest that the chip has; `max_freq` is what the power mode (nvpmodel) allows now. */
function highest({ files, folder }: Card): number | Failure {
  const text = files.text(`${folder}/available_frequencies`)
  const all = isFailure(text) ? [] : text.split(/\s+/).flatMap((word) => (/^\d{1,15}$/.test(word) ? [Number(word)] : []))
  return all.length > 0 ? Math.max(...all) : files.number(`${folder}/max_freq`)
}

export const maxClocks: CardCollector = {
  id: 'max-clocks',
  rate: 'rare',
  readsAsleep: true,
  metrics: [gpuClockMaxHertz],
  attach(card) {
    const graphics = makeSeries(gpuClockMaxHertz, { ...card.labels, domain: 'graphics' })
    const none = failureOf(`${card.folder}/available_frequencies`, -1, 'not_supported', 'devfreq names no clock of this GPU')
    return {
      read(out) {
        const most = highest(card)
        report(out, graphics, most === 0 ? none : most)
      },
    }
  },
}
