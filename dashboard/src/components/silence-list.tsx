// What is silenced: whom nobody is told of, until when, why; each can be ended here.
import { since } from '../../../agent/text/time.ts'
import type { Silence } from '../../../agent/model/maintenance.ts'
import { agentNow } from '../state/app.ts'
import { endSilence, silences } from '../state/maintenance.ts'

const scopeText = ({ kind, gpu, container, severity }: Silence): string =>
  [kind, severity, gpu === undefined ? undefined : `GPU ${gpu}`, container].filter((part) => part !== undefined).join(' · ') || 'the whole host'

export function SilenceList() {
  const entries = silences.value
  if (entries.length === 0) return null
  return (
    <section class="silences" aria-labelledby="silences-title">
      <h2 id="silences-title">Silenced</h2>
      <ul>
        {entries.map((silence) => (
          <li key={silence.id}>
            <b>{scopeText(silence)}</b> until {since(silence.until, agentNow.peek())}: {silence.reason}
            {silence.by === undefined ? '' : ` (${silence.by})`}{' '}
            <button type="button" class="word" aria-label={`end the silence of ${scopeText(silence)}`} onClick={() => void endSilence(silence.id)}>
              end
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
