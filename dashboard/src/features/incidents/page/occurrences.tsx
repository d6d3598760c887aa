// Earlier occurrences of an incident, newest first, each with its own process, figures and log lines.
import { momentText } from '../../../../../agent/text/time.ts'
import type { Incident, Occurrence } from '../../../../../agent/model/incident.ts'
import { Part } from '../../../parts/incident/account.tsx'
import { agentNow } from '../../../parts/live/state.ts'
import { memory } from '../../../text/format.ts'

/** The most that the GPU, and the process, held around it. */
function peaks({ series, pid }: Occurrence): readonly string[] {
  return series.map(({ labels, value }) => {
    const whose = labels['pid'] === undefined ? 'on the GPU' : `process ${pid ?? labels['pid']}`
    return `${memory(Math.max(...value))} at most ${whose}`
  })
}

export function Occurrences({ incident: { occurrences = [] } }: { readonly incident: Incident }) {
  if (occurrences.length === 0) return null
  return (
    <Part id="occurrences" title="Earlier occurrences">
      <ul class="consequences">
        {occurrences.map((occurrence) => {
          const { at, pid, title, verdict, log_lines: lines } = occurrence
          return (
            <li key={at}>
              <details>
                <summary>
                  <span>{title}</span>
                  <span class="sub">{[momentText(at, agentNow.peek()), ...(pid === undefined ? [] : [`pid ${pid}`]), ...peaks(occurrence)].join(' · ')}</span>
                </summary>
                <p>{verdict}</p>
                <ol class="log-lines" tabIndex={0} aria-label="log lines of this occurrence">
                  {lines.map(({ text, matched }, i) => (
                    <li key={i} data-matched={matched}>
                      {text}
                    </li>
                  ))}
                </ol>
              </details>
            </li>
          )
        })}
      </ul>
    </Part>
  )
}
