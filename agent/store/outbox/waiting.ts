// What waits in the outbox: put there together with each notifier's last notification, within bounds, and no longer than it may.
import type { Database } from 'better-sqlite3'
import { severityOfRun, type Run } from '../../model/job.ts'
import type { WasteReport } from '../../model/ledger.ts'
import type { NotificationEvent, NotificationReason, OutgoingIncident } from '../../model/notification.ts'
import { figuresIn } from './figures.ts'

/** As the router plans it. */
export type OutboxPlan = {
  readonly notifier: string
  readonly group: string
  readonly event: NotificationEvent
  readonly reason: NotificationReason
  readonly dueAt: number
}
/** Of a run that has ended, or of a summary. */
export type OutboxRunPlan = Omit<OutboxPlan, 'event'>
/** Stands where incidents have their id. */
export const runKey = ({ job_id: id, run }: Pick<Run, 'job_id' | 'run'>): string => `run ${id} ${run}`
export const wasteKey = ({ period, date }: Pick<WasteReport, 'period' | 'date'>): string => `waste ${period} ${date}`

export type Waiting = {
  /** In one transaction; what is new of an incident takes the place of what is not sent yet of the same. */
  readonly put: (incident: OutgoingIncident, plans: readonly OutboxPlan[], t: number) => void
  /** In one transaction. Only once for each run and notifier. */
  readonly putRun: (run: Run, plans: readonly OutboxRunPlan[], t: number) => void
  /** In one transaction. Only once for each day or week and notifier. */
  readonly putWaste: (report: WasteReport, plan: OutboxRunPlan, t: number) => void
  /** What is known better of a run, for what is in no message yet. */
  readonly freshenRun: (run: Run) => void
  /** Whether a notifier still has to be notified that it fires. */
  readonly awaited: (incident: string) => boolean
  /** The newest text of an incident, for what is in no message yet. */
  readonly freshen: (incident: OutgoingIncident) => void
  /** Takes out what is beyond `most`: repeats first, then what is over already, then the oldest. Returns how many items. */
  readonly bound: (notifier: string, most: number) => number
  /** Takes out what could have been sent before `before` and was not; returns how many items, and which incidents are to be sent again. */
  readonly expire: (notifier: string, before: number) => { readonly count: number; readonly unsent: readonly string[] }
  readonly count: (notifier: string) => number
  /** Since when the oldest item could have been sent, or can be. */
  readonly oldestDue: (notifier: string) => number | undefined
  /** Everybody for whom anything is kept. */
  readonly notifiers: () => readonly string[]
  /** Drops all that is kept for a notifier; returns how many items waited. */
  readonly drop: (notifier: string) => number
}

type Unsent = { readonly seq: number; readonly event: NotificationEvent; readonly reason: NotificationReason; readonly due_at: number }
type Gone = { readonly seq: number; readonly incident: string; readonly at: number }

/** Why it is sent now, where `unsent` of the same incident was never sent. */
function reasonOf(plan: OutboxPlan, unsent: Unsent | undefined): NotificationReason {
  if (unsent === undefined || unsent.reason === 'repeat') return plan.reason
  if (unsent.reason === 'held') return plan.dueAt < unsent.due_at ? 'new' : 'held'
  return unsent.reason
}

