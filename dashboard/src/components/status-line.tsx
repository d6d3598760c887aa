// The line that answers at a glance: how many GPUs, how many busy, what is wrong and since when.
import { frame, hovered, stale, summary, silence } from '../state/app.ts'
import { age, timeWithSeconds } from '../text/format.ts'

export function StatusLine() {
  const now = summary.value
  if (now === undefined) return null
  const { attention, gpus, busy } = now
  const past = hovered.value
  return (
    <div class="status" data-wrong={attention.length > 0 || stale.value}>
      <p role="status">
        <span>{gpus === 0 ? 'no GPU' : gpus === 1 ? '1 GPU' : `${gpus} GPUs`}</span>
        {gpus > 0 && !stale.value && <span>{busy === 0 ? 'none busy' : `${busy} busy`}</span>}
        {stale.value ? (
          <span class="wrong critical">{`no news for ${age(silence.value)}, figures are of ${timeWithSeconds(frame.value?.t ?? 0)}`}</span>
        ) : gpus === 0 ? null : attention.length === 0 ? (
          <span class="fine">{gpus === 1 ? 'it answers' : 'all answer'}</span>
        ) : (
          attention.map((item) => (
            <a key={`${item.uuid} ${item.text}`} class={`wrong ${item.severity}`} href={`#gpu-${/^GPU (\d+)/.exec(item.text)?.[1] ?? ''}`}>
              {item.text}
            </a>
          ))
        )}
      </p>
      <span class="looking">{past === undefined ? 'last 15 minutes' : `figures of ${timeWithSeconds(past * 1000)}`}</span>
    </div>
  )
}
