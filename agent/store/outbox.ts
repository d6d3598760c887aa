// Keeps what is to be told to whom until it is delivered: on disk in one transaction with what was told, in memory while the disk cannot be used.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { codeOf, messageOf } from '../lib/error-words.ts'
import type { ToldState } from '../model/notification.ts'
import type { Log } from '../model/source.ts'
import { FileMovedError, isCorrupt, setAside, watchFile, type FileWatch } from './database-file.ts'
import { copyOutbox, OUTBOX_FILE, openOutboxFile } from './outbox/file.ts'
import { figuresIn, type Figures, type StoredFigures } from './outbox/figures.ts'
import { messagesIn, type Messages } from './outbox/messages.ts'
import { toldIn, toldOf, type Told, type ToldOf } from './outbox/told.ts'
import { waitingIn, type Waiting } from './outbox/waiting.ts'

export type OutboxOptions = { readonly directory: string; readonly log: Log; readonly now?: () => number; readonly most?: number }
export type NotifierFigures = StoredFigures & { readonly waiting: number; readonly aside: number; readonly oldestDue?: number }
export type Outbox = Pick<Waiting, 'put' | 'awaited' | 'freshen'> &
  Omit<Messages, 'aside' | 'delivered'> & {
    readonly delivered: (notifier: string, key: string, t: number, thread: string | undefined) => void
    readonly told: (notifier: string, incident: string) => ToldState | undefined
    /** Incidents of which anybody was last told that they fire. */
    readonly toldFiring: () => ReadonlySet<string>
    readonly isToldFiring: (incident: string) => boolean
    readonly forget: (incident: string) => void
    /** Gives up what could have been sent before then; returns how many items. */
    readonly expire: (notifier: string, before: number) => number
    readonly failed: (notifier: string) => void
    readonly figures: (notifier: string) => NotifierFigures
    /** Drops what is kept for others: they are not configured any more. */
    readonly keepOnly: (notifiers: readonly string[]) => void
    /** Once a second: tries a lost disk again, forgets what is long over. */
    readonly maintain: (now: number) => void
    readonly degraded: () => string | undefined
    readonly close: () => void
  }

/** Of one notifier: some 5 KB each on disk. */
const MOST_ITEMS = 20_000
const MOST_IN_MEMORY = 2_000
const RETRY_MS = 10_000
const TRIM_EVERY_MS = 3_600_000
const TOLD_KEPT_MS = 7 * 24 * 3_600_000

type Parts = { readonly db: Database; readonly waiting: Waiting; readonly messages: Messages; readonly told: Told; readonly figures: Figures }
const partsOf = (db: Database): Parts => ({ db, waiting: waitingIn(db), messages: messagesIn(db), told: toldIn(db), figures: figuresIn(db) })

/** Not what only a fault of ours can cause. */
const isOfTheDisk = (error: unknown): boolean => /^SQLITE_(?!ERROR|CONSTRAINT|MISUSE|RANGE|MISMATCH)/.test(codeOf(error))

