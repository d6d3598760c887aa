// A card's memory: the figures, the stacked chart, and who holds how much, now or at the second under the pointer.
import { useRef } from 'preact/hooks'
import { createMemoryChart, layerColour } from '../charts/memory-chart.ts'
import { PALETTES } from '../charts/palette.ts'
import { layerBytes, layersOf, noRows, stackRows, type Layer } from '../charts/stack.ts'
import { colours, drawing, hovered, stale, timeline } from '../state/app.ts'
import type { GpuView } from '../state/gpu-view.ts'
import { LANE } from '../state/lanes.ts'
import { theme } from '../state/theme.ts'
import { memory, memoryFigure } from '../text/format.ts'
import { Figure } from './figure.tsx'
import { ChartBox } from './chart-box.tsx'

type Share = { readonly layer: Layer; readonly bytes: number }

/** Who holds how much at a second, largest first, memory without an owner last. */
function sharesAt(uuid: string, layers: readonly Layer[], second: number): readonly Share[] {
  const used = timeline.at(LANE.used(uuid), second)
  if (used === undefined) return []
  const held = layers.map((layer) => (layer.kind === 'container' ? (timeline.at(LANE.container(uuid, layer.key), second) ?? NaN) : NaN))
  const rest = layerBytes(used, held, timeline.at(LANE.unattributed(uuid), second) ?? NaN)
  const shares = layers.map((layer, i) => ({ layer, bytes: layer.kind === 'container' ? (held[i] ?? NaN) : rest[layer.kind] }))
  return shares
    .filter((share) => share.bytes > 0)
    .sort((a, b) => Number(a.layer.kind !== 'container') - Number(b.layer.kind !== 'container') || b.bytes - a.bytes)
}

const MOST_SHARES = 5

export function GpuMemory({ view }: { readonly view: GpuView }) {
  const { row, uuid, trouble } = view
  const rows = useRef(noRows())
  const latest = useRef(view)
  latest.current = view
  void drawing.value // history that arrives later brings layers
  const palette = PALETTES[theme.value]
  const layers = layersOf(timeline, uuid)
  const total = row.memory_total_bytes
  const past = hovered.value
  const used = past === undefined ? row.memory_used_bytes : timeline.at(LANE.used(uuid), past)
  const free = past === undefined ? row.memory_free_bytes : undefined
  const shares = sharesAt(uuid, layers, past ?? timeline.newest(LANE.used(uuid)) ?? 0)
  const shown = shares.length > MOST_SHARES ? shares.slice(0, MOST_SHARES - 1) : shares
  const others = shares.slice(shown.length)
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
        height={124}
        label={`Memory of GPU ${view.index} over the last 15 minutes by container: ${memory(used)} of ${memory(total)} used`}
        version={`${theme.value}\n${layers.map((layer) => layer.key).join('\n')}`}
        create={(host, width, height) =>
          createMemoryChart(host, width, height, {
            layers,
            palette,
            slotOf: colours.slot,
            totalBytes: () => latest.current.row.memory_total_bytes,
            peakBytes: () => (latest.current.trouble === undefined && !stale.peek() ? latest.current.row.memory_used_peak_bytes : undefined),
          })
        }
        data={() => stackRows(timeline, uuid, layers, rows.current)}
      />
      <ul class="shares" aria-label={`Who holds memory of GPU ${view.index}`}>
        {shown.map(({ layer, bytes }) => (
          <li key={layer.key}>
            <span class={`swatch ${layer.kind}`} style={{ '--swatch': layerColour(layer, palette, colours.slot) }} />
            <span class="share-name" title={layer.key}>
              {layer.key}
            </span>
            <span class="share-bytes">{memory(bytes)}</span>
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <span class="swatch none" />
            <span class="share-name">{`${others.length} more`}</span>
            <span class="share-bytes">{memory(others.reduce((sum, share) => sum + share.bytes, 0))}</span>
          </li>
        )}
        {shares.length === 0 && <li class="nobody">{trouble === undefined ? 'nobody holds memory' : 'no reading at this second'}</li>}
      </ul>
    </div>
  )
}
