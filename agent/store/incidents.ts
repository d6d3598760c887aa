// Keeps incidents, longer than raw history: on disk as soon as they fire, in memory while the disk cannot be written.
import { summaryOf, type Incident, type IncidentsView } from '../model/incident.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { INCIDENTS_FILE, INCIDENTS_SCHEMA, incidentsIn } from './incidents/file.ts'

export type IncidentStoreOptions = {
  readonly directory: string
  readonly log: Log
  readonly maxCount?: number
  readonly maxBytes?: number
}
export type IncidentStore = IncidentsView & {
  /** On disk before it returns, unless the disk is lost. */
  readonly save: (incident: Incident) => void
  /** Those that were firing when the agent ended. */
  readonly unresolved: () => readonly Incident[]
  /** Once a second: writes again what could not be written, keeps the bounds. */
  readonly maintain: (now: number) => void
  readonly degraded: () => string | undefined
  readonly close: () => void
}

/** About 5 KB each on disk: the last ten thousand, or 100 MB of them. */
const MAX_COUNT = 10_000
const MAX_BYTES = 100_000_000
/** In memory while there is no disk. */
const MAX_WAITING = 200
const TRIM_EVERY_MS = 60_000

export function createIncidentStore({ directory, log, maxCount = MAX_COUNT, maxBytes = MAX_BYTES }: IncidentStoreOptions): IncidentStore {
  let trimmedAt = 0
  /** What is not on disk, newest last. */
  const waiting = new Map<string, Incident>()
  /** Readers ask for the whole incident right after its notification; in a storm reading it back would be half of the work. */
  let newest: Incident | undefined
  const durable = openDurable({
    directory,
    file: INCIDENTS_FILE,
    log,
    what: 'incidents',
    schema: INCIDENTS_SCHEMA,
    cacheKib: 256,
    prepare: incidentsIn,
    onOpen(file, { previous }) {
      if (previous !== undefined) log.info(`incidents: ${file.takeOver(previous)} were taken over into the new file`)
      file.put([...waiting.values()])
      waiting.clear()
    },
  })

  return {
    save(incident) {
      newest = incident
      waiting.delete(incident.id)
      waiting.set(incident.id, incident)
      if (durable.use((file) => file.put([...waiting.values()]))) waiting.clear()
      const oldest = waiting.size > MAX_WAITING ? waiting.keys().next().value : undefined
      if (oldest !== undefined) waiting.delete(oldest)
    },
    unresolved: () => durable.read((from) => from.unresolved(), []),
    list(filter) {
      const { status, kind, since, limit } = filter
      const unsaved = [...waiting.values()].filter(
        (incident) =>
          (status === undefined || incident.status === status) &&
          (kind === undefined || incident.kind === kind) &&
          (since === undefined || incident.last_seen_at >= since),
      )
      const saved = durable.read((from) => from.list(filter), []).filter(({ id }) => !waiting.has(id))
      return [...unsaved.map(summaryOf), ...saved].sort((a, b) => b.started_at - a.started_at || (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    get: (id) => waiting.get(id) ?? (newest?.id === id ? newest : undefined) ?? durable.read((from) => from.get(id), undefined),
    maintain(now) {
      durable.maintain(now)
      if (Math.abs(now - trimmedAt) < TRIM_EVERY_MS) return
      if (durable.use((file) => file.trim(maxCount, maxBytes))) trimmedAt = now
    },
    degraded: durable.degraded,
    close: durable.close,
  }
}
