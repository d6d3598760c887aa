// The log around the fault, its own lines marked; what was written after the moment looked at is dimmed.
import { timeWithSeconds } from '../../../../agent/text/time.ts'
import type { IncidentLogLine } from '../../../../agent/model/incident.ts'
import type { Course } from '../../state/incidents-course.ts'
import { momentOf, pointed } from '../../state/incidents-moment.ts'
import { route } from '../../state/route.ts'

type Props = { readonly lines: readonly IncidentLogLine[]; readonly course: Course }

export function LogLines({ lines, course }: Props) {
  // Nobody has chosen a moment: the whole log is what one wants to read.
  const chosen = pointed.value !== undefined || route.value.params.has('at')
  const until = chosen ? (momentOf(course) + 1) * 1000 : Number.POSITIVE_INFINITY
  return (
    <ol class="log-lines" tabIndex={0} aria-label="log lines around the fault">
      {lines.map(({ t, stream, origin, text, matched }, i) => (
        <li key={i} class={matched === true ? 'fault-line' : undefined} data-later={t >= until ? '' : undefined}>
          <span class="log-time">{timeWithSeconds(t)}</span>
          <span class="log-origin">{origin ?? stream}</span>
          <span class="log-text">
            {matched === true && <span class="spoken">the fault: </span>}
            {text}
          </span>
        </li>
      ))}
    </ol>
  )
}
