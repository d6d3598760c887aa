// Another GPU beside this one: chosen above the charts, kept in the address, drawn as a second line in each chart.
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { LANE } from '../../parts/live/lanes.ts'
import { views } from '../../parts/live/state.ts'
import { route, setParams } from '../../parts/route.ts'
import { memory } from '../../text/format.ts'
import type { LineFigureProps } from './line-figure.tsx'

export type Figure = Omit<LineFigureProps, 'dimmed' | 'about' | 'name'>

/** The GPU that the address names beside the page's own. */
export function comparedWith({ index }: GpuView): GpuView | undefined {
  const asked = route.value.params.get('with')
  return views.value?.find((each) => String(each.index) === asked && each.index !== index)
}

/** The first line of each chart, of both: more than two could not be distinguished. `ofOther` gives the same chart of the other one. */
export function comparedFigures(view: GpuView, other: GpuView, own: readonly Figure[], ofOther: readonly Figure[]): readonly Figure[] {
  const name = ({ index }: GpuView): string => `GPU ${index}`
  const both = own.flatMap((figure): readonly Figure[] => {
    const same = ofOther.find(({ id }) => id === figure.id)
    const [first, second] = [figure.lines[0], same?.lines[0]]
    if (first === undefined || second === undefined || figure.id.startsWith('mig-')) return []
    const { limit: _own, ...rest } = figure
    const top = Math.max(figure.top, same?.top ?? 0)
    const lines = [
      { ...first, label: name(view) },
      { ...second, label: name(other) },
    ]
    return [{ ...rest, title: figure.lines.length > 1 ? `${figure.title}, ${first.label}` : figure.title, top, lines }]
  })
  const used: Figure = {
    id: 'memory-both',
    title: 'Memory in use',
    top: Math.max(view.row.memory_total_bytes ?? 0, other.row.memory_total_bytes ?? 0, 2 ** 30),
    base: 1024,
    text: memory,
    lines: [
      { label: name(view), lane: LANE.used(view.uuid) },
      { label: name(other), lane: LANE.used(other.uuid) },
    ],
  }
  return [used, ...both]
}

export function CompareChoice({ view }: { readonly view: GpuView }) {
  const others = (views.value ?? []).filter(({ index }) => index !== view.index)
  if (others.length === 0) return null
  return (
    <label class="choice compare">
      <span>Compare with</span>
      <select
        value={String(comparedWith(view)?.index ?? '')}
        onChange={({ currentTarget: { value } }) => setParams({ with: value === '' ? undefined : value })}
      >
        <option value="">no other</option>
        {others.map(({ index }) => (
          <option key={index} value={String(index)}>
            {`GPU ${index}`}
          </option>
        ))}
      </select>
    </label>
  )
}
