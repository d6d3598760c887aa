// What an agent's API says of incidents, for tests that drive faults live: reached in time, or the words of what there is instead.
import * as z from 'zod'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import type { RunningAgent } from './agent.ts'
import { poll } from './poll.ts'

export type WatchedIncident = z.infer<typeof incidentSummary>
const list = z.array(incidentSummary)
/** The slowest detectors look each ten seconds and wait half a minute; a busy machine takes a multiple. */
const DEADLINE_MS = 150_000

export function watchIncidents(agent: Pick<RunningAgent, 'json'>, kinds: ReadonlySet<string>) {
  let last: readonly WatchedIncident[] = []
  const all = async (): Promise<readonly WatchedIncident[]> =>
    (last = list.parse(await agent.json('/api/v1/incidents?limit=1000')).filter(({ kind }) => kinds.has(kind)))
  const words = (): string => last.map(({ kind, status, title, verdict }) => `${kind} ${status}: ${title} (${verdict})`).join('; ')
  return {
    all,
    /** `kind GPU 2`, `kind trainer` or `kind host`, sorted. */
    firing: async (): Promise<readonly string[]> =>
      (await all())
        .filter(({ status }) => status === 'firing')
        .map(shortly)
        .sort(),
    reached: async (what: string, holds: (found: readonly WatchedIncident[]) => boolean): Promise<readonly WatchedIncident[]> =>
      await poll(
        async () => {
          const found = await all()
          return holds(found) ? found : undefined
        },
        { what: () => `${what}; there are: ${words()}`, deadlineMs: DEADLINE_MS, everyMs: 100 },
      ),
  }
}
export function shortly({ kind, subject }: WatchedIncident): string {
  const index = subject.gpu?.index
  return `${kind} ${subject.container?.name ?? (index === undefined ? 'host' : `GPU ${index}`)}`
}
