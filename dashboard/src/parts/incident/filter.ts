// Which incidents a list shows, and in which order: pure, from the address's words.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { whom } from './subject.ts'

export type IncidentFilters = {
  readonly state?: string | undefined
  readonly severity?: string | undefined
  readonly kind?: string | undefined
  /** One of SPANS. */
  readonly since?: string | undefined
  readonly text?: string | undefined
}
export const FILTER_NAMES = ['state', 'severity', 'kind', 'since', 'text'] as const

export const STATES = ['firing', 'pending', 'resolved'] as const
export const SEVERITIES = ['critical', 'warning', 'info'] as const
const HOUR_MS = 3_600_000
export const SPANS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'last hour', ms: HOUR_MS },
  '24h': { label: 'last 24 hours', ms: 24 * HOUR_MS },
  '7d': { label: 'last 7 days', ms: 7 * 24 * HOUR_MS },
}

/** All that a person may remember of it, in lower case. */
function wordsOf(incident: IncidentSummary): string {
  const { id, kind, title, verdict, subject, evidence } = incident
  const { gpu, container, process } = subject
  const parts = [
    id,
    kind,
    title,
    verdict,
    whom(incident),
    gpu?.uuid,
    gpu?.pci_bus_id,
    container?.name,
    container?.namespace,
    container?.id,
    container?.image,
    process?.name,
  ]
  return [...parts, ...evidence.log_lines.flatMap(({ origin, text }) => [origin, text])].join('\n').toLowerCase()
}

export function fits(incident: IncidentSummary, filters: IncidentFilters, nowMs: number): boolean {
  const { state, severity, kind, since, text } = filters
  const span = since === undefined ? undefined : SPANS[since]
  if (state !== undefined && incident.status !== state) return false
  if (severity !== undefined && incident.severity !== severity) return false
  if (kind !== undefined && incident.kind !== kind) return false
  // What fires is not over, however long ago it was last seen.
  if (span !== undefined && incident.status !== 'firing' && (incident.resolved_at ?? incident.last_seen_at) < nowMs - span.ms) return false
  const words = text?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  if (words.length === 0) return true
  const own = wordsOf(incident)
  return words.every((word) => own.includes(word))
}

export type Held = { readonly rows: readonly IncidentSummary[]; readonly waiting: number }

/**
 * The rows while someone points at them: in the places that they had, with their newest words. What would come in, go or move waits.
 * `shown` is undefined while nobody points there.
 */
export function holdStill(fresh: readonly IncidentSummary[], shown: readonly string[] | undefined, known: (id: string) => IncidentSummary | undefined): Held {
  if (shown === undefined) return { rows: fresh, waiting: 0 }
  const rows = shown.flatMap((id) => known(id) ?? [])
  const places = new Set(shown)
  const kept = fresh.filter(({ id }) => places.has(id)).map(({ id }) => id)
  const still = new Set(kept)
  const before = rows.map(({ id }) => id).filter((id) => still.has(id))
  const moved = kept.filter((id, place) => id !== before[place]).length
  return { rows, waiting: fresh.length - kept.length + (rows.length - kept.length) + moved }
}

/** How long it lasted, or has lasted, in seconds. */
export const lastedSeconds = ({ started_at: from, resolved_at: to, status, last_seen_at: last }: IncidentSummary, nowMs: number): number =>
  Math.max(0, ((status === 'resolved' ? (to ?? last) : nowMs) - from) / 1000)
