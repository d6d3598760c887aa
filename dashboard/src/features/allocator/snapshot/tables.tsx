// The segments as a table: what the map shows, for who cannot see it, and to sort by; and sums by pool, which a file has that a probe wrote at an error.
import { shareText } from '../../../../../agent/text/figures.ts'
import { type Column, DataTable } from '../../../parts/table/table.tsx'
import { poolName } from '../../../text/allocator.ts'
import { DASH, memory } from '../../../text/format.ts'
import type { DeviceAnalysis, PoolFigures, SegmentRow } from './messages.ts'
import { choice, pick, report, segments } from './state.ts'

const bytes = <Row,>(id: string, label: string, of: (row: Row) => number | undefined): Column<Row> => ({
  id,
  label,
  numeric: true,
  key: of,
  cell: (row) => memory(of(row)),
})
/** Most segments have nothing of most kinds: what they have stands out. */
const bytesOrDash = (id: string, label: string, of: (row: SegmentRow) => number): Column<SegmentRow> => ({
  ...bytes(id, label, of),
  cell: (row) => (of(row) === 0 ? <span class="faint">{DASH}</span> : memory(of(row))),
})

function Name({ row }: { readonly row: SegmentRow }) {
  const { packed } = report.value ?? {}
  const pool = packed?.pools[row.pool]
  return (
    <span class="named-text">
      <button type="button" class="name word" onClick={() => pick(packed?.first[row.index])}>
        {row.address === '' ? `segment ${row.index + 1}` : row.address}
      </button>
      <span class="sub">{pool === undefined ? '' : poolName(pool)}</span>
    </span>
  )
}

const SEGMENT_COLUMNS: readonly Column<SegmentRow>[] = [
  { id: 'segment', label: 'Segment', key: (row) => row.index, cell: (row) => <Name row={row} /> },
  bytesOrDash('size', 'Size', (row) => row.bytes),
  bytesOrDash('live', 'In use', (row) => row.liveBytes),
  bytesOrDash('pending', 'Waiting', (row) => row.pendingBytes),
  bytesOrDash('holes', 'Stranded', (row) => row.holeBytes),
  bytesOrDash('cache', 'Cache', (row) => row.cacheBytes),
  bytesOrDash('largest', 'Largest free', (row) => row.largestFreeBytes),
  { id: 'blocks', label: 'Blocks', numeric: true, key: (row) => row.blocks, cell: (row) => row.blocks },
  { id: 'used', label: 'Used', numeric: true, key: (row) => row.liveBytes / row.bytes, cell: (row) => shareText(row.liveBytes, row.bytes) },
]

export function SegmentTable() {
  const found = report.value
  if (found === undefined) return null
  const { pool, device } = choice.value
  const rows = found.segments.filter((row) => (pool === undefined ? found.packed.pools[row.pool]?.device === device : row.pool === pool))
  const all = segments.value.length
  return (
    <details class="segment-table">
      <summary>Segments as a table{rows.length < all ? `: the ${rows.length} largest of ${all}` : ` (${all})`}</summary>
      <DataTable
        id="segments"
        title="Segments"
        columns={SEGMENT_COLUMNS}
        rows={rows}
        rowKey={(row) => String(row.index)}
        sort={{ column: 'size', descending: true }}
        empty="No segment is shown."
      />
    </details>
  )
}

const POOL_COLUMNS: readonly Column<PoolFigures>[] = [
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
      <p class="sub">This file has sums by pool and no blocks: it is what a probe reports at an error.</p>
      <DataTable
        id="pools"
        title="Pools"
        columns={POOL_COLUMNS}
        rows={of.pools}
        rowKey={(row) => `${row.pool} ${row.stream} ${row.kind} ${row.expandable}`}
        sort={{ column: 'size', descending: true }}
        empty="No pools."
      />
    </div>
  )
}
