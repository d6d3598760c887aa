// A GPU that cannot be believed: since when, why, and of which moment its figures are.
import type { ReadonlySignal } from '@preact/signals'
import { age } from '../../../agent/text/span.ts'
import { timeWithSeconds } from '../../../agent/text/time.ts'
import { agentNow } from '../state/app.ts'
import type { GpuView } from '../state/gpu-view.ts'

export function TroubleNote({ of }: { readonly of: ReadonlySignal<GpuView> }) {
  const { trouble, sinceMs } = of.value
  if (trouble === undefined) return null
  return (
    <div class="trouble" role="status">
      <strong>
        {trouble.state}
        {sinceMs !== undefined && ` for ${age((agentNow.value - sinceMs) / 1000)}`}
      </strong>
      <span>
        {trouble.detail ?? trouble.reason}
        {sinceMs !== undefined && `. Figures are of ${timeWithSeconds(sinceMs)}.`}
      </span>
    </div>
  )
}
