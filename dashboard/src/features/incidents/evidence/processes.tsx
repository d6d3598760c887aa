// Who held the card's memory at the moment looked at: first those of the moment that the page begins with, the others when asked for.
import { useState } from 'preact/hooks'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { Part } from '../../../parts/incident/account.tsx'
import { jobHit } from '../../../parts/job/identity.ts'
import { jobKeyOf } from '../../../parts/job/key.ts'
import { gpuHref, jobHref } from '../../../parts/job/links.ts'
import { offsetText } from '../../../text/facts.ts'
import { DASH, memory } from '../../../text/format.ts'
import { containerKey } from '../../../text/names.ts'
import type { Course } from './course.ts'
import { areRecorded, processesAt } from './lines.ts'
import { momentOf } from './moment.ts'

type Props = { readonly incident: Incident; readonly course: Course }

export function ProcessesThen({ incident, course }: Props) {
  const { kind, evidence, subject } = incident
  const [open, setOpen] = useState(false)
  const second = momentOf(course)
  // A restart loop is seen in a later life: the agent's table of that moment may hold two lives of one program.
  const at = (moment: number) => processesAt(evidence, moment, kind === 'oom_restart_loop' ? undefined : course.fault)
  const first = new Set(at(course.start).flatMap(({ key, bytes }) => (bytes === undefined ? [] : [key])))
  const all = at(second).toSorted((a, b) => Number(first.has(b.key)) - Number(first.has(a.key)))
  const there = all.filter(({ key, bytes }) => first.size === 0 || bytes !== undefined || first.has(key))
  const hit = subject.container === undefined ? undefined : containerKey({ ...subject.container, container: subject.container.name })
  // What hit a container or Slurm job and no GPU is not about the processes of others.
  const job = jobHit(incident)
  const isOwn = ({ container, outside }: (typeof there)[number]): boolean =>
    hit === undefined ? outside !== undefined && outside.key === job?.key : container === hit
  const own = subject.gpu === undefined ? there.filter(isOwn) : []
  const rows = open ? all : own.length > 0 ? own : there
  const others = all.length - rows.length
  const owner = all.some(({ outside }) => outside !== undefined) ? 'Belongs to' : 'Container'
  const when = areRecorded(evidence.series) ? offsetText(second - course.fault) : 'when it happened'
  return (
    <Part id="processes-then" title={`${subject.gpu === undefined ? 'GPU processes' : 'Processes on the GPU'}, ${when}`}>
      <table role="table" class="then" aria-labelledby="processes-then-title">
        <thead role="rowgroup">
          <tr role="row">
            {['Process', 'PID', owner, 'GPU', 'GPU memory'].map((head) => (
              <th key={head} role="columnheader" scope="col" class={head === 'PID' || head === 'GPU memory' ? 'numeric' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={row.key} role="row" data-absent={row.absent}>
              <td role="cell" class="name" data-label="Process">
                {row.process ?? DASH}
              </td>
              <td role="cell" class="numeric" data-label="PID">
                {row.pid}
                {row.innerPid !== undefined && row.innerPid !== row.pid && <span class="sub">{` (${row.innerPid} inside)`}</span>}
              </td>
              <td role="cell" class="owner" data-label={owner}>
                {row.container === undefined ? (
                  row.outside === undefined ? (
                    <span class="faint">host</span>
                  ) : (
                    <a href={jobHref(row.outside.key)}>{row.outside.name}</a>
                  )
                ) : (
                  <a href={jobHref(jobKeyOf(row.container) ?? row.container)}>{row.container}</a>
                )}
              </td>
              <td role="cell" data-label="GPU">
                {row.gpu === undefined ? DASH : <a href={gpuHref(row.gpu)}>{`GPU ${row.gpu}`}</a>}
              </td>
              <td role="cell" class="numeric" data-label="GPU memory">
                {row.bytes === undefined ? <span class="faint">{row.absent ?? DASH}</span> : memory(row.bytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {(open || others > 0) && (
        <button type="button" class="word" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open
            ? own.length > 0
              ? 'only its own'
              : 'only those of that moment'
            : own.length > 0
              ? `${others} more, not of ${hit ?? own[0]?.outside?.name ?? 'it'}`
              : `${others} more that ran before or after`}
        </button>
      )}
    </Part>
  )
}
