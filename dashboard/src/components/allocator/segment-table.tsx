// The segments as a table: what the map shows, for who cannot see it, and to sort by.
import { shareText } from '../../../../agent/text/figures.ts'
import type { SegmentRow } from '../../state/allocator-messages.ts'
import { choice, pick, report, segments } from '../../state/allocator-snapshot.ts'
import { poolName } from '../../text/allocator.ts'
import { DASH, memory } from '../../text/format.ts'
import { DataTable, type Column } from '../data-table.tsx'

const bytes = (id: string, label: string, of: (row: SegmentRow) => number): Column<SegmentRow> => ({
  id,
  label,
  numeric: true,
  key: of,
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

const COLUMNS: readonly Column<SegmentRow>[] = [
  { id: 'segment', label: 'Segment', key: (row) => row.index, cell: (row) => <Name row={row} /> },
  bytes('size', 'Size', (row) => row.bytes),
  bytes('live', 'In use', (row) => row.liveBytes),
  bytes('pending', 'Waiting', (row) => row.pendingBytes),
  bytes('holes', 'Stranded', (row) => row.holeBytes),
  bytes('cache', 'Cache', (row) => row.cacheBytes),
  bytes('largest', 'Largest free', (row) => row.largestFreeBytes),
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
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => String(row.index)}
        sort={{ column: 'size', descending: true }}
        empty="No segment is shown."
      />
    </details>
  )
}
