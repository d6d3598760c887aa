// Incidents as the page keeps them: what the API listed, and what the stream has told since.
import { computed, signal } from '@preact/signals'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { agentNow, views } from '../live/state.ts'
import { ordered } from './subject.ts'
import { fresh, type Group, groups, isCurrent, type Standing } from './groups.ts'
import { repeats } from './repeats.ts'

const KEPT = 100
export const SHOWN = 6
/** A resolved one is news for an hour. */
const RECENT_MS = 3_600_000

/** Whether the agent has listed its incidents since the page was connected: without the list nobody can say that all is well. */
export const listing = signal<'asked' | 'there' | 'failed'>('asked')
export const incidents = signal<ReadonlyMap<string, IncidentSummary>>(new Map())

/** Newer words about an incident replace older ones; an answer of the API that comes after the stream's does not undo it. */
export function takeIncidents(
  known: ReadonlyMap<string, IncidentSummary>,
  reported: readonly IncidentSummary[],
  kept = KEPT,
): ReadonlyMap<string, IncidentSummary> {
  const next = new Map(known)
  for (const incident of reported) {
    const old = next.get(incident.id)
    if (old !== undefined && (old.status === 'resolved' || old.last_seen_at > incident.last_seen_at) && incident.status !== 'resolved') continue
    next.set(incident.id, incident)
  }
  if (next.size <= kept) return next
  return new Map([...next].toSorted(([, a], [, b]) => b.last_seen_at - a.last_seen_at).slice(0, kept))
}

/** In the order of the whole list, in which nothing moves while it lasts. */
export function listed(all: Iterable<IncidentSummary>, nowMs: number): readonly IncidentSummary[] {
  return ordered([...all].filter((incident) => incident.status === 'firing' || nowMs - (incident.resolved_at ?? incident.last_seen_at) < RECENT_MS))
}

/** Minutes are enough for what is an hour old: the list need not be made again with every frame. */
const minute = computed(() => Math.floor(agentNow.value / 60_000) * 60_000)
export const current = computed(() => listed(incidents.value.values(), minute.value))
/** One row for all that has one cause. */
export const grouped = computed(() => groups(repeats(current.value)))
const needed = computed(() => grouped.value.filter(isCurrent))
/** Which of them are open; `news.tsx` of the overview keeps it as it was laid out. */
export const arranged = signal<(all: readonly Group[], room: number) => Standing>(fresh)
export const shown = computed(() => arranged.value(grouped.value, SHOWN))

/** What fires and was not silenced: critical ones first, then by their beginning, so that their order does not change while they last. */
export const firing = computed(() =>
  [...incidents.value.values()]
    .filter(({ status, silenced }) => status === 'firing' && silenced === undefined)
    .toSorted((a, b) => Number(b.severity === 'critical') - Number(a.severity === 'critical') || a.started_at - b.started_at),
)
/** What comes and goes and does not fire at the moment: it is no good health either. */
export const flapping = computed(() => needed.value.filter(({ incident }) => incident.status !== 'firing' && incident.silenced === undefined))
/** Of a job, whose GPUs then work for nothing or not at all; these give the numbers of the host. */
const OF_ITS_JOB: ReadonlySet<IncidentSummary['kind']> = new Set(['job_hang', 'job_slowdown', 'progress_stalled'])
/** An incident of one GPU, by its UUID, as a log's number may be another's; or of a job that does not move on it. */
export function isOnGpu({ kind, subject, facts: { gpus } }: IncidentSummary, uuid: string): boolean {
  if (subject.gpu?.uuid === uuid) return true
  if (!OF_ITS_JOB.has(kind) || gpus === undefined) return false
  const index = views.value?.find((view) => view.uuid === uuid)?.index
  return index !== undefined && gpus.includes(String(index))
}
export const firingOn = (uuid: string): readonly IncidentSummary[] => firing.value.filter((incident) => isOnGpu(incident, uuid))
/** What fires and was silenced: nobody is notified, and yet not all is well. */
export const silencedNow = computed(() => [...incidents.value.values()].filter(({ status, silenced }) => status === 'firing' && silenced !== undefined))
