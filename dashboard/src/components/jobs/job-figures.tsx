// The figures of a job at one sight.
import type { ComponentChildren } from 'preact'
import { since } from '../../../../agent/text/time.ts'
import { agentNow } from '../../state/app.ts'
import { range } from '../../state/jobs-range.ts'
import type { JobRow } from '../../state/jobs-table.ts'
import { cores, memory } from '../../text/format.ts'
import { Busy, Cards, Count, HostMemory, None, Wasted, WASTED_MEANS } from './job-cells.tsx'

type FigureProps = { readonly id: string; readonly label: string; readonly means?: string; readonly children: ComponentChildren }

const Item = ({ id, label, means, children }: FigureProps) => (
  <div data-figure={id}>
    <dt title={means}>{label}</dt>
    <dd>{children}</dd>
  </div>
)

export function JobFigures({ row }: { readonly row: JobRow }) {
  const { job, endedAt } = row
  const back = range.value.label
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
      <Item id="memory" label="GPU memory">
        {job.gpuBytes === undefined ? <None /> : memory(job.gpuBytes)}
      </Item>
      <Item id="gpus" label="By GPU">
        <Cards row={row} />
      </Item>
      <Item id="peak" label={`Peak ${back}`} means="the most GPU memory that it held at once">
        {row.peak === undefined ? <None /> : memory(row.peak)}
      </Item>
      <Item id="busy" label="GPU busy">
        <Busy job={job} />
      </Item>
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
      <Item id="wasted" label={`Wasted ${back}`} means={WASTED_MEANS}>
        <Wasted row={row} />
      </Item>
    </dl>
  )
}
