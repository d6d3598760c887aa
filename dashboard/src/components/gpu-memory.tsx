// A GPU's memory: the figures, the stacked chart, and who holds how much, now or at the second under the pointer.
import { useRef } from 'preact/hooks'
import { createMemoryChart } from '../charts/memory-chart.ts'
import { PALETTES } from '../charts/palette.ts'
import { layersOf, noRows, stackRows } from '../charts/stack.ts'
import { colours, drawing, hovered, stale } from '../state/app.ts'
import { charted } from '../state/charted.ts'
import type { GpuView } from '../state/gpu-view.ts'
import { LANE } from '../state/lanes.ts'
import { sharesAt } from '../state/shares.ts'
import { theme } from '../state/theme.ts'
import { memory, memoryFigure } from '../text/format.ts'
import { ChartBox } from './chart-box.tsx'
import { Figure } from './figure.tsx'
import { ShareList } from './share-list.tsx'

type Props = { readonly view: GpuView; readonly height: number; readonly most: number }

export function GpuMemory({ view, height, most }: Props) {
  const { row, uuid, trouble } = view
  const rows = useRef(noRows())
  const latest = useRef(view)
  latest.current = view
  void drawing.value // history that arrives later brings layers
  const { timeline, range } = charted.value
  const coarse = timeline.step > 1
  const palette = PALETTES[theme.value]
  const layers = layersOf(timeline, uuid)
  const total = row.memory_total_bytes
  const past = hovered.value
  const used = past === undefined ? row.memory_used_bytes : timeline.at(LANE.used(uuid), past)
  const free = past === undefined ? row.memory_free_bytes : undefined
  const shares = sharesAt(timeline, uuid, layers, past ?? timeline.newest(LANE.used(uuid)) ?? 0)
  return (
    <div class="gpu-memory">
      <div class="memory-figures">
        <span class="memory-used">
          <Figure figure={memoryFigure(used)} name="memory_used_bytes" />
          <span class="of">
            of <span data-figure="memory_total_bytes">{memory(total)}</span>
          </span>
        </span>
        <dl class="memory-side">
          <div>
            <dt>free</dt>
            <dd data-figure="memory_free_bytes">{memory(free)}</dd>
          </div>
          <div title="Highest of the last 60 s, sampled ten times a second">
            <dt>peak</dt>
            <dd data-figure="memory_used_peak_bytes">{memory(past === undefined ? row.memory_used_peak_bytes : undefined)}</dd>
          </div>
        </dl>
      </div>
      <ChartBox
        className="memory-chart"
        height={height}
        label={`Memory of GPU ${view.index} over the last ${range.spoken} by container: ${memory(used)} of ${memory(total)} used`}
        version={`${theme.value} ${range.id} ${timeline.step}\n${layers.map((layer) => `${layer.kind} ${layer.key}`).join('\n')}`}
        create={(host, width, size) =>
          createMemoryChart(host, width, size, {
            layers,
            palette,
            coarse,
            slotOf: colours.slot,
            totalBytes: () => latest.current.row.memory_total_bytes,
            peakBytes: () => (latest.current.trouble === undefined && !stale.peek() ? latest.current.row.memory_used_peak_bytes : undefined),
          })
        }
        data={() => stackRows(timeline, uuid, layers, rows.current)}
      />
      <ShareList
        shares={shares}
        most={most}
        index={view.index}
        nothing={trouble === undefined && past === undefined ? 'nobody holds memory' : 'no reading here'}
      />
    </div>
  )
}
