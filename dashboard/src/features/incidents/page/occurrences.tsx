// Which occurrence of an incident the page shows: the newest first, one at a time, kept in the address.
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'
import { memory } from '../../../text/format.ts'
import { areAllKept, type Choice, choicesOf } from './occurrence.ts'

const details = ({ pid, peakBytes }: Choice): string =>
  [pid === undefined ? undefined : `pid ${pid}`, peakBytes === undefined ? undefined : `peak ${memory(peakBytes)}`]
    .filter((part) => part !== undefined)
    .join(' · ')

export function OccurrencePicker({ incident, shown }: { readonly incident: Incident; readonly shown: number }) {
  const choices = choicesOf(incident)
  if (choices.length < 2) return null
  const [newest] = choices
  const kept = areAllKept(incident)
  return (
    <nav class="occurrence-picker" aria-labelledby="occurrences-title">
      <h3 id="occurrences-title">
        Occurrences <span class="count">{kept ? choices.length : `${choices.length} of ${incident.count}`}</span>
      </h3>
      <ol>
        {choices.map((choice) => (
          <li key={choice.at}>
            <a
              href={hrefOf('incidents', [incident.id], choice === newest ? {} : { occurrence: String(choice.at) })}
              aria-current={choice.at === shown ? 'true' : undefined}
            >
              <b>{`${momentText(choice.at, agentNow.peek())} ${zoneName(choice.at)}`}</b>
              <span class="sub">
                {[choice === newest ? 'newest' : undefined, details(choice)].filter((part) => part !== undefined && part !== '').join(' · ')}
              </span>
            </a>
          </li>
        ))}
      </ol>
      {!kept && <p class="sub">Details of earlier ones are no longer kept.</p>}
      {kept && incident.count > choices.length && <p class="sub">{`Reported ${incident.count} times in these ${choices.length}.`}</p>}
    </nav>
  )
}
