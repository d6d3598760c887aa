// Keeps each notification until it is delivered: on disk in one transaction with what each notifier was last sent, in memory while the disk cannot be used.
import type { Database } from 'better-sqlite3'
import { codeOf } from '../text/error.ts'
import { severityOfRun } from '../model/job.ts'
import type { LastNotification } from '../model/notification.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { openMemoryDatabase } from './open-database.ts'
import { copyOutbox, OUTBOX_FILE, OUTBOX_SCHEMA } from './outbox/file.ts'
import { figuresIn, type Figures, type StoredFigures } from './outbox/figures.ts'
import { messagesIn, type Messages } from './outbox/messages.ts'
import { lastNotificationsIn, lastOf, type LastNotifications, type LastByIncident } from './outbox/last-notification.ts'
import { runKey, wasteKey, waitingIn, type Waiting } from './outbox/waiting.ts'

export type OutboxOptions = { readonly directory: string; readonly log: Log; readonly now?: () => number; readonly most?: number }
export type NotifierFigures = StoredFigures & { readonly waiting: number; readonly aside: number; readonly oldestDue?: number }
export type Outbox = Pick<Waiting, 'put' | 'putRun' | 'putWaste' | 'freshenRun' | 'awaited' | 'freshen'> &
  Omit<Messages, 'aside' | 'delivered'> & {
    readonly delivered: (notifier: string, key: string, t: number, thread: string | undefined) => void
    readonly lastNotification: (notifier: string, incident: string) => LastNotification | undefined
    /** Incidents that fire by the last notification of any notifier. */
    readonly notifiedFiring: () => ReadonlySet<string>
    readonly isNotifiedFiring: (incident: string) => boolean
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
const TRIM_EVERY_MS = 3_600_000
const TOLD_KEPT_MS = 7 * 24 * 3_600_000

type Parts = {
  readonly db: Database
  readonly waiting: Waiting
  readonly messages: Messages
  readonly lastNotifications: LastNotifications
  readonly figures: Figures
}
const partsOf = (db: Database): Parts => ({
  db,
  waiting: waitingIn(db),
  messages: messagesIn(db),
  lastNotifications: lastNotificationsIn(db),
  figures: figuresIn(db),
})

/** Not what only a fault of ours can cause. */
const isOfTheDisk = (error: unknown): boolean => /^SQLITE_(?!ERROR|CONSTRAINT|MISUSE|RANGE|MISMATCH)/.test(codeOf(error) ?? '')

export function createOutbox({ directory, log, now = Date.now, most = MOST_ITEMS }: OutboxOptions): Outbox {
  let parts: Parts
  let last = new Map<string, LastByIncident>()
  /** In which all is kept while the disk is lost. */
  let memory: Database | undefined
  /** Memory began with all that was on disk, so it is what the disk should hold. */
  let isSeeded = false
  let trimmedAt = 0
  /** Not less than what is there; counted again when it seems too much. */
  const atMost = new Map<string, number>()

  const goOnWith = (next: Parts): void => {
    // First what can fail: a file that cannot be read is not gone on with.
    last = next.lastNotifications.all()
    parts = next
    atMost.clear()
  }
  /** With what the disk still gives. */
  const goOnInMemory = (disk: Parts | undefined): void => {
    memory = openMemoryDatabase(OUTBOX_SCHEMA)
    isSeeded = false
    try {
      if (disk !== undefined) {
        copyOutbox(disk.db, memory, { replace: true })
        isSeeded = true
      }
    } catch {
      // In one transaction: nothing was copied. No notification is sent twice.
      lastNotificationsIn(memory).restore(last)
    }
    goOnWith(partsOf(memory))
  }
  const durable = openDurable({
    directory,
    file: OUTBOX_FILE,
    log,
    what: 'waiting notifications',
    now,
    schema: OUTBOX_SCHEMA,
    cacheKib: 512,
    prepare: partsOf,
    onOpen(disk, { previous }) {
      // What is in another file is none of what memory began with.
      if (memory !== undefined) copyOutbox(memory, disk.db, { replace: isSeeded && previous === undefined })
      goOnWith(disk)
      memory?.close()
      memory = undefined
    },
    onLost: goOnInMemory,
  })
  /** Once more where the disk fails: in memory, or on the next disk. */
  const run = <T>(act: (on: Parts) => T): T => {
    try {
      return act(parts)
    } catch (error) {
      if (memory !== undefined || !isOfTheDisk(error)) throw error
      durable.fail(error)
      return act(parts)
    }
  }
  const bounded = (notifier: string): void => {
    const limit = memory === undefined ? most : Math.min(most, MOST_IN_MEMORY)
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

  return {
    put(incident, plans, t) {
      run(({ waiting }) => waiting.put(incident, plans, t))
      for (const { notifier, event } of plans) {
        lastOf(last, notifier).set(incident.id, { event, severity: incident.severity, at: t })
        bounded(notifier)
      }
    },
    putRun(ended, plans, t) {
      run(({ waiting }) => waiting.putRun(ended, plans, t))
      for (const { notifier } of plans) {
        lastOf(last, notifier).set(runKey(ended), { event: 'finished', severity: severityOfRun(ended), at: t })
        bounded(notifier)
      }
    },
    putWaste(report, plan, t) {
      run(({ waiting }) => waiting.putWaste(report, plan, t))
      lastOf(last, plan.notifier).set(wasteKey(report), { event: 'waste', severity: 'info', at: t })
      bounded(plan.notifier)
    },
    freshenRun: (ended) => run(({ waiting }) => waiting.freshenRun(ended)),
    lastNotification: (notifier, incident) => last.get(notifier)?.get(incident),
    notifiedFiring() {
      const found = new Set<string>()
      for (const states of last.values()) for (const [incident, { event }] of states) if (event === 'firing') found.add(incident)
      return found
    },
    isNotifiedFiring: (incident) => [...last.values()].some((states) => states.get(incident)?.event === 'firing'),
    forget(incident) {
      run((on) => on.lastNotifications.forget(incident))
      for (const states of last.values()) states.delete(incident)
    },
    awaited: (incident) => run(({ waiting }) => waiting.awaited(incident)),
    freshen: (incident) => run(({ waiting }) => waiting.freshen(incident)),
    expire(notifier, before) {
      const { count, unsent } = run(({ waiting }) => waiting.expire(notifier, before))
      for (const incident of unsent) last.get(notifier)?.delete(incident)
      return count
    },
    nextDue: (notifier, t) => run(({ messages }) => messages.nextDue(notifier, t)),
    form: (forming) => run(({ messages }) => messages.form(forming)),
    open: (notifier) => run(({ messages }) => messages.open(notifier)),
    load: (key) => run(({ messages }) => messages.load(key)),
    delivered(notifier, key, t, thread) {
      const states = last.get(notifier)
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
        last.delete(notifier)
        if (waited > 0) log.warn(`${notifier} is not configured any more: ${waited} notifications that waited for it are dropped`)
      }
    },
    maintain(t) {
      durable.maintain(t)
      if (Math.abs(t - trimmedAt) < TRIM_EVERY_MS) return
      trimmedAt = t
      for (const { notifier, incident } of run((on) => on.lastNotifications.trim(t - TOLD_KEPT_MS))) last.get(notifier)?.delete(incident)
      run(({ db }) => db.pragma('incremental_vacuum(256)'))
    },
    degraded: durable.degraded,
    close() {
      durable.close()
      memory?.close()
    },
  }
}
