// What the charts of a GPU save as CSV.
import { laneTable, type LaneColumn } from '../../parts/chart/lane-table.ts'
import type { Table } from '../../parts/chart/tools/csv.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { LANE } from '../../parts/live/lanes.ts'
import { charted } from '../../parts/range/charted.ts'

/** Bytes in use, held by each container, and held by nobody that the driver lists. */
export function memoryTable({ uuid, index }: Pick<GpuView, 'uuid' | 'index'>): Table {
  const { timeline } = charted.peek()
  const prefix = LANE.containers(uuid)
  const containers = timeline.keys(prefix).map((lane): LaneColumn => ({ label: `${lane.slice(prefix.length)} bytes`, lane }))
  return laneTable(`gpu-${index}-memory`, timeline, [
    { label: 'used bytes', lane: LANE.used(uuid) },
    ...containers,
    { label: 'unattributed bytes', lane: LANE.unattributed(uuid) },
  ])
}
