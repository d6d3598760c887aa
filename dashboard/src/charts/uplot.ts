// uPlot, fetched when the first chart asks: it makes ready for the numbers of all languages as it is loaded, and the page's first figures would wait for that.
import { computed, signal } from '@preact/signals'
import type uPlot from 'uplot'

const found = signal<typeof uPlot | undefined>(undefined)
let asked = false

export const chartsReady = computed(() => found.value !== undefined)

export function askForCharts(): void {
  if (asked) return
  asked = true
  import('uplot').then(
    (module) => (found.value = module.default),
    (error: unknown) => {
      // The agent was replaced or cannot be reached: the next chart tries again.
      asked = false
      console.warn(error)
    },
  )
}

/** A chart in this element. Throws before `chartsReady`. */
export function newChart(options: uPlot.Options, data: uPlot.AlignedData, host: HTMLElement): uPlot {
  const Chart = found.peek()
  if (Chart === undefined) throw new Error('expected uPlot to be loaded before a chart is made')
  return new Chart(options, data, host)
}
