// Every run of a job that the agent remembers: when it began, how long it lasted, how it ended and why, and what it held. Asked for when one begins or ends.
import { Sentence } from '../../../parts/command.tsx'
import { agentNow, frame } from '../../../parts/live/state.ts'
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import { age, roughSpan } from '../../../../../agent/text/span.ts'
import { useEffect, useState } from 'preact/hooks'
import { getJson, storedToken } from '../../../parts/connection/api.ts'
import { hrefOf } from '../../../parts/route.ts'
import { type Column, DataTable } from '../../../parts/table/table.tsx'
import { DASH, memory } from '../../../text/format.ts'
import type { Job } from '../running.ts'
import { isRunOf, parseNewest, parseRuns, runRows, type RunRow } from './runs-of.ts'

/** Jobs in which one that has gone is looked for. */
const MOST_JOBS = 200

const startText = ({ run: { started_at: at, started_before: before } }: RunRow): string =>
  before === true ? `before ${momentText(at, agentNow.peek())}` : momentText(at, agentNow.peek())
const lostText = ({ run: { gpu_seconds: seconds } }: RunRow): string => (seconds.lost < 1 ? '' : age(seconds.lost))
const shownOutcome = ({ outcome, run: { reason, incidents } }: RunRow): string => [outcome, reason, incidents[0]?.title].join('\n')

function Outcome({ row: { outcome, bad, run } }: { readonly row: RunRow }) {
  const [first] = run.incidents
  return (
    <span class="named-text">
      <span class={bad ? 'bad' : undefined}>{outcome}</span>
      {run.reason !== undefined && <span class="sub">{run.reason}</span>}
      {first !== undefined && (
        <a class="sub" href={hrefOf('incidents', [first.id])}>
          <Sentence text={first.title} />
        </a>
      )}
    </span>
  )
}

const columns = (zone: string): readonly Column<RunRow>[] => [
  { id: 'run', label: 'Run', numeric: true, key: ({ run }) => run.run, shows: ({ run }) => String(run.run), cell: ({ run }) => run.run },
  { id: 'began', label: `Began (${zone})`, key: ({ run }) => run.started_at, shows: startText, cell: startText },
  { id: 'lasted', label: 'Lasted', numeric: true, key: (row) => row.lastedMs, shows: (row) => roughSpan(row.lastedMs), cell: (row) => roughSpan(row.lastedMs) },
  { id: 'outcome', label: 'Outcome', key: (row) => row.outcome, shows: shownOutcome, cell: (row) => <Outcome row={row} /> },
  {
    id: 'peak',
    label: 'GPU memory peak',
    numeric: true,
    key: ({ run }) => run.gpu_memory_peak_bytes,
    shows: ({ run }) => memory(run.gpu_memory_peak_bytes),
    cell: ({ run }) => memory(run.gpu_memory_peak_bytes),
  },
  {
    id: 'lost',
    label: 'GPU time lost',
    numeric: true,
    spare: true,
    key: ({ run }) => run.gpu_seconds.lost,
    shows: lostText,
    cell: (row) => lostText(row) || DASH,
  },
]

export function JobRuns({ job }: { readonly job: Job }) {
  const live = frame.value?.jobs.filter((run) => isRunOf(job, run)) ?? []
  const newest = live.toSorted((a, b) => b.started_at - a.started_at)[0]
  const [rows, show] = useState<readonly RunRow[]>([])
  useEffect(() => {
    let over = false
    const ask = async (): Promise<void> => {
      try {
        const id = newest?.job_id ?? parseNewest(await getJson(`api/v1/jobs?limit=${MOST_JOBS}`, storedToken())).find((run) => isRunOf(job, run))?.job_id
        const runs = id === undefined ? [] : parseRuns(await getJson(`api/v1/jobs/${id}`, storedToken()))
        if (!over) show(runRows(runs))
      } catch (error) {
        // The page stands without them; they are asked for again with the next run.
        console.warn(error)
      }
    }
    void ask()
    return () => {
      over = true
    }
  }, [job.key, newest?.job_id, newest?.run, newest?.outcome])
  if (rows.length === 0) return null
  return (
    <DataTable
      id="job-runs"
      title="Runs"
      columns={columns(zoneName(agentNow.peek()))}
      rows={rows}
      rowKey={(row) => row.key}
      sort={{ column: 'run', descending: true }}
      empty=""
      explains={rows.some((row) => lostText(row) !== '') ? 'GPU time lost: of a GPU that jobs share, the part of this job.' : undefined}
    />
  )
}
