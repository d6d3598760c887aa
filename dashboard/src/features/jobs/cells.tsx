// The cells of a job's row that need more than a figure, and the processes behind it; its page shows them as well.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import { age } from '../../../../agent/text/span.ts'
import { since, zoneName } from '../../../../agent/text/time.ts'
import { Meter } from '../../parts/figure.tsx'
import { agentNow } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import { Named, whoText } from '../../parts/table/processes.tsx'
import { Holdings } from '../../parts/table/holdings.tsx'
import { DASH, memory, percent } from '../../text/format.ts'
import { range, spanWords } from './range.tsx'
import { BUSY_S, busyRatio, type Job } from './running.ts'
import { type JobRow, wasted } from './table/rows.ts'

/** Not read; `nothing` where there is nothing to read. */
export const None = ({ nothing = false }: { readonly nothing?: boolean }) => <span class={nothing ? 'faint zero' : 'faint'}>{DASH}</span>

/** It holds no GPU, so that nothing of one is missing. */
export const without = ({ holdings, unread }: Job): boolean => holdings.length === 0 && unread.length === 0

/** Nothing reads cores, host memory, kills and restarts of it. */
export const outside = ({ containers }: Job): boolean => containers.length === 0

/** At least this much, where one of its GPUs cannot be read. */
export const gpuMemory = ({ unread, gpuBytes }: Job): string => `${unread.length > 0 && gpuBytes !== undefined ? '≥ ' : ''}${memory(gpuBytes)}`

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
      {job.unread.length > 0 && (
        <span class="unused" title="What it holds of these GPUs is not known while they do not answer.">{`GPU ${indexRanges(job.unread)} not read`}</span>
      )}
      {job.unused.length > 0 && <span class="unused" title="It asked for these GPUs, but holds no memory there.">{`${indexRanges(job.unused)} unused`}</span>}
    </span>
  )
}

export function Busy({ job }: { readonly job: Job }) {
  const ratio = busyRatio(job)
  if (ratio === undefined) return <None nothing={without(job)} />
  const of = job.busy.length + job.silent.length
  const each = [
    ...job.busy.map(
      ({ index, ratio: of, shared, own = false }) => `GPU ${index} ${percent(of)}${own ? ' by its own processes' : shared ? ', shared with other jobs' : ''}`,
    ),
    ...job.silent.map((index) => `GPU ${index} does not say`),
  ]
  return (
    <span title={`Share of the last ${BUSY_S} s in which a kernel ran on its GPUs: ${each.join('; ')}`}>
      {percent(ratio)}
      {job.silent.length > 0 ? (
        <span class="of">{` on ${job.busy.length} of ${of} GPUs`}</span>
      ) : (
        job.busy.some(({ shared, own = false }) => shared && !own) && <span class="of"> shared</span>
      )}
    </span>
  )
}

export function HostMemory({ job }: { readonly job: Job }) {
  if (job.memoryBytes === undefined) return <None nothing={outside(job)} />
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

export function Count({ value, nothing = false, bad = false }: { readonly value: number | undefined; readonly nothing?: boolean; readonly bad?: boolean }) {
  if (value === undefined) return <None nothing={nothing} />
  return <span class={value > 0 ? (bad ? 'bad' : '') : 'faint zero'}>{value}</span>
}

export function Incidents({ row: { firing, incidents } }: { readonly row: JobRow }) {
  const [first] = firing
  if (first === undefined)
    return incidents.length === 0 ? <span class="faint zero">0</span> : <span class="faint" title="None fires now.">{`${incidents.length} resolved`}</span>
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
  'GPU time for nothing: in which it held memory while nothing ran on that GPU, and work that crashes threw away since its last saved state. A GPU that jobs share counts in full; the runs give the part of each.'

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
    <span class={seconds >= 1 ? '' : 'faint zero'} title={`In ${spanWords(range.value)}, GPU time ${parts.join('; ')}`}>
      {age(seconds)}
    </span>
  )
}

/** Those that hold GPU memory, most first. */
export function JobProcesses({ job }: { readonly job: Job }) {
  return (
    <ul class="job-processes" aria-label={`Processes of ${job.name}`}>
      {job.processes
        .toSorted((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0) || a.pid - b.pid)
        .map((view) => (
          <li key={view.key}>
            <Named view={view} />
            <span class="of">pid {view.pid}</span>
            <span class="of">{whoText(view)}</span>
            <span class="job-process-memory">{memory(view.gpuBytes)}</span>
            <Holdings holdings={view.holdings} />
          </li>
        ))}
    </ul>
  )
}
