// A GPU's memory: the figures, the stacked chart, and who holds how much, now or at the second under the pointer.
import { useComputed, type ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { createColumnBook } from '../chart/columns.ts'
import { createMemoryChart } from './memory-chart.ts'
import { PALETTES } from '../chart/palette.ts'
import { layersOf, stackRows, type Layer } from './stack.ts'
import { colours, drawing, hovered, painted, stale } from '../live/state.ts'
import { charted, taken } from '../range/charted.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { LANE, lastTotal } from '../live/lanes.ts'
import { sharesAt } from './shares.ts'
import { steadyList } from '../live/steady.ts'
import { theme } from '../theme.ts'
import { memory, memoryFigure } from '../../text/format.ts'
import { ChartBox } from '../chart/box.tsx'
import { Live, LiveFigure } from '../figure.tsx'
import type { Table } from '../chart/tools/csv.ts'
import { ShareList } from './share-list.tsx'

type Props = {
  readonly of: ReadonlySignal<GpuView>
  readonly height: number
  readonly most: number
  readonly table?: () => Table
  readonly note?: ComponentChildren
}

const nameOf = ({ kind, key, members }: Layer): string => `${kind} ${key} ${members?.join() ?? ''}`

/** The chart's layers, looked for when a lane came or went. */
function followLayers(uuid: string): ReadonlySignal<readonly Layer[]> {
  let found: readonly Layer[] = []
  let from: object | undefined
  let generation = -1
  return steadyList(() => {
    void drawing.value // history that arrives later brings layers
    const { timeline } = charted.value
    if (from !== timeline || generation !== timeline.generation()) found = layersOf(timeline, uuid)
    from = timeline
    generation = timeline.generation()
    return found
  }, nameOf)
}

function Figures({ of }: Pick<Props, 'of'>) {
  const { uuid } = of.peek()
  const reserved = useComputed(() => of.value.row.memory_reserved_bytes)
  // A GPU that was lost before the page opened: history has what it used, not what was free.
  const side = useComputed(() => of.value.trouble === undefined || of.value.row.memory_free_bytes !== undefined)
  const now = (value: (view: GpuView) => number | undefined): number | undefined => (hovered.value === undefined ? value(of.value) : undefined)
  return (
    <div class="memory-figures">
      <span class="memory-used">
        <LiveFigure
          name="memory_used_bytes"
          figure={() => memoryFigure(hovered.value === undefined ? of.value.row.memory_used_bytes : charted.value.timeline.at(LANE.used(uuid), hovered.value))}
        />
        <span class="of">
          <Live text={() => (of.value.row.memory_total_bytes === undefined ? '' : 'of ')} />
          <span data-figure="memory_total_bytes" title={reserved.value === undefined ? undefined : `${memory(reserved.value)} of it reserved by the driver`}>
            <Live text={() => (of.value.row.memory_total_bytes === undefined ? '' : memory(of.value.row.memory_total_bytes))} />
          </span>
        </span>
      </span>
      {side.value && (
        <dl class="memory-side">
          <div>
            <dt>free</dt>
            <dd data-figure="memory_free_bytes">
              <Live text={() => memory(now(({ row }) => row.memory_free_bytes))} />
            </dd>
          </div>
          <div title="Highest of the last 60 s, sampled ten times a second">
            <dt>peak 60&nbsp;s</dt>
            <dd data-figure="memory_used_peak_bytes">
              <Live text={() => memory(now(({ row }) => row.memory_used_peak_bytes))} />
            </dd>
          </div>
        </dl>
      )}
    </div>
  )
}

/** `note`: below the chart, which leaves it its room. */
export function GpuMemory({ of, height, most, table, note }: Props) {
  const { uuid } = of.peek()
  const index = useComputed(() => of.value.index).value
  const book = useMemo(createColumnBook, [])
  const following = useMemo(() => followLayers(uuid), [uuid])
  const shares = useComputed(() => {
    void [drawing.value, taken.value]
    const { timeline } = charted.value
    return sharesAt(timeline, uuid, following.value, hovered.value ?? timeline.newest(LANE.used(uuid)) ?? 0)
  })
  const layers = following.value
  const { timeline, range } = charted.value
  const palette = PALETTES[theme.value]
  return (
    <div class="gpu-memory">
      <Figures of={of} />
      <ChartBox
        className="memory-chart"
        about={[`gpu ${uuid}`]}
        {...(table !== undefined && { table })}
        height={height}
        label={`Memory of GPU ${index} over ${range.spoken} by job`}
        version={`${theme.value} ${range.id} ${timeline.step}\n${layers.map(nameOf).join('\n')}`}
        create={(host, width, size) =>
          createMemoryChart(host, width, size, {
            layers,
            palette,
            coarse: timeline.step > 1,
            slotOf: colours.slot,
            totalBytes: () => of.peek().row.memory_total_bytes ?? lastTotal(timeline, uuid),
            peakBytes: () => (of.peek().trouble === undefined && !stale.peek() && range.end === undefined ? of.peek().row.memory_used_peak_bytes : undefined),
          })
        }
        data={(pixelSeconds) => stackRows(timeline, uuid, layers, book, Math.ceil(pixelSeconds))}
      />
      {note}
      {painted.value && (
        <ShareList
          shares={shares}
          most={most}
          of={of}
          nothing={() => (of.value.trouble === undefined && hovered.value === undefined ? 'no process holds memory' : 'no reading here')}
        />
      )}
    </div>
  )
}
