// Silences as the page keeps them.
import { computed, signal } from '@preact/signals'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { Silence } from '../../../../agent/model/maintenance.ts'
import { getJson, storedToken } from '../connection/api.ts'
import { parseSilences } from '../connection/messages.ts'
import { agentNow } from '../live/state.ts'

const all = signal<readonly Silence[]>([])
/** Those that hold; the list changes once a minute at the most. */
const minute = computed(() => Math.floor(agentNow.value / 60_000) * 60_000)
export const silences = computed(() => all.value.filter(({ until }) => until > minute.value))
/** Why the last thing that was said was not taken. */
export const refused = signal<string | undefined>(undefined)

export async function loadSilences(token = storedToken()): Promise<void> {
  try {
    all.value = parseSilences(await getJson('api/v1/silences', token))
  } catch (error) {
    // Each incident still says that it is silenced.
    console.warn(error)
  }
}

/** A silence that someone else made shows in the incidents first. */
export function noticed({ silenced }: IncidentSummary): void {
  if (silenced !== undefined && !all.peek().some(({ id }) => id === silenced.id)) void loadSilences()
}
