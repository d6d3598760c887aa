// The sources as a table: does each read, how old is its newest reading, how long does it take, what is missing.
import { age } from '../../../../agent/text/span.ts'
import { agentNow, stale } from '../../parts/live/state.ts'
import type { Figures } from './figures.ts'
import type { SourceRow } from './source-rows.ts'
import { reasonText, sourceName, STATUS_WORDS, took } from '../../text/agent.ts'
import { DASH } from '../../text/format.ts'
import { DataTable, type Column } from '../../parts/table/table.tsx'
import { agentGapsTotal } from '../../text/metric-names.ts'

const SHAPES = { reads: '●', partly: '◐', absent: '○', silent: '▲' } as const
const RANK = { silent: 0, partly: 1, reads: 2, absent: 3 } as const

function Status({ row: { status } }: { readonly row: SourceRow }) {
  return (
    <span class="source-status" data-status={status}>
      <span aria-hidden="true">{SHAPES[status]}</span> {STATUS_WORDS[status]}
    </span>
  )
}

/** As it was when it was asked: until it is asked again, nobody knows of newer ones. While the agent is silent it grows. */
function Newest({ newest, asked }: { readonly newest: number | undefined; readonly asked: number }) {
  if (newest === undefined) return <>{DASH}</>
  return <>{`${age(((stale.value ? agentNow.value : asked) - newest) / 1000)} ago`}</>
}

const columns = (figures: Figures, asked: number): readonly Column<SourceRow>[] => [
  {
    id: 'source',
    label: 'Source',
    key: ({ source }) => sourceName(source),
    cell: ({ source, why }) => (
      <>
        <span class="name">{sourceName(source)}</span>
        {why !== undefined && <span class="sub">{why.detail ?? reasonText(why.reason)}</span>}
      </>
    ),
  },
  { id: 'status', label: 'State', key: ({ status }) => RANK[status], cell: (row) => <Status row={row} /> },
  { id: 'newest', label: 'Newest reading', numeric: true, key: ({ newest }) => newest, cell: ({ newest }) => <Newest newest={newest} asked={asked} /> },
  {
    id: 'took',
    label: 'Read in',
    numeric: true,
    key: ({ tookSeconds }) => tookSeconds,
    cell: ({ tookSeconds, readings }) => (readings === 0 ? DASH : took(tookSeconds)),
  },
  { id: 'readings', label: 'Values', numeric: true, key: ({ readings }) => readings, cell: ({ readings }) => readings.toLocaleString('en') },
  { id: 'gaps', label: 'Not read now', numeric: true, key: ({ gaps }) => gaps, cell: ({ gaps }) => gaps },
  {
    id: 'counted',
    label: 'Gaps so far',
    numeric: true,
    key: ({ source }) => figures.sum(agentGapsTotal, { source }) ?? 0,
    cell: ({ source }) => (figures.sum(agentGapsTotal, { source }) ?? 0).toLocaleString('en'),
  },
]

type Props = { readonly sources: readonly SourceRow[]; readonly figures: Figures; readonly asked: number }

export function Sources({ sources, figures, asked }: Props) {
  return (
    <DataTable
      id="sources"
      title="Sources"
      columns={columns(figures, asked)}
      rows={sources}
      rowKey={({ source }) => source}
      sort={{ column: 'status', descending: false }}
      empty="No source of the agent has reported yet."
    />
  )
}
