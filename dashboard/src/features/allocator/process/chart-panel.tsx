// The chart of the chosen process with its legend, whose figures are those under the pointer, else the newest.
import { useRef } from 'preact/hooks'
import { since, timeWithSeconds } from '../../../../../agent/text/time.ts'
import { ChartBox } from '../../../parts/chart/box.tsx'
import { PALETTES } from '../../../parts/chart/palette.ts'
import { agentNow, drawing, hovered, stale } from '../../../parts/live/state.ts'
import { theme } from '../../../parts/theme.ts'
import type { Table } from '../../../parts/chart/tools/csv.ts'
import { memory } from '../../../text/format.ts'
import { createAllocatorChart, layerColour } from './chart.ts'
import { columnsOf, type Layer, LAYERS, type Lanes, marksOf, partsOf, readingsAt } from './lanes.ts'
import { nameOf, type Probed } from './processes.ts'
import { span, spanWords } from './span.ts'
import { chosenKey, fetching, lanes, oomsOf } from './state.ts'

const ALARM = { dark: '#ff7a52', light: '#b8390e' } as const
const NAMES: Readonly<Record<Layer, string>> = { inUse: 'in use', waiting: 'waits for a stream', holes: 'stranded', cache: 'cache' }

function Legend({ of }: { readonly of: Probed }) {
  void drawing.value
  const palette = PALETTES[theme.value]
  // Where nothing comes in any more, the newest figures are of a time that is reported.
  const live = of.row !== undefined && !stale.value && lanes.value.end === undefined
  const second = hovered.value ?? (live ? undefined : lanes.value.newest())
  const parts = second === undefined ? partsOf(of.row ?? {}) : partsOf(readingsAt(lanes.value, second))
  const layers = LAYERS.filter((layer) => layer !== 'waiting' || (parts?.waiting ?? 0) > 0)
  return (
    <figcaption>
      <b>
        {second === undefined ? (live ? 'Now' : 'Before') : span.value.spanS > 3600 ? since(second * 1000, agentNow.peek()) : timeWithSeconds(second * 1000)}
      </b>
      <span class="legend">
        {layers.map((layer) => (
          <span key={layer} class="legend-entry" data-layer={layer}>
            <span class={layer === 'holes' ? 'swatch area unattributed' : 'swatch area'} style={{ '--swatch': layerColour(layer, palette) }} />
            {NAMES[layer]} <b>{memory(parts?.[layer])}</b>
          </span>
        ))}
        <span class="legend-entry" data-layer="ceiling">
          <span class="swatch dashed" />
          most it could hold <b>{memory(parts?.ceiling)}</b>
        </span>
      </span>
    </figcaption>
  )
}

function tableOf({ key }: Probed, of: Lanes): Table {
  const seconds = [...of.seconds()]
  const parts = seconds.map((second) => partsOf(readingsAt(of, second)))
  return {
    name: `allocator-${key}`,
    columns: [...LAYERS.map((layer) => `${NAMES[layer]} (bytes)`), 'most it could hold (bytes)'],
    seconds,
    values: [...LAYERS, 'ceiling' as const].map((name) => parts.map((each) => each[name])),
  }
}

export function ProcessChart({ of }: { readonly of: Probed }) {
  const height = 320
  const latest = useRef(of)
  latest.current = of
  return (
    <figure class="evidence-figure large allocator-figure" data-chart="allocator" aria-busy={fetching.value}>
      <Legend of={of} />
      {fetching.value && (
        <p class="fetching" role="status">
          {`Fetching ${spanWords(span.value)} …`}
        </p>
      )}
      <ChartBox
        className="allocator-chart"
        height={height}
        label={`What ${nameOf(of)} reserved over ${spanWords(span.value)}: in use, stranded, cache; below the most that it could hold`}
        version={`${theme.value} ${chosenKey.value ?? ''}`}
        about={[`job ${of.job}`]}
        table={() => tableOf(of, lanes.peek())}
        create={(host, width) =>
          createAllocatorChart(host, width, height, {
            palette: PALETTES[theme.peek()],
            alarm: ALARM[theme.peek()],
            window: () => {
              const { spanS, end = Math.floor(agentNow.peek() / 1000) } = lanes.peek()
              return [end - spanS, end]
            },
            marks: () => marksOf(lanes.peek(), oomsOf(of)),
            ceiling: () => (latest.current.row === undefined ? undefined : partsOf(latest.current.row)?.ceiling),
          })
        }
        data={() => {
          lanes.peek().advance(agentNow.peek())
          return columnsOf(lanes.peek())
        }}
      />
    </figure>
  )
}
