// Puts a message together from what the outbox keeps of it.
import { SEVERITIES } from '../../agent/model/severity.ts'
import type { Message, MessageItem, Reach, RunMessage, WasteMessage } from '../../agent/model/notification.ts'
import type { StoredMessage } from '../../agent/store/outbox/messages.ts'

const rankOf = ({ incident }: MessageItem): number => SEVERITIES.indexOf(incident.severity)

/** The worst first, what led to others before what followed from it; what is said of one incident stays together and in its order. */
function inOrder(items: readonly MessageItem[]): readonly MessageItem[] {
  const byIncident = Map.groupBy(items, ({ incident }) => incident.id)
  return [...byIncident.values()]
    .map((said) => ({ said, rank: Math.max(...said.map(rankOf)), follows: said.at(-1)?.incident.part_of === undefined ? 0 : 1 }))
    .toSorted((a, b) => b.rank - a.rank || a.follows - b.follows)
    .flatMap(({ said }) => said)
}

export function messageOf({ key, at, items, expired }: Omit<StoredMessage, 'threads'>, host: string, reach: Reach): Message {
  const count = new Set(items.map(({ incident }) => incident.id)).size
  return { key, t: at, host, ...reach, items: inOrder(items), count, ...(expired === undefined ? {} : { expired }) }
}

/** What the outbox keeps: runs that ended, summaries of waste, or incidents. */
export function anyMessageOf(stored: StoredMessage, host: string, reach: Reach): Message | RunMessage | WasteMessage {
  const { key, at, runs, waste, expired } = stored
  const about = { key, t: at, host, ...reach, ...(expired === undefined ? {} : { expired }) }
  if (runs !== undefined) return { ...about, runs }
  return waste === undefined ? messageOf(stored, host, reach) : { ...about, waste }
}
