// The head of the doctor's page: how the host stands, when it was looked at, and the button to look again.
import { age } from '../../../../agent/text/span.ts'
import { timeWithSeconds, zoneName } from '../../../../agent/text/time.ts'
import { useEffect, useState } from 'preact/hooks'
import { clock, hello } from '../../parts/live/state.ts'
import { look, lookingSince, report, trouble } from './state.ts'
import { counted, headline, standing } from '../../text/doctor.ts'

/** How long it has been looking, each tenth of a second. */
function Looking({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 100)
    return () => clearInterval(timer)
  }, [])
  return (
    <span class="looking">
      <span class="spinner" aria-hidden="true" />
      <span role="status">Looking at the host</span>
      <span aria-hidden="true">{`${(Math.max(0, now - since) / 1000).toFixed(1)} s`}</span>
    </span>
  )
}

function When() {
  const found = report.value
  if (found === undefined) return null
  return (
    <span class="looked">
      checked at{' '}
      <time dateTime={new Date(found.t).toISOString()}>
        {timeWithSeconds(found.t)} {zoneName(found.t)}
      </time>{' '}
      in {(found.duration_ms / 1000).toFixed(1)} s, {age((clock.value - found.t) / 1000)} ago
    </span>
  )
}

export function DoctorHead() {
  const since = lookingSince.value
  const found = report.value
  const simulated = hello.value?.simulated === true
  return (
    <header class="doctor-top" data-status={found && standing(found)}>
      <div>
        <h2 id="doctor-title">{found === undefined ? 'Doctor' : headline(found)}</h2>
        <p class="doctor-line">
          {found !== undefined && (
            <span>
              {[counted(found.counts.pass, 'pass'), counted(found.counts.skipped, 'skipped')].join(', ')} of {found.checks.length} checks
            </span>
          )}
          {found !== undefined && !simulated && <span>on {found.host}</span>}
          {since === undefined ? <When /> : <Looking since={since} />}
        </p>
        {simulated && <p class="doctor-line">The other pages show simulated figures. These checks ran on the machine on which this agent runs.</p>}
        {trouble.value !== undefined && since === undefined && (
          <p class="refused" role="alert">
            Looking did not work: {trouble.value}.{found === undefined ? '' : ' What is below was found before.'}
          </p>
        )}
      </div>
      <button type="button" class="strong" disabled={since !== undefined} onClick={() => void look()}>
        Look again
      </button>
    </header>
  )
}
