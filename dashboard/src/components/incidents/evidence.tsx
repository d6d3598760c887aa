// What was seen around the fault, second by second: one slider moves the charts' line, the processes and the log through the same moment.
import { useEffect, useRef } from 'preact/hooks'
import { timeWithSeconds, zoneName } from '../../../../agent/text/time.ts'
import type { Incident } from '../../../../agent/model/incident.ts'
import { views } from '../../state/app.ts'
import { courseOf, type Course } from '../../state/incidents-course.ts'
import { evidenceCharts, logOf, marksOf } from '../../state/incidents-evidence.ts'
import { momentOf, pin, unpin } from '../../state/incidents-moment.ts'
import { offsetText } from '../../text/facts.ts'
import { Part } from './account.tsx'
import { EvidenceFigure } from './evidence-figure.tsx'
import { LogLines } from './log-lines.tsx'
import { ProcessesThen } from './processes-then.tsx'

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

export function Evidence({ incident }: { readonly incident: Incident }) {
  const course = courseOf(incident)
  // A card's size does not change: read once, or the charts would be made anew with every frame.
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
        </Part>
      )}
      {incident.evidence.processes.length > 0 && <ProcessesThen incident={incident} course={course} />}
    </div>
  )
}
