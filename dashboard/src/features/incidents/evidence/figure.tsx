// One chart of the evidence: its name, the figures at the moment looked at, and the lines.
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { createEvidenceChart } from './chart.ts'
import { PALETTES } from '../../../parts/chart/palette.ts'
import { askForCharts, chartsReady } from '../../../parts/chart/uplot.ts'
import { colours } from '../../../parts/live/state.ts'
import type { EvidenceChart, Mark, Unit } from './charts.ts'
import type { Course } from './course.ts'
import { valueAt, type EvidenceLine } from './lines.ts'
import { momentOf, pin, pointed } from './moment.ts'
import { theme } from '../../../parts/theme.ts'
import { celsiusFigure, clock, DASH, memory, percent, wattsFigure } from '../../../text/format.ts'

const celsius = (value: number): string => `${celsiusFigure(value).value} °C`
const watts = (value: number): string => `${wattsFigure(value).value} W`
const TEXT: Readonly<Record<Unit, (value: number) => string>> = { bytes: memory, ratio: percent, watts, celsius, hertz: clock, count: String }

type Props = {
  readonly chart: EvidenceChart
  readonly course: Course
  readonly marks: readonly Mark[]
  readonly incident: Incident
}

const MOST_NAMED = 5
/** As the page's own colours of a severity (styles/tokens.css), which a canvas does not know. */
const ALARM: Readonly<Record<Incident['severity'], { readonly dark: string; readonly light: string }>> = {
  critical: { dark: '#ff7a52', light: '#b8390e' },
  warning: { dark: '#efb040', light: '#8a5a00' },
  info: { dark: '#a9b1b6', light: '#4d555a' },
}

export function EvidenceFigure({ chart, course, marks, incident }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const hand = useRef<HTMLDivElement | undefined>(undefined)
  const palette = PALETTES[theme.value]
  const alarm = ALARM[incident.severity][theme.value]
  const others = chart.lines.filter(({ kind }) => kind === 'other')
  const colourOf = (line: EvidenceLine): string => {
    if (line.kind === 'main') return palette.trace
    const slot = line.kind === 'container' ? colours.slot(line.label) : (line.colour ?? others.indexOf(line))
    return palette.containers[slot % palette.containers.length] ?? palette.trace
  }
  const second = momentOf(course)
  const show = (): void => {
    if (plot.current !== undefined) hand.current?.style.setProperty('transform', `translateX(${plot.current.valToPos(second, 'x').toFixed(1)}px)`)
  }
  const text = TEXT[chart.unit]
  // Readings of an incident change once or twice: when its evidence is complete.
  const version = `${theme.value} ${incident.severity} ${incident.evidence.series.length} ${incident.evidence.series[0]?.t.length ?? 0} ${marks.length} ${chart.limit?.value ?? ''}`
  const ready = chartsReady.value
  useEffect(() => {
    const host = box.current
    if (!ready) askForCharts()
    if (!ready || host === null) return undefined
    const height = chart.large ? 220 : 96
    const made = createEvidenceChart(host, Math.max(40, host.clientWidth), height, {
      chart,
      window: course,
      fault: course.fault,
      marks,
      palette,
      alarm,
      colourOf,
      valueText: text,
      onPoint: (at) => (pointed.value = at),
      onPick: (at) => pin(at, course),
    })
    plot.current = made
    const line = document.createElement('div')
    line.className = 'moment-line'
    made.over.append(line)
    hand.current = line
    const resize = new ResizeObserver(() => {
      const width = host.clientWidth
      if (width > 0 && width !== made.width) made.setSize({ width, height })
      show()
    })
    resize.observe(host)
    return () => {
      resize.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [version, ready])
  useEffect(show, [second, version, ready])
  const figures = chart.lines.map((line) => ({ line, value: valueAt(line, course, second) }))
  // A job that starts over and over leaves a line for each of its lives: those of the chosen second are named, the largest.
  const named = figures.length <= MOST_NAMED ? figures : figures.toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1)).slice(0, MOST_NAMED)
  return (
    <figure class={chart.large ? 'evidence-figure large' : 'evidence-figure'} data-chart={chart.id}>
      <figcaption>
        <b>{chart.title}</b>
        <span class="legend">
          {named.map(({ line, value }) => (
            <span key={line.label} class="legend-entry">
              <span class={line.kind === 'container' ? 'swatch container' : 'swatch'} style={{ '--swatch': colourOf(line) }} />
              {line.label} <b>{value === undefined ? DASH : text(value)}</b>
            </span>
          ))}
          {figures.length > named.length && <span class="legend-entry of">{`${figures.length - named.length} more`}</span>}
          {chart.limit !== undefined && (
            <span class="legend-entry of">
              {chart.limit.label} {text(chart.limit.value)}
            </span>
          )}
        </span>
      </figcaption>
      <div
        ref={box}
        class="chart"
        style={{ height: `${chart.large ? 220 : 96}px` }}
        role="img"
        aria-label={`${chart.title} from two minutes before the fault to 30 s after it`}
      />
    </figure>
  )
}
