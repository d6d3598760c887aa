// Keeps what people say of incidents: silences until they run out, acknowledgements, what was declared healthy. On disk before it is answered.
import { randomBytes } from 'node:crypto'
import type { BaselineEntry, Acknowledgement, NewSilence, Silence } from '../model/maintenance.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { listsIn, MAINTENANCE_FILE, MAINTENANCE_SCHEMA, type ListName, type Lists } from './maintenance/file.ts'
import { decorated, silenceOf, type Silenceable } from './maintenance/match.ts'

export type MaintenanceStore = {
  /** Those that hold now, newest first. */
  readonly silences: (now: number) => readonly Silence[]
  /** undefined: there are too many already. */
  readonly silence: (wanted: NewSilence, now: number) => Silence | undefined
  /** The silence that this ends; undefined when there is none of that id. */
  readonly remove: (id: string) => Silence | undefined
  readonly acknowledge: (incident: string, said: Acknowledgement) => void
  /** The incident with what people said of it. */
  readonly decorate: <T extends Silenceable>(incident: T, now: number) => T
  readonly baseline: () => readonly BaselineEntry[]
  readonly keepBaseline: (all: readonly BaselineEntry[]) => void
  /** Once a second: the silences that have just run out; writes again what could not be written. */
  readonly maintain: (now: number) => readonly Silence[]
  readonly close: () => void
}

export const MAX_SILENCES = 1_000
/** A fifth of the incidents that are kept; the oldest words are forgotten first. */
const MAX_ACKNOWLEDGED = 2_000
const NONE: readonly Silence[] = []

const LISTS: readonly ListName[] = ['silences', 'acknowledged', 'accepted']

export function createMaintenanceStore({ directory, log }: { readonly directory: string; readonly log: Log }): MaintenanceStore {
  const silences = new Map<string, Silence>()
  const acknowledged = new Map<string, Acknowledgement>()
  let baseline: readonly BaselineEntry[] = []
  const dirty = new Set<ListName>()
  const lists = (): Lists => ({ silences: [...silences.values()], acknowledged: [...acknowledged], accepted: baseline })
  /** What was on disk is in memory. */
  let isLoaded = false
  const durable = openDurable({
    directory,
    file: MAINTENANCE_FILE,
    log,
    what: 'silences and acknowledgements',
    schema: MAINTENANCE_SCHEMA,
    cacheKib: 64,
    prepare: listsIn,
    onOpen(file) {
      const found = file.read()
      // What was said while the disk was away is newer than what is there.
      if (isLoaded) for (const name of LISTS) dirty.add(name)
      else {
        for (const silence of found.silences) if (!silences.has(silence.id)) silences.set(silence.id, silence)
        if (!dirty.has('accepted')) baseline = found.accepted
      }
      for (const [incident, said] of found.acknowledged) if (!acknowledged.has(incident)) acknowledged.set(incident, said)
      isLoaded = true
      file.write(lists(), dirty)
      dirty.clear()
    },
  })
  const changed = (name: ListName): void => {
    dirty.add(name)
    if (durable.use((file) => file.write(lists(), dirty))) dirty.clear()
  }

  return {
    silences: (now) => [...silences.values()].filter(({ until }) => until > now).toSorted((a, b) => b.created_at - a.created_at),
    silence(wanted, now) {
      if (silences.size >= MAX_SILENCES) return undefined
      const made: Silence = { id: randomBytes(6).toString('hex'), created_at: now, ...wanted }
      silences.set(made.id, made)
      changed('silences')
      return made
    },
    remove(id) {
      const silence = silences.get(id)
      if (silence === undefined) return undefined
      silences.delete(id)
      changed('silences')
      return silence
    },
    acknowledge(incident, said) {
      acknowledged.delete(incident)
      acknowledged.set(incident, said)
      const oldest = acknowledged.size > MAX_ACKNOWLEDGED ? acknowledged.keys().next().value : undefined
      if (oldest !== undefined) acknowledged.delete(oldest)
      changed('acknowledged')
    },
    decorate: (incident, now) =>
      decorated(incident, silences.size === 0 ? undefined : silenceOf(incident, silences.values(), now), acknowledged.get(incident.id)),
    baseline: () => baseline,
    keepBaseline(all) {
      baseline = all
      changed('accepted')
    },
    maintain(now) {
      durable.maintain(now)
      let over: Silence[] | undefined
      for (const silence of silences.values()) if (silence.until <= now) (over ??= []).push(silence)
      if (over === undefined) return NONE
      for (const { id } of over) silences.delete(id)
      changed('silences')
      return over
    },
    close: durable.close,
  }
}
