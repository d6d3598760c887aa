// One card as a bar: who is on it, and behind them what the model would take; what lies beyond the card's end is missing.
import type { GpuRoom, Range } from '../../../../agent/model/fit.ts'
import { agentNow } from '../../parts/live/state.ts'
import { stretchesOf } from './report.ts'
import { memory } from '../../text/format.ts'
import { peakText } from '../../text/fit.ts'

type Props = { readonly room: GpuRoom; readonly scale: number; readonly total?: Range; readonly claim?: number | undefined }

export function GpuBar({ room, scale, total, claim }: Props) {
  const { capacity_bytes: capacity, free_bytes: free, peak_used_bytes: peak, peak_since_ms: since } = room
  const across = (bytes: number): string => `${(Math.min(1, bytes / scale) * 100).toFixed(2)}%`
  const inUse = free === undefined ? `${memory(capacity)} when empty` : `${memory(capacity - free)} of ${memory(capacity)} in use`
  return (
    <div class="gpu-bar" role="img" aria-label={total === undefined ? inUse : `${inUse}; needs ${memory(total.likely_bytes)}`}>
      <span class="card" style={{ width: across(capacity) }} />
      {stretchesOf(room, total, claim).map(({ kind, from, to, over }) => (
        <span
          key={`${kind} ${String(over)}`}
          class={over === true ? `${kind} over` : kind}
          style={{ left: across(from), width: across(Math.min(to, scale) - Math.min(from, scale)) }}
        />
      ))}
      {peak !== undefined && <span class="peak" style={{ left: across(peak) }} title={`${peakText(since, agentNow.peek())}: ${memory(peak)}`} />}
    </div>
  )
}
