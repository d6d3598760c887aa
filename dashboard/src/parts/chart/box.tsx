// Holds one uPlot chart: makes it when the box has a size, follows the box's width, draws while in sight, takes it down at the end.
import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { drawWhileVisible } from './redraw.ts'
import type { Table } from './tools/csv.ts'
import { askForCharts, chartsReady, chartTools } from './uplot.ts'

type Props = {
  readonly className: string
  readonly height: number
  /** What the chart shows, for those who cannot see it. */
  readonly label: string
  readonly create: (host: HTMLElement, width: number, height: number) => uPlot
  /** `pixelSeconds`: of the time, one pixel takes so much. */
  readonly data: (pixelSeconds: number) => uPlot.AlignedData
  /** Whose incidents are marked: `gpu UUID`, `job KEY`. */
  readonly about?: readonly string[]
  /** What it shows as a table; it can then be saved, and has keys. */
  readonly table?: () => Table
  /** A new chart is made when this changes. */
  readonly version: string
}

export function ChartBox({ className, height, label, create, data, version, about = [], table }: Props) {
  const box = useRef<HTMLDivElement>(null)
  // The newest closures, without a new chart at every render.
  const latest = useRef({ create, data, about, table })
  latest.current = { create, data, about, table }
  const ready = chartsReady.value
  useEffect(() => {
    const host = box.current
    if (!ready) askForCharts()
    if (!ready || host === null) return undefined
    const plot = latest.current.create(host, Math.max(40, host.clientWidth), height)
    const pixelSeconds = (): number => {
      const { min = 0, max = 0 } = plot.scales['x'] ?? {}
      return ((max - min) * devicePixelRatio) / plot.bbox.width
    }
    const draw = (): void => {
      const columns = latest.current.data(pixelSeconds())
      // Fewer curves than this chart has are the next one's, which is about to be made: uPlot fails on a curve without data.
      if (columns.length >= plot.series.length) plot.setData(columns)
    }
    const stop = drawWhileVisible(host, draw, pixelSeconds)
    const resize = new ResizeObserver(() => {
      const width = host.clientWidth
      if (width > 0 && width !== plot.width) plot.setSize({ width, height })
    })
    resize.observe(host)
    const tools = effect(() => chartTools.value?.attach({ plot, host, ...latest.current }))
    return () => {
      stop()
      tools()
      resize.disconnect()
      plot.destroy()
    }
  }, [version, height, ready])
  return (
    <div
      ref={box}
      class={`chart ${className}`}
      style={{ height: `${height}px` }}
      role={table === undefined ? 'img' : 'group'}
      tabIndex={table && 0}
      aria-label={label}
    />
  )
}
