// uPlot, fetched when the first chart asks: it makes ready for the numbers of all languages as it is loaded, and the page's first figures would wait for that.
import { computed, effect, signal } from '@preact/signals'
import type uPlot from 'uplot'
import { untilFetched } from '../later.tsx'
import { connection } from '../live/state.ts'
import type * as Tools from './tools/attach.ts'

/** What can be done with charts, once it has been fetched. */
export const chartTools = signal<typeof Tools | undefined>(undefined)
const found = signal<typeof uPlot | undefined>(undefined)
const wanted = signal(false)
let isAsked = false

export const chartsReady = computed(() => found.value !== undefined)
export const askForCharts = (): void => void (wanted.value = true)

async function fetchCharts(): Promise<void> {
  found.value = (await untilFetched(() => import('uplot'))).default
  chartTools.value = await untilFetched(() => import('./tools/attach.ts'))
}

effect(() => {
  if (!wanted.value || connection.value.state !== 'live' || isAsked) return
  isAsked = true
  void fetchCharts()
})

/** A chart in this element. Throws before `chartsReady`. */
export function newChart(options: uPlot.Options, data: uPlot.AlignedData, host: HTMLElement): uPlot {
  const Chart = found.peek()
  if (Chart === undefined) throw new Error('a chart is made before uPlot is loaded')
  return new Chart(options, data, host)
}
