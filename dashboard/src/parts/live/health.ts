// Whether a GPU answers, judged from its row alone: a figure that is not fresh must never look alive.
import type { GapRow, GpuRow } from '../../../../agent/model/live.ts'
import { gapText } from '../../text/words.ts'

export type Trouble = {
  readonly kind: 'hung' | 'lost' | 'reset' | 'stale' | 'silent'
  /** Completes "GPU 3 …". */
  readonly verdict: string
  /** The same with a time behind it: has not answered since 09:41. */
  readonly lasting: string
  /** Goes before "for 4 s". */
  readonly state: string
  readonly reason: string
  readonly detail?: string
  /** Age of the newest reading, where known. */
  readonly ageSeconds?: number
}

/** Three missed samples at 1 Hz; one late one is no news. */
export const STALE_AFTER_S = 3.5

const VITAL = ['memory_used_bytes', 'utilization_ratio', 'power_watts', 'temperature_celsius'] as const
/** Worst first: the reason that explains the others. */
const RANK = ['gpu_lost', 'reset_required', 'timeout', 'driver_error', 'no_permission', 'parse_error', 'not_supported']

function decisiveGap(gaps: readonly GapRow[]): GapRow | undefined {
  const rank = (gap: GapRow): number => {
    const at = RANK.indexOf(gap.reason)
    return at === -1 ? RANK.length : at
  }
  return gaps.toSorted((a, b) => rank(a) - rank(b))[0]
}

/** undefined when the GPU's figures are fresh. A single measure that cannot be read is no trouble of the GPU. */
export function troubleOf(row: GpuRow): Trouble | undefined {
  const ageSeconds = row.sample_age_seconds
  const old = ageSeconds !== undefined && ageSeconds > STALE_AFTER_S
  const silent = VITAL.every((measure) => row[measure] === undefined)
  const gap = decisiveGap(row.gaps ?? [])
  const lost = gap?.reason === 'gpu_lost'
  if (!old && !silent && !lost) return undefined
  const reason = gap === undefined ? 'no reading came' : gapText(gap.reason)
  const more = { ...(gap?.detail !== undefined && { detail: gap.detail }), ...(ageSeconds !== undefined && { ageSeconds }) }
  if (lost) return { kind: 'lost', verdict: 'is lost', lasting: 'has been lost', state: 'Lost', reason, ...more }
  if (gap?.reason === 'reset_required')
    return { kind: 'reset', verdict: 'needs a reset', lasting: 'has needed a reset', state: 'In need of a reset', reason, ...more }
  if (gap?.reason === 'timeout') return { kind: 'hung', verdict: 'does not answer', lasting: 'has not answered', state: 'No answer', reason, ...more }
  if (old) return { kind: 'stale', verdict: 'sends nothing new', lasting: 'has sent nothing new', state: 'Nothing new', reason, ...more }
  return { kind: 'silent', verdict: 'cannot be read', lasting: 'has been unreadable', state: 'Unreadable', reason, ...more }
}
