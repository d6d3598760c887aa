// A GPU that cannot be believed: since when, why, and of which moment its figures are.
import type { ReadonlySignal } from '@preact/signals'
import { agentNow } from '../live/state.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { age, timeWithSeconds } from '../../text/format.ts'

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
