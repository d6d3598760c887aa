// Puts a message together from what the outbox keeps of it.
import { SEVERITIES } from '../../agent/model/severity.ts'
import type { Message, MessageItem, Reach, RunMessage } from '../../agent/model/notification.ts'
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

export const runMessageOf = (
  { key, at, expired }: Pick<StoredMessage, 'key' | 'at' | 'expired'>,
  runs: RunMessage['runs'],
  host: string,
  reach: Reach,
): RunMessage => ({
  key,
  t: at,
  host,
  ...reach,
  runs,
  ...(expired === undefined ? {} : { expired }),
})
