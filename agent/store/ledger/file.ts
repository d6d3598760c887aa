// The ledger's database: sums by hour, owner and GPU, after some days by day; owners and GPUs are numbered, so that a row takes some 40 bytes.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { JobGroup } from '../../model/job.ts'
import { HOUR_MS, type CardCheckpoint, type Use, type UseCard, type UseOwner, type UseRow, type WasteGroup } from '../../model/ledger.ts'
import { openReadOnly } from '../open-database.ts'
import { takeRows } from '../take-over.ts'
import { LEDGER_FILE } from './schema.ts'
import { tailIn, type LedgerTail } from './tail.ts'

/** What one user, job, … used in a span of time. */
export type UseSum = { readonly key: string | undefined; readonly unheld: boolean; readonly use: Use }
/** What one user, namespace or account held; `wholeMs` is the part in hours in which nothing ran on the GPU. */
export type HeldSum = { readonly key: string | undefined; readonly use: Use; readonly wholeMs: number }
export type LedgerFile = {
  /** What the tail holds is among it. */
  readonly write: (rows: readonly UseRow[], checkpoints: readonly CardCheckpoint[]) => void
  readonly keepTail: (tail: LedgerTail) => void
  readonly tail: () => LedgerTail | undefined
  /** Adds the tail of an agent that was killed to the sums; its runs stay there until the next one. */
  readonly recover: () => void
  readonly sums: (by: JobGroup, since: number, until: number) => readonly UseSum[]
  readonly held: (since: number, until: number, by?: WasteGroup) => readonly HeldSum[]
  readonly checkpoints: () => readonly CardCheckpoint[]
  /** Sums up the hours of days that have passed, and forgets what is too old. */
  readonly compact: (now: number) => void
  readonly rows: () => IterableIterator<UseRow & { readonly hours: number }>
  /** Adds what another file holds, as far as it can be read. */
  readonly takeOver: (from: LedgerFile) => number
}

const DAY = 24
/** Hours are kept so long, then days: the summary of a week asks for the hours in which nothing ran. */
const HOURLY_MS = 9 * DAY * HOUR_MS
const KEPT_MS = 400 * DAY * HOUR_MS
/** Rows of a day: the smallest of more are summed up by user, namespace and account. 30 days of that are 1.5 MiB. */
const MAX_DAY_ROWS = 1_000
/** Of a GPU that was taken out. */
const CHECKPOINT_MS = 7 * DAY * HOUR_MS
const OTHERS = '(others)'

type Sums = {
  readonly held_ms: number
  readonly active_ms: number
  readonly idle_ms: number
  readonly mib_seconds: number
  readonly millijoules: number
  readonly tokens: number
}
const useOf = (sums: Sums): Use => ({
  heldMs: sums.held_ms,
  activeMs: sums.active_ms,
  idleMs: sums.idle_ms,
  mibSeconds: sums.mib_seconds,
  joules: sums.millijoules / 1_000,
  tokens: sums.tokens,
})
const sumsOf = ({ heldMs, activeMs, idleMs, mibSeconds, joules, tokens }: Use): Sums => ({
  held_ms: Math.round(heldMs),
  active_ms: Math.round(activeMs),
  idle_ms: Math.round(idleMs),
  mib_seconds: Math.round(mibSeconds),
  millijoules: Math.round(joules * 1_000),
  tokens: Math.round(tokens),
})
const COLUMNS = ['held_ms', 'active_ms', 'idle_ms', 'mib_seconds', 'millijoules', 'tokens'] as const
const GROUPS: Readonly<Record<JobGroup, string>> = { user: 'user', job: 'job', gpu: 'gpu', namespace: 'namespace', account: 'account' }
const given = (value: string): string | undefined => (value === '' ? undefined : value)
// Only we write this file; what a broken disk makes of it fails in JSON.parse.
const checkpointIn = (text: string): CardCheckpoint => JSON.parse(text)

type WholeRow = Sums & {
  readonly hour: number
  readonly hours: number
  readonly job_id: string
  readonly job: string
  readonly user: string
  readonly namespace: string
  readonly account: string
  readonly unheld: number
  readonly uuid: string
  readonly gpu: string
  readonly gi: string
  readonly ci: string
}
/** Without the empty ones: an empty text means what is not known. */
const known = <Part extends object>(part: Part): Partial<Part> => {
  const found: Partial<Part> = { ...part }
  for (const name in found) if (found[name] === '') delete found[name]
  return found
}
const ownerIn = ({ job_id, job, user, namespace, account, unheld }: WholeRow): UseOwner => ({
  ...known({ job_id, job, user, namespace, account }),
  ...(unheld === 1 ? { unheld: true as const } : {}),
})
const rowIn = (row: WholeRow): UseRow & { readonly hours: number } => ({
  hour: row.hour,
  hours: row.hours,
  owner: ownerIn(row),
  card: { uuid: row.uuid, gpu: row.gpu, ...known({ gi: row.gi, ci: row.ci }) },
  use: useOf(row),
})

