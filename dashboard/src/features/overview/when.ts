// Since when an incident fires, or when it was resolved.
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import type { Repeated } from '../../parts/incident/repeats.ts'
import { agentNow } from '../../parts/live/state.ts'

export const whenText = ({ status, started_at: startedAt, resolved_at: resolvedAt, last_seen_at: lastSeen }: Repeated['incident']): string =>
  status === 'resolved' ? `resolved ${timeWithSeconds(resolvedAt ?? lastSeen)}` : `since ${since(startedAt, agentNow.peek())}`