export function createOutbox({ directory, log, now = Date.now, most = MOST_ITEMS }: OutboxOptions): Outbox {
  let parts: Parts
  let told = new Map<string, ToldOf>()
  /** Why it is in memory; undefined: it is on disk. */
  let reason: string | undefined
  /** Memory began with all that was on disk, so it is what the disk should hold. */
  let seeded = false
  let watch: FileWatch | undefined
  const path = join(directory, OUTBOX_FILE)
  let triedAt = now()
  let trimmedAt = 0
  /** Not less than what is there; counted again when it seems too much. */
  const atMost = new Map<string, number>()

  const use = (db: Database): void => {
    parts = partsOf(db)
    told = parts.told.all()
    atMost.clear()
  }
  const replaceBroken = (error: unknown): void => {
    try {
      log.error(`notifications: ${path} is broken (${messageOf(error)}) and set aside as ${setAside(path, now())}; a new one begins`)
    } catch (failed) {
      log.error(`notifications: ${path} is broken (${messageOf(error)}) and cannot be set aside: ${messageOf(failed)}`)
    }
  }
  const closed = (db: Database | undefined): void => {
    try {
      db?.close()
    } catch {
      // What can be kept of it is kept.
    }
  }
  /** Goes on in memory, with what the disk still gives; where another file can be begun at once, only for a moment. */
  const lost = (error: unknown, disk: Database | undefined): void => {
    const text = `${codeOf(error)} ${messageOf(error)}`.trim()
    const moved = error instanceof FileMovedError
    if (moved) log.error(`notifications: ${text}`)
    else if (reason !== text && !isCorrupt(error))
      log.error(
        `notifications that wait cannot be written to ${directory} and are kept in memory only (${text}): free space or give write permission; tried again every ${RETRY_MS / 1000} s`,
      )
    reason = text
    triedAt = now()
    let memory = openOutboxFile(undefined)
    seeded = false
    try {
      if (disk !== undefined) {
        copyOutbox(disk, memory, { replace: true })
        // What stands in another file is none of what memory began with.
        seeded = !moved
      }
    } catch {
      memory.close()
      memory = openOutboxFile(undefined)
      // Nobody is told again what they were told.
      toldIn(memory).restore(told)
    }
    closed(disk)
    if (moved) watch?.clean()
    watch = undefined
    if (isCorrupt(error)) replaceBroken(error)
    use(memory)
    if (moved || isCorrupt(error)) reconnect()
  }
  const reconnect = (again = true): void => {
    let disk: Database | undefined
    try {
      disk = openOutboxFile(directory)
      copyOutbox(parts.db, disk, { replace: seeded })
    } catch (error) {
      closed(disk)
      if (isCorrupt(error)) {
        replaceBroken(error)
        if (again) return reconnect(false)
      }
      reason = `${codeOf(error)} ${messageOf(error)}`.trim()
      return
    }
    closed(parts.db)
    use(disk)
    watch = watchFile(path)
    reason = undefined
    log.info(`notifications that wait are written to ${directory} again`)
  }
  /** Notices that the file was removed, replaced or emptied. */
  const checkFile = (): void => {
    try {
      watch?.check()
    } catch (error) {
      lost(error, parts.db)
    }
  }
  /** Once more in memory where the disk fails. */
  const run = <T>(act: (on: Parts) => T): T => {
    try {
      return act(parts)
    } catch (error) {
      if (reason !== undefined || !isOfTheDisk(error)) throw error
      lost(error, parts.db)
      return act(parts)
    }
  }
  const bounded = (notifier: string): void => {
    const limit = reason === undefined ? most : Math.min(most, MOST_IN_MEMORY)
    const guess = (atMost.get(notifier) ?? run(({ waiting }) => waiting.count(notifier))) + 1
    atMost.set(notifier, guess)
    if (guess <= limit) return
    const gone = run(({ waiting }) => waiting.bound(notifier, limit))
    atMost.set(
      notifier,
      run(({ waiting }) => waiting.count(notifier)),
    )
    if (gone > 0) log.error(`${notifier}: more than ${limit} notifications wait; ${gone} were dropped, repeats and what is over first`)
  }

  try {
    use(openOutboxFile(directory))
    watch = watchFile(path)
  } catch (error) {
    lost(error, undefined)
  }

  return {
    put(incident, plans, t) {
      run(({ waiting }) => waiting.put(incident, plans, t))
      for (const { notifier, event } of plans) {
        toldOf(told, notifier).set(incident.id, { event, severity: incident.severity, at: t })
        bounded(notifier)
      }
    },
    told: (notifier, incident) => told.get(notifier)?.get(incident),
    toldFiring() {
      const found = new Set<string>()
      for (const states of told.values()) for (const [incident, { event }] of states) if (event === 'firing') found.add(incident)
      return found
    },
    isToldFiring: (incident) => [...told.values()].some((states) => states.get(incident)?.event === 'firing'),
    forget(incident) {
      run((on) => on.told.forget(incident))
      for (const states of told.values()) states.delete(incident)
    },
    awaited: (incident) => run(({ waiting }) => waiting.awaited(incident)),
    freshen: (incident) => run(({ waiting }) => waiting.freshen(incident)),
    expire(notifier, before) {
      const { count, anew } = run(({ waiting }) => waiting.expire(notifier, before))
      for (const incident of anew) told.get(notifier)?.delete(incident)
      return count
    },
    nextDue: (notifier, t) => run(({ messages }) => messages.nextDue(notifier, t)),
    form: (forming) => run(({ messages }) => messages.form(forming)),
    open: (notifier) => run(({ messages }) => messages.open(notifier)),
    load: (key) => run(({ messages }) => messages.load(key)),
    delivered(notifier, key, t, thread) {
      const states = told.get(notifier)
      for (const incident of run(({ messages }) => messages.delivered(key, t, thread))) {
        const state = states?.get(incident)
        if (state !== undefined) states?.set(incident, { ...state, at: t })
      }
    },
    halve: (key, newKey) => run(({ messages }) => messages.halve(key, newKey)),
    setAside: (key, t, why) => run(({ messages }) => messages.setAside(key, t, why)),
    retryAside: (notifier, t) => run(({ messages }) => messages.retryAside(notifier, t)),
    failed: (notifier) => run(({ figures }) => figures.failed(notifier)),
    figures: (notifier) =>
      run(({ waiting, messages, figures }) => {
        const oldestDue = waiting.oldestDue(notifier)
        return {
          ...figures.get(notifier),
          waiting: waiting.count(notifier),
          aside: messages.aside(notifier),
          ...(oldestDue === undefined ? {} : { oldestDue }),
        }
      }),
    keepOnly(notifiers) {
      for (const notifier of run(({ waiting }) => waiting.notifiers())) {
        if (notifiers.includes(notifier)) continue
        const waited = run(({ waiting }) => waiting.drop(notifier))
        told.delete(notifier)
        if (waited > 0) log.warn(`${notifier} is not configured any more: ${waited} notifications that waited for it are dropped`)
      }
    },
    maintain(t) {
      checkFile()
      // A clock set back must not put the next try off.
      if (reason !== undefined && Math.abs(t - triedAt) >= RETRY_MS) {
        triedAt = t
        reconnect()
      }
      if (Math.abs(t - trimmedAt) < TRIM_EVERY_MS) return
      trimmedAt = t
      for (const { notifier, incident } of run((on) => on.told.trim(t - TOLD_KEPT_MS))) told.get(notifier)?.delete(incident)
      run(({ db }) => db.pragma('incremental_vacuum(256)'))
    },
    degraded: () => reason,
    close: () => closed(parts.db),
  }
}
