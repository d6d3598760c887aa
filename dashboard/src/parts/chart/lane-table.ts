// Lanes of a timeline as a table to be saved: one row a cell, and where cells are coarse the highest of each beside its mean. Pure.
import type { Timeline } from '../live/timeline.ts'
import type { Table } from './tools/csv.ts'

export type LaneColumn = { readonly label: string; readonly lane: string }

export function laneTable(name: string, timeline: Timeline, lanes: readonly LaneColumn[]): Table {
  const coarse = timeline.step > 1
  const found = lanes.flatMap(({ label, lane }) => {
    const [mean, peak] = [timeline.values(lane), coarse ? timeline.peaks(lane) : undefined]
    if (mean === undefined) return []
    return [{ label: coarse ? `${label} (mean)` : label, values: mean }, ...(peak === undefined ? [] : [{ label: `${label} (highest)`, values: peak }])]
  })
  const size = found[0]?.values.length ?? 0
  const seconds = Array.from({ length: size }, (_, i) => (coarse ? timeline.secondAt(i) : timeline.end() - size + 1 + i))
  return { name, columns: found.map(({ label }) => label), seconds, values: found.map(({ values }) => values) }
}