/** For readers, beside the agent or without one. Throws when it cannot be read. */
export function openLedgerFile(directory: string): Pick<LedgerFile, 'sums' | 'held'> & { readonly close: () => void } {
  const db = openReadOnly(join(directory, LEDGER_FILE))
  try {
    const { sums, held } = ledgerIn(db)
    return { sums, held, close: () => void db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

export function ledgerIn(db: Database): LedgerFile {
  const addOwner = db.prepare('INSERT INTO owners (job_id, job, user, namespace, account, unheld) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
  const ownerId = db
    .prepare<(string | number)[], number>('SELECT id FROM owners WHERE job_id = ? AND job = ? AND user = ? AND namespace = ? AND account = ? AND unheld = ?')
    .pluck()
  const addCard = db.prepare('INSERT INTO cards (uuid, gpu, gi, ci) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  const cardId = db.prepare<string[], number>('SELECT id FROM cards WHERE uuid = ? AND gpu = ? AND gi = ? AND ci = ?').pluck()
  const add = db.prepare(
    `INSERT INTO use VALUES (:hour, :hours, :owner, :card, ${COLUMNS.map((name) => `:${name}`).join(', ')}) ON CONFLICT (hour, hours, owner, card) DO UPDATE SET ` +
      COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', '),
  )
  const keep = db.prepare('INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (uuid) DO UPDATE SET t = excluded.t, state = excluded.state')
  const states = db.prepare<[], string>('SELECT state FROM checkpoints').pluck()
  const all = db.prepare<[], WholeRow>('SELECT use.*, owners.*, cards.* FROM use JOIN owners ON owners.id = owner JOIN cards ON cards.id = card')
  // Of an hour or a day that is partly before, the part counts; hours are short, and days are rarely the first.
  const inside = `min(1.0, max(0.0, ((hour + hours) * ${HOUR_MS}.0 - :since) / (hours * ${HOUR_MS}.0)))`
  // First by the number of the owner or card, then by name: a join for each of thousands of rows takes most of the time.
  const sumsBy = (by: JobGroup) => {
    const [id, table] = by === 'gpu' ? ['card', 'cards'] : ['owner', 'owners']
    const part = (where: string, weight: string): string =>
      `SELECT ${id} AS id, ${COLUMNS.map((name) => `sum(${name}${weight}) AS ${name}`).join(', ')} FROM use WHERE ${where} GROUP BY 1`
    return db.prepare<{ since: number; first: number; whole: number; end: number }, Sums & { readonly grouped: string; readonly unheld: number }>(
      `WITH parts AS (${part('hour >= :whole AND hour < :end', '')} UNION ALL ${part('hour > :first AND hour < :whole AND hour < :end', ` * ${inside}`)}) ` +
        `SELECT ${GROUPS[by]} AS grouped, ${by === 'gpu' ? '0' : 'unheld'} AS unheld, ${COLUMNS.map((name) => `sum(${name}) AS ${name}`).join(', ')} ` +
        `FROM parts JOIN ${table} ON ${table}.id = parts.id GROUP BY 1, 2`,
    )
  }
  // An hour without work: the GPU was held for nearly all of it, by whomever, and hardly anything ran. Days of long ago do not say.
  const SPAN = 'hour >= :first AND hour < :end'
  const heldBy = (by: WasteGroup) =>
    db.prepare<{ first: number; end: number }, Sums & { readonly grouped: string; readonly whole: number }>(
      `WITH free AS MATERIALIZED (SELECT hour, card FROM use WHERE hours = 1 AND ${SPAN} GROUP BY hour, card HAVING sum(idle_ms) >= ${0.9 * HOUR_MS}) ` +
        `SELECT ${GROUPS[by]} AS grouped, ${COLUMNS.map((name) => `sum(use.${name}) AS ${name}`).join(', ')}, total(CASE WHEN hours = 1 AND free.card IS NOT NULL THEN idle_ms END) AS whole ` +
        'FROM use JOIN owners ON owners.id = owner LEFT JOIN free ON free.hour = use.hour AND free.card = use.card ' +
        'WHERE unheld = 0 AND use.hour >= :first AND use.hour < :end GROUP BY 1',
    )
  const oldHours = db.prepare<[number], { readonly day: number }>(`SELECT DISTINCT hour / ${DAY} AS day FROM use WHERE hours = 1 AND hour < ? ORDER BY 1`)
  const intoDay = db.prepare(
    `INSERT INTO use SELECT :day * ${DAY}, ${DAY}, owner, card, ${COLUMNS.map((name) => `sum(${name})`).join(', ')} FROM use ` +
      `WHERE hours = 1 AND hour >= :day * ${DAY} AND hour < (:day + 1) * ${DAY} GROUP BY owner, card ` +
      `ON CONFLICT (hour, hours, owner, card) DO UPDATE SET ${COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  )
  const dropHours = db.prepare(`DELETE FROM use WHERE hours = 1 AND hour >= :day * ${DAY} AND hour < (:day + 1) * ${DAY}`)
  const smallest = db.prepare<{ day: number; kept: number }, WholeRow & { readonly owner: number; readonly card: number }>(
    `SELECT use.*, owners.*, cards.*, use.owner AS owner, use.card AS card FROM use JOIN owners ON owners.id = owner JOIN cards ON cards.id = card ` +
      `WHERE hour = :day * ${DAY} AND hours = ${DAY} ORDER BY held_ms DESC, millijoules DESC LIMIT -1 OFFSET :kept`,
  )
  const dropRow = db.prepare('DELETE FROM use WHERE hour = ? AND hours = ? AND owner = ? AND card = ?')
  const forget = db.prepare('DELETE FROM use WHERE hour < ?')
  const forgetOwners = db.prepare('DELETE FROM owners WHERE id NOT IN (SELECT owner FROM use)')
  const forgetCheckpoints = db.prepare('DELETE FROM checkpoints WHERE t < ?')

  /** The same objects come with each write. What a transaction that failed has added is not there, so nothing is known after one. */
  let ids = new WeakMap<UseOwner | UseCard, number>()
  const idOf = <Of extends UseOwner | UseCard>(of: Of, find: (of: Of) => number): number => {
    const id = ids.get(of) ?? find(of)
    ids.set(of, id)
    return id
  }
  const change = (act: () => void): void => {
    try {
      db.transaction(act).immediate()
    } catch (error) {
      ids = new WeakMap()
      throw error
    }
  }
  const findOwner = ({ job_id: id = '', job = '', user = '', namespace = '', account = '', unheld }: UseOwner): number => {
    const key = [id, job, user, namespace, account, unheld === true ? 1 : 0]
    return ownerId.get(...key) ?? (addOwner.run(...key), ownerId.get(...key) ?? 0)
  }
  const findCard = ({ uuid, gpu, gi = '', ci = '' }: UseCard): number =>
    cardId.get(uuid, gpu, gi, ci) ?? (addCard.run(uuid, gpu, gi, ci), cardId.get(uuid, gpu, gi, ci) ?? 0)
  const enter = ({ hour, owner, card, use }: UseRow, hours: number): number =>
    add.run({ hour, hours, owner: idOf(owner, findOwner), card: idOf(card, findCard), ...sumsOf(use) }).changes
  let tails: ReturnType<typeof tailIn> | undefined
  const tail = () => (tails ??= tailIn(db))
  const put = (rows: readonly UseRow[], checkpoints: readonly CardCheckpoint[]): void => {
    for (const row of rows) enter(row, 1)
    for (const checkpoint of checkpoints) keep.run(checkpoint.uuid, Math.round(checkpoint.t), JSON.stringify(checkpoint))
  }
  const fold = (day: number): void => {
    for (const row of smallest.all({ day, kept: MAX_DAY_ROWS })) {
      if (row.job === OTHERS || row.unheld === 1) continue
      const { user, namespace, account } = row
      const { hour, card, use, hours } = rowIn(row)
      dropRow.run(hour, hours, row.owner, row.card)
      enter({ hour, owner: { job: OTHERS, ...known({ user, namespace, account }) }, card, use }, hours)
    }
  }
  return {
    write(rows, checkpoints) {
      change(() => {
        put(rows, checkpoints)
        tail().drop()
      })
    },
    keepTail: (page) => tail().keep(page),
    tail: () => tail().read(),
    recover() {
      change(() => {
        const { rows = [], checkpoints = [], runs = [] } = tail().read() ?? {}
        put(rows, checkpoints)
        tail().keep({ rows: [], checkpoints: [], runs })
      })
    },
    sums: (by, since, until) =>
      sumsBy(by)
        .all({ since, first: Math.floor(since / HOUR_MS) - DAY, whole: Math.ceil(since / HOUR_MS), end: Math.ceil(until / HOUR_MS) })
        .map(({ grouped, unheld, ...sums }) => ({ key: given(grouped), unheld: unheld === 1, use: useOf(sums) }))
        .filter(({ use }) => Object.values(use).some((value) => value !== 0)),
    held: (since, until, by = 'user') =>
      heldBy(by)
        .all({ first: Math.floor(since / HOUR_MS), end: Math.ceil(until / HOUR_MS) })
        .map(({ grouped, whole, ...sums }) => ({ key: given(grouped), use: useOf(sums), wholeMs: whole })),
    checkpoints: () => states.all().map(checkpointIn),
    compact(now) {
      const before = Math.floor((now - HOURLY_MS) / HOUR_MS / DAY) * DAY
      change(() => {
        for (const { day } of oldHours.all(before)) {
          intoDay.run({ day })
          dropHours.run({ day })
          fold(day)
        }
        if (forget.run(Math.floor((now - KEPT_MS) / HOUR_MS)).changes > 0 && forgetOwners.run().changes > 0) ids = new WeakMap()
        forgetCheckpoints.run(now - CHECKPOINT_MS)
      })
      db.pragma('incremental_vacuum(64)')
    },
    *rows() {
      for (const row of all.iterate()) yield rowIn(row)
    },
    takeOver: (from) => takeRows(db, from.rows(), ({ hours, ...row }) => enter(row, hours)),
  }
}
