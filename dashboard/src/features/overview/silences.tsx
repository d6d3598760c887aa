// Whom nobody is notified of now, until when and why; each silence can be ended here.
import { since } from '../../../../agent/text/time.ts'
import type { Silence } from '../../../../agent/model/maintenance.ts'
import { endSilence } from '../../parts/incident/operator.ts'
import { silences } from '../../parts/incident/silences.ts'
import { agentNow, views } from '../../parts/live/state.ts'

/** A GPU is called by its number; one that the host no longer has by the beginning of its UUID. */
function gpuText(gpu: string): string {
  const index = views.value?.find(({ uuid }) => uuid === gpu)?.index
  return `GPU ${index ?? (gpu.length > 12 ? `${gpu.slice(0, 12)}…` : gpu)}`
}

const scopeText = ({ kind, gpu, container, severity }: Silence): string =>
  [kind, severity, gpu === undefined ? undefined : gpuText(gpu), container].filter((part) => part !== undefined).join(' · ') || 'the whole host'

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
