// The jobs as a table; a row opens to the processes behind it. Order, words and open rows are in the address.
import { type ComponentChildren, Fragment } from 'preact'
import { Breakable } from '../../../parts/breakable.tsx'
import { cores, memory } from '../../../text/format.ts'
import { Busy, Cards, Count, gpuMemory, HostMemory, Incidents, JobProcesses, None, outside, Wasted, WASTED_MEANS, without } from '../cells.tsx'
import { describe, jobHref, Swatch, title } from '../name.tsx'
import { range } from '../range.tsx'
import { BUSY_S } from '../running.ts'
import type { JobRow } from './rows.ts'
import { hold, opened, release, rows, sort, sortBy, toggle } from './state.ts'

type Column = {
  readonly id: string
  readonly label: string
  readonly numeric?: true
  readonly means?: string
  readonly cell: (row: JobRow) => ComponentChildren
}

function Name({ row: { job, endedAt } }: { readonly row: JobRow }) {
  const open = opened.value.has(job.key)
  const sub = describe(job, true)
  return (
    <span class="named">
      {job.processes.length === 0 ? (
        <span class="disclose" />
      ) : (
        <button
          type="button"
          class="disclose"
          aria-expanded={open}
          aria-label={`${job.processes.length === 1 ? 'process' : `${job.processes.length} processes`} of ${title(job)}`}
          onClick={() => toggle(job.key)}
        >
          <span aria-hidden="true">▸</span>
        </button>
      )}
      {job.holdings.length === 0 && endedAt === undefined ? <span class="swatch none" /> : <Swatch job={job} />}
      <span class="named-text">
        <a class="name job-link" href={jobHref(job.key)}>
          <Breakable text={title(job)} />
        </a>
        {sub !== '' && (
          <span class="sub" title={job.kind === 'slurm' ? describe(job) : undefined}>
            {sub}
          </span>
        )}
      </span>
    </span>
  )
}

const COLUMNS: readonly Column[] = [
  { id: 'job', label: 'Job', cell: (row) => <Name row={row} /> },
  { id: 'gpus', label: 'GPUs', cell: (row) => <Cards row={row} /> },
  {
    id: 'memory',
    label: 'GPU memory',
    numeric: true,
    means: 'held now, on all its GPUs',
    cell: (row) => (row.job.gpuBytes === undefined ? <None nothing={without(row.job)} /> : gpuMemory(row.job)),
  },
  {
    id: 'peak',
    label: 'Peak',
    numeric: true,
    means: 'the most GPU memory it held within the range below; on several GPUs their highest of a step together',
    cell: (row) => (row.peak === undefined ? <None nothing={without(row.job)} /> : memory(row.peak)),
  },
  {
    id: 'busy',
    label: 'GPU busy',
    numeric: true,
    means: `mean over the GPUs on which it holds memory and the last ${BUSY_S} s; of a shared GPU its own part, where the driver tells processes apart`,
    cell: ({ job }) => <Busy job={job} />,
  },
  { id: 'cores', label: 'CPU cores', numeric: true, cell: ({ job }) => (job.cores === undefined ? <None nothing={outside(job)} /> : cores(job.cores)) },
  { id: 'host', label: 'Host memory', numeric: true, means: 'working set against its limit', cell: ({ job }) => <HostMemory job={job} /> },
  {
    id: 'oom',
    label: 'OOM kills',
    numeric: true,
    means: 'by the kernel, because host memory ran out',
    cell: ({ job }) => <Count value={job.oomKills} nothing={outside(job)} bad />,
  },
  {
    id: 'restarts',
    label: 'Restarts',
    numeric: true,
    means: 'by the engine since the container was created',
    cell: ({ job }) => <Count value={job.restarts} nothing={outside(job)} />,
  },
  { id: 'incidents', label: 'Incidents', numeric: true, cell: (row) => <Incidents row={row} /> },
  { id: 'wasted', label: 'Wasted', numeric: true, means: WASTED_MEANS, cell: (row) => <Wasted row={row} /> },
]

function Head() {
  const now = sort.value
  return (
    <thead role="rowgroup">
      <tr role="row">
        {COLUMNS.map(({ id, label, numeric = false, means }) => (
          <th
            key={id}
            role="columnheader"
            scope="col"
            class={numeric ? 'numeric' : undefined}
            aria-sort={now.column !== id ? 'none' : now.descending ? 'descending' : 'ascending'}
          >
            <button type="button" title={means} onClick={() => sortBy(id, numeric)}>
              {label}
              {id === 'peak' || id === 'wasted' ? ` ${range.value.label}` : ''}
              <span class="arrow" aria-hidden="true">
                {now.column !== id ? '' : now.descending ? '↓' : '↑'}
              </span>
            </button>
          </th>
        ))}
      </tr>
    </thead>
  )
}

export function JobTable() {
  return (
    <div class="wide">
      <table
        id="jobs"
        class="job-table"
        role="table"
        aria-label="Jobs"
        onPointerEnter={(event) => event.pointerType === 'mouse' && hold()}
        onPointerLeave={release}
        onFocusIn={hold}
        onFocusOut={(event) => (event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget) ? undefined : release())}
      >
        <Head />
        <tbody role="rowgroup">
          {rows.value.map((row) => (
            <Fragment key={row.job.key}>
              <tr role="row" data-row={row.job.key} data-ended={row.endedAt !== undefined || undefined}>
                {COLUMNS.map(({ id, label, numeric, cell }) => (
                  <td key={id} role="cell" class={`${numeric === true ? 'numeric ' : ''}col-${id}`} data-label={label}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
              {opened.value.has(row.job.key) && row.job.processes.length > 0 && (
                <tr role="row" class="job-opened" data-of={row.job.key}>
                  <td role="cell" colSpan={COLUMNS.length}>
                    <JobProcesses job={row.job} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}
