// Keeps incidents, longer than raw history: on disk as soon as they fire, in memory while the disk cannot be written.
import { join } from 'node:path'
import { codeOf, messageOf } from '../lib/error-words.ts'
import { summaryOf, type Incident, type IncidentsView } from '../model/incident.ts'
import type { Log } from '../model/source.ts'
import { FileMovedError, isCorrupt, setAside } from './database-file.ts'
import { INCIDENTS_FILE, openIncidentFile, type IncidentFile } from './incidents/file.ts'

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
const RETRY_MS = 10_000
const TRIM_EVERY_MS = 60_000

export function createIncidentStore({ directory, log, maxCount = MAX_COUNT, maxBytes = MAX_BYTES }: IncidentStoreOptions): IncidentStore {
  let file: IncidentFile | undefined
  let reason: string | undefined
  let triedAt = 0
  let trimmedAt = 0
  /** What is not on disk, newest last. */
  const waiting = new Map<string, Incident>()
  /** Whoever is told of an incident asks for the whole of it at once; in a storm reading it back would be half of the work. */
  let newest: Incident | undefined
  const path = join(directory, INCIDENTS_FILE)

  const lost = (error: unknown): void => {
    if (isCorrupt(error)) return replaceBroken(error)
    const text = `${codeOf(error)} ${messageOf(error)}`.trim()
    if (reason !== text)
      log.error(
        `incidents cannot be written to ${directory} and are kept in memory only (${text}): free space or give write permission; tried again every ${RETRY_MS / 1000} s`,
      )
    reason = text
  }
  /** Throws what the system says where that cannot be done. */
  const putAside = (error: unknown): void =>
    log.error(`incidents: ${path} is broken (${messageOf(error)}) and set aside as ${setAside(path, Date.now())}; a new one begins`)
  const opened = (): IncidentFile => {
    try {
      return openIncidentFile(directory)
    } catch (error) {
      if (!isCorrupt(error)) throw error
      putAside(error)
      return openIncidentFile(directory)
    }
  }
  /** Goes on with the file that stands there now, or a new one, and with what can still be read of the one before. */
  const beginAnew = (before: IncidentFile | undefined): void => {
    file = undefined
    try {
      file = opened()
      reason = undefined
      if (before !== undefined) log.info(`incidents: ${file.takeOver(before)} were taken over into the new file`)
    } catch (error) {
      lost(error)
    }
    close(before)
  }
  const replaceBroken = (error: unknown): void => {
    try {
      putAside(error)
    } catch (failed) {
      close(file)
      file = undefined
      return lost(new Error(`${path} is broken (${messageOf(error)}) and cannot be set aside: ${messageOf(failed)}`))
    }
    beginAnew(file)
  }
  /** Notices that the file was removed, replaced or emptied. */
  const checkFile = (): void => {
    const before = file
    try {
      before?.watch.check()
    } catch (error) {
      if (!(error instanceof FileMovedError)) return lost(error)
      log.error(`incidents: ${error.message}`)
      before?.watch.clean()
      beginAnew(before)
    }
  }
  const close = (which: IncidentFile | undefined): void => {
    try {
      which?.close()
    } catch {
      // What matters is in memory or on disk already.
    }
  }
  const connect = (): void => {
    try {
      file ??= opened()
    } catch (error) {
      lost(error)
    }
  }
  /** Answers from the disk, or what stands for it when it cannot be read. */
  const read = <T>(ask: (from: IncidentFile) => T, otherwise: T): T => {
    if (file === undefined) return otherwise
    try {
      return ask(file)
    } catch (error) {
      lost(error)
      return otherwise
    }
  }
  const flush = (): void => {
    if (file === undefined || waiting.size === 0) return
    try {
      file.put([...waiting.values()])
      waiting.clear()
      if (reason !== undefined) log.info(`incidents are written to ${directory} again`)
      reason = undefined
    } catch (error) {
      lost(error)
    }
  }

  connect()
  return {
    save(incident) {
      newest = incident
      waiting.delete(incident.id)
      waiting.set(incident.id, incident)
      if (reason === undefined) flush()
      const oldest = waiting.size > MAX_WAITING ? waiting.keys().next().value : undefined
      if (oldest !== undefined) waiting.delete(oldest)
    },
    unresolved: () => read((from) => from.unresolved(), []),
    list(filter) {
      const { status, kind, since, limit } = filter
      const unsaved = [...waiting.values()].filter(
        (incident) =>
          (status === undefined || incident.status === status) &&
          (kind === undefined || incident.kind === kind) &&
          (since === undefined || incident.last_seen_at >= since),
      )
      const saved = read((from) => from.list(filter), []).filter(({ id }) => !waiting.has(id))
      return [...unsaved.map(summaryOf), ...saved].sort((a, b) => b.started_at - a.started_at || (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    get: (id) => waiting.get(id) ?? (newest?.id === id ? newest : undefined) ?? read((from) => from.get(id), undefined),
    maintain(now) {
      checkFile()
      if (reason === undefined) flush()
      // A clock set back must not put the next try off.
      if (reason !== undefined && (now - triedAt >= RETRY_MS || now < triedAt)) {
        triedAt = now
        connect()
        flush()
        // With nothing to write, being able to open it is all that can be known.
        if (file !== undefined && waiting.size === 0) reason = undefined
      }
      if (file === undefined || Math.abs(now - trimmedAt) < TRIM_EVERY_MS) return
      trimmedAt = now
      read((from) => from.trim(maxCount, maxBytes), undefined)
    },
    degraded: () => reason,
    close() {
      flush()
      close(file)
      file = undefined
    },
  }
}
