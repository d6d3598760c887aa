// The messages of the outbox: put together from what waits, kept with their key until they are delivered, and set aside when they cannot be.
import type { Database } from 'better-sqlite3'
import type { Run } from '../../model/job.ts'
import type { WasteReport } from '../../model/ledger.ts'
import type { MessageItem, NotificationEvent, NotificationReason, OutgoingIncident } from '../../model/notification.ts'
import { figuresIn, type Expired } from './figures.ts'

export type StoredMessage = {
  readonly key: string
  readonly at: number
  /** In the order in which it happened. */
  readonly items: readonly MessageItem[]
  /** In place of items: runs that have ended, which never share a message with incidents. */
  readonly runs?: readonly [Run, ...Run[]]
  /** In place of items: summaries of waste. */
  readonly waste?: readonly [WasteReport, ...WasteReport[]]
  readonly expired?: Expired
  /** What earlier messages about the same incidents were answered with. */
  readonly threads: ReadonlyMap<string, string>
}
export type Forming = {
  readonly notifier: string
  readonly key: string
  readonly now: number
  readonly most: number
  /** Takes what is due of all groups together. */
  readonly anyGroup: boolean
}
export type Messages = {
  /** When the next item can be sent; undefined: none waits. What has an earlier part on its way waits for that. */
  readonly nextDue: (notifier: string, now: number) => number | undefined
  /** Takes the first group that is due, with what its first message waited for; false: nothing is due. */
  readonly form: (forming: Forming) => boolean
  /** Keys of those that are put together and not delivered, the oldest first. */
  readonly open: (notifier: string) => readonly string[]
  readonly load: (key: string) => StoredMessage | undefined
  /** Returns the incidents that count as notified only now, as they waited for long. */
  readonly delivered: (key: string, t: number, thread: string | undefined) => readonly string[]
  /** Keeps the older half under a new key; the rest waits again. */
  readonly halve: (key: string, newKey: string) => void
  readonly setAside: (key: string, t: number, why: string) => void
  /** Puts back what was set aside, but for what the receiver has heard newer of; returns how many messages. */
  readonly retryAside: (notifier: string, t: number) => number
  readonly aside: (notifier: string) => number
}

type Due = { readonly grouped: string; readonly at: number; readonly due_at: number; readonly reason: NotificationReason; readonly event: StoredEvent }
type StoredEvent = NotificationEvent | 'finished' | 'waste'
type ItemRow = {
  readonly seq: number
  readonly event: StoredEvent
  readonly reason: NotificationReason
  readonly incident: string
  readonly body: string
}
/** A whole row of `items` with its text. */
type Kept = ItemRow & { readonly notifier: string; readonly grouped: string; readonly at: number; readonly due_at: number }
type MessageRow = { readonly key: string; readonly notifier: string; readonly at: number; readonly expired: string | null }

/** After an outage or quiet hours what fires is repeated from when it was heard of. */
const LATE_MS = 60_000
/** A clock that was set back: what waits for a while only, waits no longer. */
const CLOCK_BACK_MS = 1_000
const dueOf = ({ due_at: dueAt, at, reason }: Due, now: number): number => (reason !== 'held' && at > now + CLOCK_BACK_MS ? now : dueAt)

const incidentIn = (body: string): OutgoingIncident => JSON.parse(body)
const runIn = (body: string): Run => JSON.parse(body)
const wasteIn = (body: string): WasteReport => JSON.parse(body)
const expiredIn = (text: string | null): Expired | undefined => (text === null ? undefined : JSON.parse(text))
const keptIn = (text: string): readonly Kept[] => JSON.parse(text)