export function waitingIn(db: Database): Waiting {
  const figures = figuresIn(db)
  const insertPayload = db.prepare<[string]>('INSERT INTO payloads (body) VALUES (?)')
  const insertItem = db.prepare<[string, string, string, string, string, number, number, number | bigint]>(
    'INSERT INTO items (notifier, incident, grouped, event, reason, at, due_at, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const unsent = db.prepare<[string, string], Unsent>(
    'SELECT seq, event, reason, due_at FROM items WHERE notifier = ? AND incident = ? AND message IS NULL ORDER BY seq',
  )
  const dropItem = db.prepare<[number]>('DELETE FROM items WHERE seq = ?')
  const hasten = db.prepare<[number, number]>('UPDATE items SET due_at = min(due_at, ?) WHERE seq = ?')
  const recordLast = db.prepare<[string, string, string, string, number]>(
    'INSERT INTO told (notifier, incident, event, severity, at) VALUES (?, ?, ?, ?, ?) ' +
      'ON CONFLICT (notifier, incident) DO UPDATE SET event = excluded.event, severity = excluded.severity, at = excluded.at',
  )
  const AWAITED = "incident = ? AND message IS NULL AND event = 'firing'"
  const awaited = db.prepare<[string], number>(`SELECT EXISTS (SELECT 1 FROM items WHERE ${AWAITED})`).pluck()
  const repoint = db.prepare<[number | bigint, string]>(`UPDATE items SET payload = ? WHERE ${AWAITED}`)
  const repointRun = db.prepare<[number | bigint, string]>("UPDATE items SET payload = ? WHERE incident = ? AND message IS NULL AND event = 'finished'")
  const runWaits = db.prepare<[string], number>("SELECT EXISTS (SELECT 1 FROM items WHERE incident = ? AND message IS NULL AND event = 'finished')").pluck()
  const surplus = db.prepare<{ notifier: string; most: number }, Gone>(
    'SELECT seq, incident, at FROM items WHERE notifier = :notifier AND message IS NULL AND incident IN (' +
      "SELECT incident FROM items WHERE notifier = :notifier AND message IS NULL GROUP BY incident ORDER BY CASE WHEN min(reason = 'repeat') THEN 0 " +
      "WHEN max(event = 'resolved') THEN 1 ELSE 2 END, min(seq) LIMIT :most) ORDER BY seq",
  )
  const late = db.prepare<[string, number], Gone>('SELECT seq, incident, at FROM items WHERE notifier = ? AND message IS NULL AND due_at < ?')
  const lateMessages = db.prepare<[string, number], { key: string; expired: string | null }>('SELECT key, expired FROM messages WHERE notifier = ? AND at < ?')
  const itemsOf = db.prepare<[string], Gone>('SELECT seq, incident, at FROM items WHERE message = ?')
  const dropMessage = db.prepare<[string]>('DELETE FROM messages WHERE key = ?')
  const lateAside = db.prepare<[string, number], { at: number; count: number }>('DELETE FROM aside WHERE notifier = ? AND at < ? RETURNING at, count')
  const forgetUnsent = db.prepare<[string, string]>("DELETE FROM told WHERE notifier = ? AND incident = ? AND event = 'firing' AND sent IS NULL")
  const count = db.prepare<[string], number>('SELECT count(*) FROM items WHERE notifier = ?').pluck()

  const oldestDue = db.prepare<[string], number | null>('SELECT min(due_at) FROM items WHERE notifier = ?').pluck()
  const notifiers = db
    .prepare<[], string>('SELECT notifier FROM items UNION SELECT notifier FROM aside UNION SELECT notifier FROM told UNION SELECT notifier FROM figures')
    .pluck()

  const onItsWay = db
    .prepare<[string, string], string>('SELECT event FROM items WHERE notifier = ? AND incident = ? AND message IS NOT NULL ORDER BY seq DESC LIMIT 1')
    .pluck()

  const putOne = (incident: OutgoingIncident, plan: OutboxPlan, t: number, payload: () => number | bigint): void => {
    const { notifier, group, event } = plan
    const before = unsent.all(notifier, incident.id)
    const firing = before.find((item) => item.event === 'firing')
    for (const item of before) {
      if (event === 'firing' || item.event === 'resolved') dropItem.run(item.seq)
      // What was planned before goes no later.
      else hasten.run(plan.dueAt, item.seq)
    }
    const again = event === 'firing' ? firing : undefined
    const dueAt = again === undefined ? plan.dueAt : Math.min(again.due_at, plan.dueAt)
    // A receiver that is down gets no repeat of a notification that it has not received yet.
    if (plan.reason !== 'repeat' || again !== undefined || onItsWay.get(notifier, incident.id) !== 'firing')
      insertItem.run(notifier, incident.id, group, event, reasonOf(plan, again), t, dueAt, payload())
    recordLast.run(notifier, incident.id, event, incident.severity, t)
  }
  /** Gone, and never silently: the next message that arrives says so. */
  const giveUp = (notifier: string, gone: readonly Gone[]): number => {
    for (const { seq } of gone) dropItem.run(seq)
    figures.gaveUp(
      notifier,
      gone.map(({ at }) => at),
    )
    return gone.length
  }
  const put = db.transaction((incident: OutgoingIncident, plans: readonly OutboxPlan[], t: number) => {
    let id: number | bigint | undefined
    const payload = (): number | bigint => (id ??= insertPayload.run(JSON.stringify(incident)).lastInsertRowid)
    for (const plan of plans) putOne(incident, plan, t, payload)
  })
  const freshen = db.transaction((incident: OutgoingIncident) => {
    if (awaited.get(incident.id) === 1) repoint.run(insertPayload.run(JSON.stringify(incident)).lastInsertRowid, incident.id)
  })
  const putRun = db.transaction((run: Run, plans: readonly OutboxRunPlan[], t: number) => {
    const [key, payload] = [runKey(run), insertPayload.run(JSON.stringify(run)).lastInsertRowid]
    for (const { notifier, group, reason, dueAt } of plans) {
      insertItem.run(notifier, key, group, 'finished', reason, t, dueAt, payload)
      recordLast.run(notifier, key, 'finished', severityOfRun(run), t)
    }
  })
  const putWaste = db.transaction((report: WasteReport, { notifier, group, reason, dueAt }: OutboxRunPlan, t: number) => {
    insertItem.run(notifier, wasteKey(report), group, 'waste', reason, t, dueAt, insertPayload.run(JSON.stringify(report)).lastInsertRowid)
    recordLast.run(notifier, wasteKey(report), 'waste', 'info', t)
  })
  const freshenRun = db.transaction((run: Run) => {
    const key = runKey(run)
    if (runWaits.get(key) === 1) repointRun.run(insertPayload.run(JSON.stringify(run)).lastInsertRowid, key)
  })
  const bound = db.transaction((notifier: string, most: number) => {
    const over = (count.get(notifier) ?? 0) - most
    // Some room more, so that this is not done again for the next item.
    return over <= 0 ? 0 : giveUp(notifier, surplus.all({ notifier, most: over + Math.ceil(most / 100) }))
  })
  const expire = db.transaction((notifier: string, before: number) => {
    const gone = [...late.all(notifier, before)]
    for (const { key, expired } of lateMessages.all(notifier, before)) {
      gone.push(...itemsOf.all(key))
      dropMessage.run(key)
      figures.giveBack(notifier, expired === null ? undefined : JSON.parse(expired))
    }
    const aside = lateAside.all(notifier, before).flatMap(({ at, count: items }) => Array.from({ length: items }, () => at))
    giveUp(notifier, gone)
    figures.gaveUp(notifier, aside)
    return { count: gone.length + aside.length, unsent: gone.flatMap(({ incident }) => (forgetUnsent.run(notifier, incident).changes > 0 ? [incident] : [])) }
  })
  const drop = db.transaction((notifier: string) => {
    const waited = count.get(notifier) ?? 0
    for (const table of ['items', 'messages', 'aside', 'told', 'figures']) db.prepare(`DELETE FROM ${table} WHERE notifier = ?`).run(notifier)
    return waited
  })
  return {
    put: (incident, plans, t) => put.immediate(incident, plans, t),
    putRun: (run, plans, t) => putRun.immediate(run, plans, t),
    putWaste: (report, plan, t) => putWaste.immediate(report, plan, t),
    freshenRun: (run) => freshenRun.immediate(run),
    awaited: (incident) => awaited.get(incident) === 1,
    freshen: (incident) => freshen.immediate(incident),
    bound: (notifier, most) => bound.immediate(notifier, most),
    expire: (notifier, before) => expire.immediate(notifier, before),
    count: (notifier) => count.get(notifier) ?? 0,
    oldestDue: (notifier) => oldestDue.get(notifier) ?? undefined,
    notifiers: () => notifiers.all(),
    drop: (notifier) => drop.immediate(notifier),
  }
}
