// Utilisation, power, temperature, clocks and links of one GPU, each only where it was ever read.
import { drawing } from '../../parts/live/state.ts'
import { charted } from '../../parts/range/charted.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { instanceName } from '../../parts/gpu/mig-list.tsx'
import { measureLane, migLane } from './measures.ts'
import { LANE } from '../../parts/live/lanes.ts'
import { clock, memory, percent, rateFigure } from '../../text/format.ts'
import { comparedFigures, comparedWith, type Figure } from './compare.tsx'
import { LineFigure } from './line-figure.tsx'

const rate = (value: number): string => {
  const { value: digits, unit } = rateFigure(value)
  return `${digits} ${unit}`
}

/** One chart for each MIG instance: what it holds of what it may hold. */
const instanceFigures = ({ uuid, index, row: { mig = [] } }: GpuView): readonly Figure[] =>
  mig.map((instance) => {
    const { gi, ci, memory_total_bytes: total } = instance
    return {
      id: `mig-${gi}-${ci}`,
      title: `MIG ${instanceName(instance, index)}`,
      top: total ?? 2 ** 30,
      base: 1024,
      text: memory,
      limit: total === undefined ? undefined : { label: 'of', value: total },
      lines: [{ label: 'memory', lane: migLane(uuid, gi, ci) }],
    }
  })

function figuresOf(view: GpuView): readonly Figure[] {
  const { uuid, row } = view
  const lane = (measure: string): string => measureLane(uuid, measure)
  const { power_limit_watts: power } = row
  const max = row['clock_max_hertz']
  const sm = typeof max === 'object' && !Array.isArray(max) && 'sm' in max ? max['sm'] : undefined
  return [
    {
      id: 'utilization',
      title: 'Utilisation',
      top: 1,
      text: percent,
      lines: [
        { label: 'GPU', lane: LANE.utilization(uuid) },
        { label: 'memory bus', lane: lane('memory_utilization_ratio') },
      ],
    },
    {
      id: 'power',
      title: 'Power',
      top: power ?? 100,
      text: (value) => `${value.toFixed(0)} W`,
      limit: power === undefined ? undefined : { label: 'limit', value: power },
      lines: [{ label: 'draw', lane: LANE.power(uuid) }],
    },
    {
      id: 'temperature',
      title: 'Temperature',
      top: 100,
      text: (value) => `${value.toFixed(0)} °C`,
      lines: [
        { label: 'GPU', lane: LANE.temperature(uuid) },
        { label: 'memory', lane: lane('memory_temperature_celsius') },
      ],
    },
    {
      id: 'clocks',
      title: 'Clocks',
      top: sm ?? 1e9,
      text: clock,
      limit: sm === undefined ? undefined : { label: 'SM max', value: sm },
      lines: [
        { label: 'SM', lane: lane('clock_hertz.sm') },
        { label: 'memory', lane: lane('clock_hertz.memory') },
      ],
    },
    {
      id: 'pcie',
      title: 'PCIe',
      top: 2e6,
      text: rate,
      lines: [
        { label: 'to the GPU', lane: lane('pcie_throughput_bytes_per_second.rx') },
        { label: 'from it', lane: lane('pcie_throughput_bytes_per_second.tx') },
      ],
    },
    // Of hundreds of GB/s: one that carries nothing has no scale in MB/s.
    { id: 'nvlink', title: 'NVLink', top: 4e9, text: rate, lines: [{ label: 'both ways', lane: lane('nvlink_throughput_bytes_per_second') }] },
    ...instanceFigures(view),
  ]
}

export function LineFigures({ view }: { readonly view: GpuView }) {
  void drawing.value
  const { timeline } = charted.value
  const other = comparedWith(view)
  const figures = other === undefined ? figuresOf(view) : comparedFigures(view, other, figuresOf(view), figuresOf(other))
  const about = [view, ...(other === undefined ? [] : [other])].map(({ uuid }) => `gpu ${uuid}`)
  const name = other === undefined ? `gpu-${view.index}` : `gpu-${view.index}-and-${other.index}`
  return (
    <div class="line-figures">
      {figures.map((figure) => {
        const lines = figure.lines.filter((line) => timeline.values(line.lane) !== undefined)
        return lines.length === 0 ? null : (
          <LineFigure key={figure.id} {...figure} lines={lines} dimmed={view.trouble !== undefined} about={about} name={name} />
        )
      })}
    </div>
  )
}
