// One job: its figures now, its readings over the range, its runs, who else held its cards, its settings, processes and incidents.
import { computed } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { rangeParams } from '../../../parts/range/range.ts'
import { ChartControls } from '../../../parts/range/picker.tsx'
import { takeWindows } from '../../../parts/range/window-view.ts'
import { hrefOf } from '../../../parts/route.ts'
import { unreadNote } from '../../../parts/table/processes.tsx'
import { JobProcesses } from '../cells.tsx'
import { describe, Swatch, title } from '../name.tsx'
import { past } from '../past.ts'
import { range, RangeChoice } from '../range.tsx'
import type { JobRow } from '../table/rows.ts'
import { all } from '../table/state.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { JobCharts } from './charts.tsx'
import { JobFigures } from './figures.tsx'
import { JobIncidents } from './incidents.tsx'
import { JobLog } from './log.tsx'
import { JobRuns } from './runs.tsx'
import { charts, watchCharts } from './readings.ts'
import { JobServers } from './servers.tsx'
import { JobSettings } from './settings.tsx'

function Unknown({ jobKey }: { readonly jobKey: string }) {
  return (
    <div class="notice">
      <h2>No such job</h2>
      <p>
        Nothing called <code>{jobKey.slice(0, 80)}</code> runs on this host, and nothing of that name held a GPU in the range that was asked for.
      </p>
      <RangeChoice />
    </div>
  )
}

function Head({ row }: { readonly row: JobRow }) {
  const sub = describe(row.job)
  return (
    <header class="job-top">
      <h2 id="job-title">
        <Swatch job={row.job} /> {title(row.job)}
      </h2>
      {sub !== '' && <p class="of">{sub}</p>}
      <RangeChoice />
      <ChartControls />
    </header>
  )
}

/** The cards that it held; redrawn only when they change. */
function Neighbours({ jobKey }: { readonly jobKey: string }) {
  const uuids = useMemo(() => computed(() => (past.value?.spans ?? []).flatMap(({ job, uuid }) => (job.key === jobKey ? [uuid] : []))), [jobKey])
  return uuids.value.length === 0 ? null : <Timeline title="Who held its GPUs" only={new Set(uuids.value)} />
}

function Present({ jobKey }: { readonly jobKey: string }) {
  const row = all.value.find(({ job }) => job.key === jobKey)
  if (row === undefined) {
    const asking = past.value === undefined || charts.value?.key !== jobKey
    return asking ? (
      <p class="nothing" role="status" aria-busy="true">
        Asking the agent …
      </p>
    ) : (
      <Unknown jobKey={jobKey} />
    )
  }
  const unread = unreadNote(row.job.unread)
  return (
    <article class="job-page" data-job={jobKey} aria-labelledby="job-title">
      <Head row={row} />
      <JobFigures row={row} />
      <JobServers jobKey={jobKey} />
      <JobIncidents row={row} />
      {(row.job.processes.length > 0 || unread !== undefined) && (
        <section aria-labelledby="job-processes-title">
          <h3 id="job-processes-title">
            GPU processes <span class="count">{row.job.processes.length}</span>
          </h3>
          {unread !== undefined && <p class="table-note">{unread}</p>}
          {row.job.processes.length > 0 && <JobProcesses job={row.job} />}
        </section>
      )}
      <div class="job-beside">
        <JobCharts job={row.job} jobKey={jobKey} />
        <JobLog job={row.job} />
      </div>
    </article>
  )
}

function History({ jobKey }: { readonly jobKey: string }) {
  const row = all.value.find(({ job }) => job.key === jobKey)
  return row === undefined ? null : <JobRuns job={row.job} />
}

function Settings({ jobKey }: { readonly jobKey: string }) {
  const row = all.value.find(({ job }) => job.key === jobKey)
  return row === undefined ? null : <JobSettings job={row.job} />
}

export function JobPage({ jobKey }: { readonly jobKey: string }) {
  useEffect(() => watchCharts(jobKey), [jobKey])
  // The charts' own buttons and gestures change the window of this page.
  useEffect(() => takeWindows(() => range.value.ms / 1000), [])
  return (
    <>
      <p class="back">
        <a href={hrefOf('jobs', [], { ...rangeParams.value })}>← All jobs</a>
      </p>
      <Present jobKey={jobKey} />
      <History jobKey={jobKey} />
      <Neighbours jobKey={jobKey} />
      <Settings jobKey={jobKey} />
    </>
  )
}
