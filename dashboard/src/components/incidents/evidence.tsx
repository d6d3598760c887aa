// What was seen around the fault, second by second: one slider moves the charts' line, the processes and the log through the same moment.
import { useEffect, useRef } from 'preact/hooks'
import type { Incident } from '../../../../agent/model/incident.ts'
import { views } from '../../state/app.ts'
import { evidenceCharts, marksOf } from '../../state/incidents-evidence.ts'
import { windowOf, type Window } from '../../state/incidents-lines.ts'
import { momentOf, pin, unpin } from '../../state/incidents-moment.ts'
import { timeWithSeconds, zoneName } from '../../text/format.ts'
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

function Scrubber({ fault, window }: { readonly fault: number; readonly window: Window }) {
  const bar = useBelowHead()
  const now = momentOf(fault, window)
  const text = `${timeWithSeconds(now * 1000)} ${zoneName(now * 1000)}, ${offsetText(now - fault)}`
  return (
    <div class="scrubber" ref={bar}>
      <label for="moment">
        <b>{timeWithSeconds(now * 1000)}</b> <span>{offsetText(now - fault)}</span>
      </label>
      <input
        id="moment"
        type="range"
        min={window.from}
        max={window.to}
        step={1}
        value={now}
        aria-label="moment of the evidence"
        aria-valuetext={text}
        style={{ '--fault': `${(((fault - window.from) / (window.to - window.from)) * 100).toFixed(2)}%` }}
        onInput={(event) => pin(Number(event.currentTarget.value), fault)}
      />
      <button type="button" class="word" disabled={now === fault - 1} onClick={unpin}>
        just before the fault
      </button>
    </div>
  )
}

export function Evidence({ incident }: { readonly incident: Incident }) {
  const window = windowOf(incident.started_at)
  const fault = Math.round(incident.started_at / 1000)
  // A card's size does not change: read once, or the charts would be made anew with every frame.
  const charts = evidenceCharts(incident, window, (uuid) => views.peek()?.find((view) => view.uuid === uuid)?.row.memory_total_bytes)
  const marks = marksOf(incident, window)
  const { log_lines: lines, processes } = incident.evidence
  return (
    <div class="evidence">
      <Scrubber fault={fault} window={window} />
      {charts.length === 0 ? (
        <p class="nothing">No readings were kept around this fault.</p>
      ) : (
        <div class="evidence-charts">
          {charts.map((chart) => (
            <EvidenceFigure key={chart.id} chart={chart} window={window} fault={fault} marks={marks} incident={incident} />
          ))}
        </div>
      )}
      {lines.length > 0 && (
        <Part id="log" title="Log">
          <LogLines lines={lines} fault={fault} window={window} />
        </Part>
      )}
      {processes.length > 0 && <ProcessesThen incident={incident} fault={fault} window={window} />}
    </div>
  )
}
