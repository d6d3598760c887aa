// One chart of a GPU at large: its name, each line with its figure now or at the second under the pointer, the limit.
import { useMemo, useRef } from 'preact/hooks'
import { ChartBox } from '../../parts/chart/box.tsx'
import { cellRows, createColumnBook, HOLDS_S } from '../../parts/chart/columns.ts'
import { laneTable } from '../../parts/chart/lane-table.ts'
import { PALETTES } from '../../parts/chart/palette.ts'
import { drawing, hovered } from '../../parts/live/state.ts'
import { charted } from '../../parts/range/charted.ts'
import { theme } from '../../parts/theme.ts'
import { DASH } from '../../text/format.ts'
import { createLineChart } from './line-chart.ts'
import { isMeasure } from './measures.ts'

export type Line = { readonly label: string; readonly lane: string }
export type LineFigureProps = {
  readonly id: string
  readonly title: string
  readonly lines: readonly Line[]
  readonly top: number
  readonly limit?: { readonly label: string; readonly value: number } | undefined
  readonly text: (value: number) => string
  readonly base?: 1024
  readonly dimmed: boolean
  /** Whose incidents are marked. */
  readonly about: readonly string[]
  /** Begins the name of a file that is saved: `gpu-3`. */
  readonly name: string
}

export function LineFigure({ id, title, lines, top, limit, text, base, dimmed, about, name }: LineFigureProps) {
  const rows = useMemo(createColumnBook, [])
  const latest = useRef({ top, limit })
  latest.current = { top, limit }
  void drawing.value
  const { timeline, range } = charted.value
  const palette = PALETTES[theme.value]
  // The first in the ink of the page, the second in a colour.
  const colours = lines.map((_, i) => (i === 0 ? palette.trace : (palette.containers[i - 1] ?? palette.host)))
  const past = hovered.value
  const valueOf = (lane: string): number | undefined => {
    const second = past ?? timeline.newest(lane)
    return second === undefined ? undefined : timeline.at(lane, second)
  }
  const figures = lines.map(({ label, lane }) => ({ label, value: valueOf(lane) }))
  const spoken = figures.map(({ label, value }) => `${label} ${value === undefined ? 'not read' : text(value)}`).join(', ')
  const coarse = timeline.step > 1
  return (
    <figure class="line-figure" data-chart={id} data-dimmed={dimmed}>
      <figcaption>
        <b>{title}</b>
        <span class="legend">
          {figures.map(({ label, value }, i) => (
            <span key={label} class="legend-entry">
              <span class="swatch line" style={{ '--swatch': colours[i] }} />
              {label} <b>{value === undefined ? DASH : text(value)}</b>
            </span>
          ))}
          {limit !== undefined && (
            <span class="legend-entry of">
              <span class="swatch dashed" />
              {`${limit.label} ${text(limit.value)}`}
            </span>
          )}
        </span>
      </figcaption>
      <ChartBox
        className="line-chart"
        about={about}
        table={() => laneTable(`${name}-${id}`, charted.peek().timeline, lines)}
        height={132}
        label={`${title} over ${range.spoken}: ${spoken}`}
        version={`${theme.value} ${range.id} ${lines.map(({ lane }) => lane).join('\n')}`}
        create={(host, width, height) =>
          createLineChart(host, width, height, {
            palette,
            colours,
            coarse,
            top: () => latest.current.top,
            limit: () => latest.current.limit?.value,
            valueText: text,
            base,
          })
        }
        data={() =>
          cellRows(
            timeline,
            lines.map(({ lane }) => lane),
            rows,
            // What the cards show as well is read every second: a hole of two is one.
            (lane) => (isMeasure(lane) ? HOLDS_S : 1),
          )
        }
      />
    </figure>
  )
}
