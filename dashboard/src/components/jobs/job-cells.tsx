// The cells of a job's row that need more than a figure.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import { age } from '../../../../agent/text/span.ts'
import { since, zoneName } from '../../../../agent/text/time.ts'
import { agentNow } from '../../state/app.ts'
import { range } from '../../state/jobs-range.ts'
import { BUSY_S, busyRatio, type Job } from '../../state/jobs-rows.ts'
import { wasted, type JobRow } from '../../state/jobs-table.ts'
import { hrefOf } from '../../state/route.ts'
import { DASH, memory, percent } from '../../text/format.ts'
import { Holdings } from '../holdings.tsx'
import { Meter } from '../meter.tsx'

/** Not read; `nothing` where there is nothing to read. */
export const None = ({ nothing = false }: { readonly nothing?: boolean }) => <span class={nothing ? 'faint zero' : 'faint'}>{DASH}</span>

/** It holds no GPU, so that nothing of one is missing. */
export const without = ({ holdings, partial }: Job): boolean => holdings.length === 0 && !partial

export function Cards({ row: { job, endedAt } }: { readonly row: JobRow }) {
  if (endedAt !== undefined)
    return (
      <span class="faint" title={`${new Date(endedAt).toLocaleString()} ${zoneName(endedAt)}`}>
        gone since {since(endedAt, agentNow.value)}
      </span>
    )
  return (
    <span class="cards">
      <Holdings holdings={job.holdings} />
      {job.unused.length > 0 && <span class="unused" title="It asked for these GPUs, but holds no memory there.">{`${indexRanges(job.unused)} unused`}</span>}
    </span>
  )
}

export function Busy({ job }: { readonly job: Job }) {
  const ratio = busyRatio(job)
  if (ratio === undefined) return <None nothing={without(job)} />
  const of = job.busy.length + job.silent.length
  const each = [
    ...job.busy.map(({ index, ratio: own, shared }) => `GPU ${index} ${percent(own)}${shared ? ', shared with other jobs' : ''}`),
    ...job.silent.map((index) => `GPU ${index} does not say`),
  ]
  return (
    <span title={`Share of the last ${BUSY_S} s in which a kernel ran on its GPUs, whoever started it: ${each.join('; ')}`}>
      {percent(ratio)}
      {job.silent.length > 0 ? (
        <span class="of">{` on ${job.busy.length} of ${of} GPUs`}</span>
      ) : (
        job.busy.some(({ shared }) => shared) && <span class="of"> shared</span>
      )}
    </span>
  )
}

export function HostMemory({ job }: { readonly job: Job }) {
  if (job.memoryBytes === undefined) return <None />
  return (
    <span class="against">
      <Meter value={job.memoryBytes} limit={job.limitBytes} label={`host memory of ${job.name} against its limit`} />
      <span>
        {memory(job.memoryBytes)}
        <span class="of">{job.limitBytes === undefined ? ' no limit' : ` / ${memory(job.limitBytes)}`}</span>
      </span>
    </span>
  )
}

export function Count({ value, bad = false }: { readonly value: number | undefined; readonly bad?: boolean }) {
  if (value === undefined) return <None />
  return <span class={value > 0 ? (bad ? 'bad' : '') : 'faint zero'}>{value}</span>
}

export function Incidents({ row: { firing, incidents } }: { readonly row: JobRow }) {
  const [first] = firing
  if (first === undefined)
    return incidents.length === 0 ? <span class="faint zero">0</span> : <span class="faint" title="None fires now.">{`${incidents.length} over`}</span>
  const worst = firing.some(({ severity }) => severity === 'critical') ? 'critical' : first.severity
  return (
    <a
      class={`job-firing ${worst}`}
      href={firing.length === 1 ? hrefOf('incidents', [first.id]) : hrefOf('incidents', [], { state: 'firing', text: first.subject.container?.name })}
      title={firing.map(({ title }) => title).join('\n')}
    >
      <span aria-hidden="true">{worst === 'critical' ? '▲' : '◆'}</span> {`${firing.length} firing`}
    </a>
  )
}

export const WASTED_MEANS =
  'GPU time for nothing: in which it held memory while nothing ran on that GPU, and work that crashes threw away since its last saved state.'

export function Wasted({ row }: { readonly row: JobRow }) {
  const seconds = wasted(row)
  if (seconds === undefined) return <None nothing={without(row.job)} />
  const parts = [
    row.idle === undefined
      ? 'how long its GPUs idled is not known'
      : `held while its GPU idled, in whole spans of ${age(range.value.stepMs / 1000)}: ${age(row.idle)}`,
    `lost to crashes: ${age(row.lost)}`,
  ]
  return (
    <span class={seconds >= 1 ? '' : 'faint zero'} title={`In the last ${range.value.label}, GPU time ${parts.join('; ')}`}>
      {age(seconds)}
    </span>
  )
}
