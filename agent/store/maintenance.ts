// Keeps what people say of incidents: silences until they run out, acknowledgements, what was declared healthy. On disk before it is answered.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { codeOf, messageOf } from '../lib/error-words.ts'
import type { Accepted, Acknowledgement, NewSilence, Silence } from '../model/maintenance.ts'
import type { Log } from '../model/source.ts'
import { FileMovedError, isCorrupt, setAside } from './database-file.ts'
import { MAINTENANCE_FILE, openMaintenanceFile, type ListName, type Lists, type MaintenanceFile } from './maintenance/file.ts'
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
  readonly accepted: () => readonly Accepted[]
  readonly keepAccepted: (all: readonly Accepted[]) => void
  /** Once a second: the silences that have just run out; writes again what could not be written. */
  readonly maintain: (now: number) => readonly Silence[]
  readonly close: () => void
}

export const MAX_SILENCES = 1_000
/** A fifth of the incidents that are kept; the oldest words are forgotten first. */
const MAX_ACKNOWLEDGED = 2_000
const RETRY_MS = 10_000
const NONE: readonly Silence[] = []

const isBroken = (error: unknown): boolean => isCorrupt(error) || error instanceof SyntaxError
const LISTS: readonly ListName[] = ['silences', 'acknowledged', 'accepted']

export function createMaintenanceStore({ directory, log }: { readonly directory: string; readonly log: Log }): MaintenanceStore {
  const silences = new Map<string, Silence>()
  const acknowledged = new Map<string, Acknowledgement>()
  let accepted: readonly Accepted[] = []
  const dirty = new Set<ListName>()
  const allDirty = (): void => {
    for (const name of LISTS) dirty.add(name)
  }
  let file: MaintenanceFile | undefined
  let failing: string | undefined
  let triedAt = 0
  /** What stood on disk is in memory. */
  let loaded = false

  const close = (): void => {
    try {
      file?.close()
    } catch {
      // What matters is in memory or on disk already.
    }
    file = undefined
  }
  const failed = (error: unknown): void => {
    close()
    const text = `${codeOf(error)} ${messageOf(error)}`.trim()
    if (failing !== text)
      log.error(`silences and acknowledgements cannot be kept in ${directory} and are in memory only (${text}); tried again every ${RETRY_MS / 1000} s`)
    failing = text
    if (!isBroken(error)) return
    const path = join(directory, MAINTENANCE_FILE)
    // What is known of it must be written anew.
    if (loaded) allDirty()
    try {
      log.error(`${path} is broken and set aside as ${setAside(path, Date.now())}; a new one begins`)
    } catch (cause) {
      log.error(`${path} is broken and cannot be set aside: ${messageOf(cause)}`)
    }
  }
  /** What was said while the disk was away is newer than what stands there. */
  const load = (from: MaintenanceFile): void => {
    const lists = from.read()
    for (const silence of lists.silences) if (!silences.has(silence.id) && !dirty.has('silences')) silences.set(silence.id, silence)
    for (const [incident, said] of lists.acknowledged) if (!acknowledged.has(incident)) acknowledged.set(incident, said)
    if (!dirty.has('accepted')) accepted = lists.accepted
  }
  const write = (): void => {
    try {
      if (file === undefined) {
        file = openMaintenanceFile(directory)
        load(file)
        loaded = true
      }
      const lists: Lists = { silences: [...silences.values()], acknowledged: [...acknowledged], accepted }
      if (dirty.size > 0) file.write(lists, dirty)
      dirty.clear()
      if (failing !== undefined) log.info(`silences and acknowledgements are kept in ${directory} again`)
      failing = undefined
    } catch (error) {
      failed(error)
    }
  }
  /** Notices that the file was removed, replaced or emptied: what is in memory is newer than what stands there. */
  const checkFile = (): void => {
    if (file === undefined) return
    const { watch } = file
    try {
      watch.check()
    } catch (error) {
      if (!(error instanceof FileMovedError)) {
        failed(error)
        return write()
      }
      log.error(`silences and acknowledgements: ${error.message}; written anew with what is known`)
      close()
      watch.clean()
      allDirty()
      write()
      // What was put there in its place may be broken; it is out of the way now.
      if (failing !== undefined) write()
    }
  }
  const changed = (name: ListName): void => {
    dirty.add(name)
    if (failing === undefined) write()
  }
  write()
  // A broken file is out of the way now.
  if (failing !== undefined) write()

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
    accepted: () => accepted,
    keepAccepted(all) {
      accepted = all
      changed('accepted')
    },
    maintain(now) {
      checkFile()
      // A clock set back must not put the next try off.
      if (failing !== undefined && (now - triedAt >= RETRY_MS || now < triedAt)) {
        triedAt = now
        write()
      }
      let over: Silence[] | undefined
      for (const silence of silences.values()) if (silence.until <= now) (over ??= []).push(silence)
      if (over === undefined) return NONE
      for (const { id } of over) silences.delete(id)
      changed('silences')
      return over
    },
    close() {
      if (dirty.size > 0) write()
      close()
    },
  }
}
