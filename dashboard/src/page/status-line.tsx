// The line that answers at a glance: how many GPUs, how many busy, what is wrong and since when.
import { age } from '../../../agent/text/span.ts'
import { since, timeWithSeconds } from '../../../agent/text/time.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'
import { agentNow, frame, stale, summary, silence } from '../parts/live/state.ts'
import { firing, flapping, listing, silencedNow } from '../parts/incident/known.ts'
import { withoutIncident, placedTitle } from '../parts/live/summary.ts'
import { hrefOf } from '../parts/route.ts'

const toneOf = ({ severity }: IncidentSummary): string => (severity === 'critical' ? 'critical' : 'warning')

/** The worst of what fires, and how much more there is. */
function Firing() {
  const [first, next] = firing.value
  if (first === undefined) return null
  const text = `${placedTitle(first)} · since ${since(first.started_at, agentNow.value)}`
  return (
    <>
      <a class={`wrong incident-link ${toneOf(first)}`} title={text} href={hrefOf('incidents', [first.id])}>
        <span>{text}</span>
      </a>
      {next !== undefined && <a class={`more ${toneOf(next)}`} href={hrefOf('incidents', [], { state: 'firing' })}>{`${firing.value.length - 1} more`}</a>}
    </>
  )
}

/** Green only where all is known and nothing is wrong; a silenced incident is no good health, nor is one that comes back again and again. */
function Fine({ gpus }: { readonly gpus: number }) {
  const silenced = silencedNow.value.length
  if (silenced > 0)
    return <a href={hrefOf('incidents', [], { state: 'firing' })}>{silenced === 1 ? '1 silenced incident fires' : `${silenced} silenced incidents fire`}</a>
  const [worst] = flapping.value
  if (worst !== undefined)
    return (
      <a class="wrong incident-link warning" href={hrefOf('incidents', [worst.incident.id])}>
        <span>{`${placedTitle(worst.incident)} · flapping, ${worst.times} times`}</span>
      </a>
    )
  if (listing.value === 'there') return <span class="fine">{gpus === 1 ? 'GPU healthy' : 'all GPUs healthy'}</span>
  return listing.value === 'failed' ? <span class="wrong warning">incidents unknown</span> : null
}

export function StatusLine() {
  const now = summary.value
  if (now === undefined) return null
  const { gpus, busy } = now
  const attention = withoutIncident(now.attention, firing.value)
  return (
    <div class="status" data-wrong={attention.length > 0 || firing.value.length > 0 || stale.value}>
      <p role="status">
        {gpus === 0 ? <a href={hrefOf('doctor')}>no GPU</a> : <span>{gpus === 1 ? '1 GPU' : `${gpus} GPUs`}</span>}
        {gpus > 0 && !stale.value && <span>{busy === 0 ? 'none busy' : `${busy} busy`}</span>}
        <span class="told">
          {stale.value ? (
            <span class="wrong critical">
              <span>{`no news for ${age(silence.value)}, figures are of ${timeWithSeconds(frame.value?.t ?? 0)}`}</span>
            </span>
          ) : (
            attention.map(({ uuid, index, severity, text }) => (
              <a key={`${uuid} ${text}`} class={`wrong ${severity}`} title={text} href={hrefOf('gpus', [String(index)])}>
                <span>{text}</span>
              </a>
            ))
          )}
          {!stale.value && gpus > 0 && attention.length === 0 && firing.value.length === 0 && <Fine gpus={gpus} />}
          <Firing />
        </span>
      </p>
    </div>
  )
}
