// The figures of a job at one sight.
import { since } from '../../../../../agent/text/time.ts'
import type { ComponentChildren } from 'preact'
import { agentNow, frame } from '../../../parts/live/state.ts'
import { cores, memory } from '../../../text/format.ts'
import { Busy, Cards, Count, gpuMemory, HostMemory, None, outside, Wasted, WASTED_MEANS } from '../cells.tsx'
import { progressOf } from '../progress-of.ts'
import { Progress } from '../progress.tsx'
import { range } from '../range.tsx'
import { BUSY_S, type Job } from '../running.ts'
import type { JobRow } from '../table/rows.ts'

type FigureProps = { readonly id: string; readonly label: string; readonly means?: string; readonly children: ComponentChildren }

const Item = ({ id, label, means, children }: FigureProps) => (
  <div data-figure={id}>
    <dt title={means}>{label}</dt>
    <dd>{children}</dd>
  </div>
)

/** Read from their cgroups and their engine: nothing tells it of a process outside of containers. */
const OfContainers = ({ job }: { readonly job: Job }) => (
  <>
    <Item id="cores" label="CPU cores">
      {job.cores === undefined ? <None /> : cores(job.cores)}
    </Item>
    <Item id="host" label="Host memory">
      <HostMemory job={job} />
    </Item>
    <Item id="oom" label="OOM kills">
      <Count value={job.oomKills} bad />
    </Item>
    <Item id="restarts" label="Restarts">
      <Count value={job.restarts} />
    </Item>
  </>
)

export function JobFigures({ row }: { readonly row: JobRow }) {
  const { job, endedAt } = row
  const back = range.value.label
  const now = frame.value
  if (endedAt !== undefined)
    return (
      <dl class="job-figures">
        <Item id="state" label="State">{`gone since ${since(endedAt, agentNow.value)}`}</Item>
        <Item id="peak" label={`Peak ${back}`}>
          {memory(row.peak)}
        </Item>
        <Item id="wasted" label={`Wasted ${back}`} means={WASTED_MEANS}>
          <Wasted row={row} />
        </Item>
      </dl>
    )
  return (
    <dl class="job-figures">
      {now !== undefined && progressOf(job, now) !== undefined && (
        <Item id="progress" label="Progress" means="as its log says">
          <Progress job={job} />
        </Item>
      )}
      <Item id="memory" label="GPU memory">
        {job.gpuBytes === undefined ? <None /> : gpuMemory(job)}
      </Item>
      <Item id="gpus" label="By GPU">
        <Cards row={row} />
      </Item>
      <Item id="peak" label={`Peak ${back}`} means="the most GPU memory that it held at once">
        {row.peak === undefined ? <None /> : memory(row.peak)}
      </Item>
      <Item id="busy" label={`GPU busy ${BUSY_S} s`}>
        <Busy job={job} />
      </Item>
      {!outside(job) && <OfContainers job={job} />}
      <Item id="wasted" label={`Wasted ${back}`} means={WASTED_MEANS}>
        <Wasted row={row} />
      </Item>
    </dl>
  )
}
