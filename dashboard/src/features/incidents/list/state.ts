// The list of incidents: all that the agent still knows, filtered by the address, kept up by the stream, and held still while someone points at it.
import { computed, effect, signal } from '@preact/signals'
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import { ApiError, getJson, storedToken } from '../../../parts/connection/api.ts'
import { parseIncidents } from '../../../parts/connection/messages.ts'
import { FILTER_NAMES, fits, holdStill, type IncidentFilters } from '../../../parts/incident/filter.ts'
import { ordered } from '../../../parts/incident/subject.ts'
import { incidents, takeIncidents } from '../../../parts/incident/known.ts'
import { agentNow, connection } from '../../../parts/live/state.ts'
import { route, setParams } from '../../../parts/route.ts'

/** As many as the agent gives in one answer (agent/http/api/incidents.ts). */
const MOST = 1_000
/** A first answer that is soon there; the rest when asked for. */
const FIRST = 200

export type Asked = { readonly state: 'asking' } | { readonly state: 'there' } | { readonly state: 'failed'; readonly why: string }
export const asked = signal<Asked>({ state: 'asking' })
const past = signal<ReadonlyMap<string, IncidentSummary>>(new Map())
const limit = signal(FIRST)
/** The agent may know more than it was asked for. */
export const more = computed(() => limit.value < MOST && past.value.size >= limit.value)

const all = computed(() => takeIncidents(past.value, [...incidents.value.values()], MOST + FIRST))
/** The list need not be made again with every frame. */
const minute = computed(() => Math.floor(agentNow.value / 60_000) * 60_000)

export const filters = computed<IncidentFilters>(() =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (route.value.params.has(name) ? [[name, route.value.params.get(name)]] : []))),
)
export const filtered = computed(() => Object.keys(filters.value).length > 0)
const fresh = computed(() => ordered([...all.value.values()].filter((incident) => fits(incident, filters.value, minute.value))))
const shownIds = signal<readonly string[] | undefined>(undefined)
export const rows = computed(() => holdStill(fresh.value, shownIds.value, (id) => all.value.get(id)))
export const known = computed(() => all.value.size)
/** Kinds that there are, the most frequent first. */
export const kinds = computed(() => {
  const counts = new Map<string, number>()
  for (const { kind } of all.value.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
})

export function hold(): void {
  shownIds.value ??= fresh.peek().map(({ id }) => id)
}
export function release(): void {
  shownIds.value = undefined
}
export function filter(changes: IncidentFilters): void {
  release()
  setParams(changes)
}

async function ask(): Promise<void> {
  try {
    const reported = parseIncidents(await getJson(`api/v1/incidents?limit=${limit.peek()}`, storedToken()))
    past.value = new Map(reported.map((incident) => [incident.id, incident]))
    asked.value = { state: 'there' }
  } catch (error) {
    if (asked.peek().state !== 'there') asked.value = { state: 'failed', why: error instanceof ApiError ? error.failure.message : 'the agent does not answer' }
  }
}

export function askForMore(): void {
  limit.value = MOST
  void ask()
}

/** Asks now, and again whenever the page was cut off and is back; gives the end of it. */
export function watchList(): () => void {
  const stop = effect(() => {
    if (connection.value.state === 'live') void ask()
  })
  return () => {
    stop()
    release()
  }
}
