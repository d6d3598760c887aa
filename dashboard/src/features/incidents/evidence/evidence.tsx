// What was seen around the fault, second by second: one slider moves the charts' line, the processes and the log through the same moment.
import { timeWithSeconds, zoneName } from '../../../../../agent/text/time.ts'
import { useEffect, useRef } from 'preact/hooks'
import type { Incident, IncidentLogLine } from '../../../../../agent/model/incident.ts'
import { Part } from '../../../parts/incident/account.tsx'
import { views } from '../../../parts/live/state.ts'
import { jobOf } from '../../../parts/job/identity.ts'
import { hrefOf, route } from '../../../parts/route.ts'
import { offsetText } from '../../../text/facts.ts'
import { evidenceCharts, logOf, marksOf } from './charts.ts'
import { type Course, courseOf, faultLine } from './course.ts'
import { EvidenceFigure } from './figure.tsx'
import { momentOf, pin, pointed, unpin } from './moment.ts'
import { ProcessesThen } from './processes.tsx'

type Props = { readonly lines: readonly IncidentLogLine[]; readonly course: Course }

/** The log around the fault, its own lines marked; what was written after the moment looked at is dimmed. */
function LogLines({ lines, course }: Props) {
  // Nobody has chosen a moment: the whole log is what one wants to read.
  const chosen = pointed.value !== undefined || route.value.params.has('at')
  const until = chosen ? (momentOf(course) + 1) * 1000 : Number.POSITIVE_INFINITY
  const opensAt = faultLine(lines, course.fault)
  const list = useRef<HTMLOListElement>(null)
  // The box shows a part of the log: the fault's own line is what one came for. Only the box scrolls, never the page.
  useEffect(() => {
    const box = list.current
    const line = box?.children[opensAt]
    if (box === null || line === undefined) return
    box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3
  }, [course.fault, lines.length > 0])
  return (
    <ol ref={list} class="log-lines" tabIndex={0} aria-label="log lines around the fault">
      {lines.map(({ t, stream, origin, text, matched }, i) => (
        <li key={i} class={matched === true ? 'fault-line' : undefined} data-later={t >= until ? '' : undefined}>
          <span class="log-time">{timeWithSeconds(t)}</span>
          <span class="log-origin" title={origin}>
            {origin ?? stream}
          </span>
          <span class="log-text">
            {matched === true && <span class="spoken">the fault: </span>}
            {text}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** Keeps the slider below the page's head, whose height is its words'; on a phone the head scrolls away. */
function useBelowHead() {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const head = document.querySelector<HTMLElement>('.top')
    if (head === null) return undefined
    const observer = new ResizeObserver(() => {
      const height = getComputedStyle(head).position === 'sticky' ? head.offsetHeight : 0
      bar.current?.style.setProperty('--head', `${height}px`)
    })
    observer.observe(head)
    return () => observer.disconnect()
  }, [])
  return bar
}

function Scrubber({ course }: { readonly course: Course }) {
  const bar = useBelowHead()
  const { from, to, fault, start } = course
  const now = momentOf(course)
  const text = `${timeWithSeconds(now * 1000)} ${zoneName(now * 1000)}, ${offsetText(now - fault)}`
  return (
    <div class="scrubber" ref={bar}>
      <label for="moment">
        <b>{timeWithSeconds(now * 1000)}</b> <span>{offsetText(now - fault)}</span>
      </label>
      <input
        id="moment"
        type="range"
        min={from}
        max={to}
        step={1}
        value={now}
        aria-label="moment of the evidence"
        aria-valuetext={text}
        style={{ '--fault': `${(((fault - from) / (to - from)) * 100).toFixed(2)}%` }}
        onInput={(event) => pin(Number(event.currentTarget.value), course)}
      />
      <button type="button" class="word" disabled={now === start} onClick={unpin}>
        just before the fault
      </button>
    </div>
  )
}

/** The job's log as it is now, at this moment where its lines are still kept, below the charts of that time. */
function JobLogLink({ incident: { subject }, second }: { readonly incident: Incident; readonly second: number }) {
  const { container } = subject
  if (container === undefined) return null
  const { key, name } = jobOf({ container: container.name, namespace: container.namespace, pod: container.pod })
  return (
    <p class="sub">
      <a href={hrefOf('jobs', [key], { log: String(second) })}>{`Log of ${name} now`}</a>
    </p>
  )
}

export function Evidence({ incident }: { readonly incident: Incident }) {
  const course = courseOf(incident)
  // A card's size does not change: read once, or the charts would be made again with every frame.
  const charts = evidenceCharts(incident, course, (uuid) => views.peek()?.find((view) => view.uuid === uuid)?.row.memory_total_bytes)
  const marks = marksOf(incident, course)
  const lines = logOf(incident.evidence)
  return (
    <div class="evidence" data-severity={incident.severity}>
      <Scrubber course={course} />
      {charts.length === 0 ? (
        <p class="nothing">No readings were kept around this fault.</p>
      ) : (
        <div class="evidence-charts">
          {charts.map((chart) => (
            <EvidenceFigure key={chart.id} chart={chart} course={course} marks={marks} incident={incident} />
          ))}
        </div>
      )}
      {lines.length > 0 && (
        <Part id="log" title="Log">
          <LogLines lines={lines} course={course} />
          <JobLogLink incident={incident} second={course.fault} />
        </Part>
      )}
      {incident.evidence.processes.length > 0 && <ProcessesThen incident={incident} course={course} />}
    </div>
  )
}
