// Sums by pool: what a file has that a probe wrote at an error, in place of the map.
import type { DeviceAnalysis, PoolFigures } from './messages.ts'
import { poolName } from '../../../text/allocator.ts'
import { memory } from '../../../text/format.ts'
import { DataTable, type Column } from '../../../parts/table/table.tsx'

const bytes = (id: string, label: string, of: (row: PoolFigures) => number | undefined): Column<PoolFigures> => ({
  id,
  label,
  numeric: true,
  key: of,
  cell: (row) => memory(of(row)),
})
const COLUMNS: readonly Column<PoolFigures>[] = [
  { id: 'segment', label: 'Pool', key: poolName, cell: (row) => <span class="name">{poolName(row)}</span> },
  { id: 'blocks', label: 'Segments', numeric: true, key: (row) => row.segments, cell: (row) => row.segments },
  bytes('size', 'Reserved', (row) => row.reserved_bytes),
  bytes('live', 'In use', (row) => row.allocated_bytes),
  bytes('holes', 'Stranded', (row) => row.stranded_bytes),
  bytes('cache', 'Cache', (row) => row.releasable_bytes),
  bytes('largest', 'Largest free', (row) => row.largest_free_bytes),
]

export function PoolTable({ of }: { readonly of: DeviceAnalysis }) {
  return (
    <div>
      <p class="sub">This file has sums by pool and no blocks: it is what a probe tells at an error.</p>
      <DataTable
        id="pools"
        title="Pools"
        columns={COLUMNS}
        rows={of.pools}
        rowKey={(row) => `${row.pool} ${row.stream} ${row.kind} ${row.expandable}`}
        sort={{ column: 'size', descending: true }}
        empty="No pool is told of."
      />
    </div>
  )
}
