// Who held GPU time and did not use it, the most first: how long, what it cost by the user's own prices, and what to change.
import { hoursText, priceText, slurmNote, wasteHints } from '../../../../agent/text/waste.ts'
import type { WasteGroup, WasteRow } from '../../../../agent/model/ledger.ts'
import { Meter } from '../../parts/figure.tsx'
import { frame } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import { type Column, DataTable } from '../../parts/table/table.tsx'
import { DASH } from '../../text/format.ts'
import { jobName } from './names.ts'

const TITLES: Readonly<Record<WasteGroup, string>> = { user: 'User', namespace: 'Namespace', account: 'Account' }

const hours = (id: string, label: string, value: (row: WasteRow) => number): Column<WasteRow> => ({
  id,
  label,
  numeric: true,
  key: value,
  shows: (row) => hoursText(value(row)),
  cell: (row) => (
    <>
      {hoursText(value(row))} <span class="unit">h</span>
    </>
  ),
})

const unused = ({ gpu_hours_idle: idle, gpu_hours_lost: lost }: WasteRow): number => idle + lost

function Hints({ row }: { readonly row: WasteRow }) {
  const hints = wasteHints(row)
  if (hints.length === 0) return <span class="faint">{DASH}</span>
  const containers = frame.value?.containers ?? []
  return (
    <ul class="waste-hints">
      {hints.map(({ job, slurm_job: slurm, text }) => (
        <li key={`${job ?? ''} ${text}`}>
          {job !== undefined && (
            <>
              {slurm === undefined ? (
                <a href={hrefOf('jobs', [], { text: job })}>{jobName(job, containers)}</a>
              ) : (
                <a href={hrefOf('jobs', [`slurm:${slurm}`])}>{`${job}${slurmNote(slurm)}`}</a>
              )}
              :{' '}
            </>
          )}
          {text}
        </li>
      ))}
    </ul>
  )
}

const columnsOf = (by: WasteGroup): readonly Column<WasteRow>[] => [
  { id: 'who', label: TITLES[by], key: (row) => row[by], shows: (row) => row[by] ?? DASH, cell: (row) => <span class="name">{row[by] ?? 'not known'}</span> },
  hours('held', 'Held', ({ gpu_hours_held: held }) => held),
  {
    ...hours('idle', 'Idle', ({ gpu_hours_idle: idle }) => idle),
    cell: (row) => (
      <span class="waste-idle">
        <Meter value={row.gpu_hours_idle} limit={row.gpu_hours_held} label={`idle share of the GPU time held by ${row[by] ?? 'an unknown owner'}`} />
        <span>
          {hoursText(row.gpu_hours_idle)} <span class="unit">h</span>
        </span>
      </span>
    ),
  },
  hours('free', 'Whole idle hours', ({ gpu_hours_queueable: free }) => free),
  hours('lost', 'Lost', ({ gpu_hours_lost: lost }) => lost),
  {
    id: 'cost',
    label: 'Cost',
    numeric: true,
    spare: true,
    key: ({ price }) => price,
    shows: ({ price, currency }) => (price === undefined ? '' : priceText(price, currency)),
    cell: ({ price, currency }) => (price === undefined ? DASH : priceText(price, currency)),
  },
  { id: 'hints', label: 'What to change', key: unused, cell: (row) => <Hints row={row} /> },
]
const COLUMNS: Readonly<Record<WasteGroup, readonly Column<WasteRow>[]>> = {
  user: columnsOf('user'),
  namespace: columnsOf('namespace'),
  account: columnsOf('account'),
}

type Props = { readonly rows: readonly WasteRow[]; readonly by: WasteGroup; readonly spoken: string }
export const WasteTable = ({ rows, by, spoken }: Props) => (
  <DataTable
    key={by}
    id="waste"
    title={`By ${by}`}
    columns={COLUMNS[by]}
    rows={rows}
    rowKey={(row) => row[by] ?? ''}
    sort={{ column: 'hints', descending: true }}
    empty={`No ${by} held a GPU idle for more than 6 minutes in ${spoken}, and no failed run lost as much.`}
  />
)