export function messagesIn(db: Database): Messages {
  const figures = figuresIn(db)
  const first = db.prepare<[string], Due>(
    'SELECT grouped, at, due_at, reason, event FROM items AS i WHERE notifier = ? AND message IS NULL AND NOT EXISTS ' +
      '(SELECT 1 FROM items AS e WHERE e.notifier = i.notifier AND e.incident = i.incident AND e.message IS NOT NULL) ORDER BY due_at, seq LIMIT 1',
  )
  const FITS = (row: string): string => `(:group IS NULL OR ${row}.grouped = :group) AND (${row}.due_at <= :now OR ${row}.due_at - ${row}.at <= :wait)`
  // Incidents, runs and summaries never share a message. Nothing goes ahead of what is older of the same incident.
  const SORT = "CASE event WHEN 'finished' THEN 'finished' WHEN 'waste' THEN 'waste' ELSE '' END"
  const taken = db
    .prepare<{ notifier: string; sort: string; group: string | null; now: number; wait: number; most: number }, number>(
      `SELECT seq FROM items AS i WHERE notifier = :notifier AND message IS NULL AND ${SORT} = :sort AND ${FITS('i')} AND NOT EXISTS ` +
        `(SELECT 1 FROM items AS e WHERE e.notifier = i.notifier AND e.incident = i.incident AND e.seq < i.seq AND (e.message IS NOT NULL OR NOT (${FITS('e')}))) ` +
        'ORDER BY seq LIMIT :most',
    )
    .pluck()
  const assign = db.prepare<[string | null, number]>('UPDATE items SET message = ? WHERE seq = ?')
  const insertMessage = db.prepare<[string, string, number, string | null]>('INSERT INTO messages (key, notifier, at, expired) VALUES (?, ?, ?, ?)')
  const open = db.prepare<[string], string>('SELECT key FROM messages WHERE notifier = ? ORDER BY id').pluck()
  const get = db.prepare<[string], MessageRow>('SELECT key, notifier, at, expired FROM messages WHERE key = ?')
  const items = db.prepare<[string], ItemRow>(
    'SELECT seq, event, reason, incident, body FROM items JOIN payloads ON payloads.id = items.payload WHERE message = ? ORDER BY seq',
  )
  const wholeItems = db.prepare<[string], Kept>('SELECT items.*, body FROM items JOIN payloads ON payloads.id = items.payload WHERE message = ? ORDER BY seq')
  const thread = db.prepare<[string, string], string>('SELECT thread FROM told WHERE notifier = ? AND incident = ? AND thread IS NOT NULL').pluck()
  const sent = db.prepare<[number, string | null, string, string]>(
    'UPDATE told SET sent = max(coalesce(sent, 0), ?), thread = coalesce(thread, ?) WHERE notifier = ? AND incident = ?',
  )
  const deliveredLate = db.prepare<{ t: number; late: number; notifier: string; incident: string; seq: number }>(
    "UPDATE told SET at = :t WHERE notifier = :notifier AND incident = :incident AND event = 'firing' AND at < :late AND NOT EXISTS " +
      '(SELECT 1 FROM items WHERE notifier = :notifier AND incident = :incident AND seq > :seq)',
  )
  const seqs = db.prepare<[string], { seq: number; incident: string }>('SELECT seq, incident FROM items WHERE message = ? ORDER BY seq')
  const dropItems = db.prepare<[string]>('DELETE FROM items WHERE message = ?')
  const dropMessage = db.prepare<[string]>('DELETE FROM messages WHERE key = ?')
  const rename = db.prepare<[string, string]>('UPDATE messages SET key = ? WHERE key = ?')
  const insertAside = db.prepare<[string, string, number, string, number, string]>(
    'INSERT INTO aside (key, notifier, at, why, count, items) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const takeAside = db.prepare<[string], { key: string; items: string }>('DELETE FROM aside WHERE notifier = ? RETURNING key, items')
  const countAside = db.prepare<[string], number>('SELECT count(*) FROM aside WHERE notifier = ?').pluck()
  const overtaken = db
    .prepare<{ notifier: string; incident: string; seq: number }, number>(
      'SELECT EXISTS (SELECT 1 FROM told WHERE notifier = :notifier AND incident = :incident AND sent > :seq) OR ' +
        'EXISTS (SELECT 1 FROM items WHERE notifier = :notifier AND incident = :incident AND seq > :seq AND message IS NOT NULL)',
    )
    .pluck()
  const insertPayload = db.prepare<[string]>('INSERT INTO payloads (body) VALUES (?)')
  const insertItem = db.prepare(
    'INSERT INTO items (seq, notifier, incident, grouped, event, reason, at, due_at, payload, message) ' +
      'VALUES (:seq, :notifier, :incident, :grouped, :event, :reason, :at, :due_at, :payload, :message)',
  )

  const form = db.transaction(({ notifier, key, now, most, anyGroup }: Forming) => {
    const next = first.get(notifier)
    if (next === undefined || dueOf(next, now) > now) return false
    const chosen = taken.all({
      notifier,
      sort: next.event === 'finished' || next.event === 'waste' ? next.event : '',
      group: anyGroup ? null : next.grouped,
      now: Math.max(now, next.due_at),
      // A run that ended a moment ago still waits for what explains it.
      wait: next.event === 'finished' ? -1 : next.due_at - next.at,
      most,
    })
    for (const seq of chosen) assign.run(key, seq)
    const lost = figures.takeLost(notifier)
    insertMessage.run(key, notifier, now, lost === undefined ? null : JSON.stringify(lost))
    return true
  })
  const delivered = db.transaction((key: string, t: number, answered: string | undefined) => {
    const message = get.get(key)
    if (message === undefined) return []
    const late: string[] = []
    for (const { seq, incident } of seqs.all(key)) {
      sent.run(seq, answered ?? null, message.notifier, incident)
      if (deliveredLate.run({ t, late: t - LATE_MS, notifier: message.notifier, incident, seq }).changes > 0) late.push(incident)
    }
    dropItems.run(key)
    dropMessage.run(key)
    figures.delivered(message.notifier, t)
    return late
  })
  const halve = db.transaction((key: string, newKey: string) => {
    const all = seqs.all(key)
    all.forEach(({ seq }, i) => assign.run(i < all.length / 2 ? newKey : null, seq))
    rename.run(newKey, key)
  })
  const setAside = db.transaction((key: string, t: number, why: string) => {
    const message = get.get(key)
    if (message === undefined) return
    const kept = wholeItems.all(key)
    insertAside.run(key, message.notifier, t, why, kept.length, JSON.stringify(kept))
    dropItems.run(key)
    dropMessage.run(key)
    figures.giveBack(message.notifier, expiredIn(message.expired))
  })
  const retryAside = db.transaction((notifier: string, t: number) => {
    let count = 0
    for (const { key, items: text } of takeAside.all(notifier)) {
      const all = keptIn(text)
      const left = all.filter(({ incident, seq }) => overtaken.get({ notifier, incident, seq }) === 0)
      // The same message has the same key; a smaller one is another.
      const message = left.length === all.length ? key : `${key}-${left.length}`
      for (const { body, ...item } of left) insertItem.run({ ...item, payload: insertPayload.run(body).lastInsertRowid, message })
      if (left.length > 0) insertMessage.run(message, notifier, t, null)
      count += left.length > 0 ? 1 : 0
    }
    return count
  })

  return {
    nextDue(notifier, now) {
      const next = first.get(notifier)
      return next === undefined ? undefined : dueOf(next, now)
    },
    form: (forming) => form.immediate(forming),
    open: (notifier) => open.all(notifier),
    load(key) {
      const message = get.get(key)
      if (message === undefined) return undefined
      const rows = items.all(key)
      const threads = new Map<string, string>()
      for (const { incident } of rows) {
        const found = thread.get(message.notifier, incident)
        if (found !== undefined) threads.set(incident, found)
      }
      const expired = expiredIn(message.expired)
      const sentItems = rows.flatMap(({ event, reason, body }) =>
        event === 'finished' || event === 'waste' ? [] : [{ event, reason, incident: incidentIn(body) }],
      )
      const [run, ...runs] = rows.flatMap(({ event, body }) => (event === 'finished' ? [runIn(body)] : []))
      const [report, ...reports] = rows.flatMap(({ event, body }) => (event === 'waste' ? [wasteIn(body)] : []))
      return {
        key,
        at: message.at,
        items: sentItems,
        ...(run === undefined ? {} : { runs: [run, ...runs] }),
        ...(report === undefined ? {} : { waste: [report, ...reports] }),
        ...(expired === undefined ? {} : { expired }),
        threads,
      }
    },
    delivered: (key, t, answered) => delivered.immediate(key, t, answered),
    halve: (key, newKey) => halve.immediate(key, newKey),
    setAside: (key, t, why) => setAside.immediate(key, t, why),
    retryAside: (notifier, t) => retryAside.immediate(notifier, t),
    aside: (notifier) => countAside.get(notifier) ?? 0,
  }
}
