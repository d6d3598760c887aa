// The outbox's database: what waits for which notifier, the messages on their way, what was set aside, and each notifier's last notification of an incident.
import type { Database } from 'better-sqlite3'
import type { Schema } from '../schema.ts'

export const OUTBOX_FILE = 'outbox.db'
/**
 * An item belongs to a message from the moment that the message is put together until it is delivered or set aside. The text of an incident
 * is kept once, however many notifiers wait for it. Numbers of items are never used twice, so that a higher number is newer.
 */
export const OUTBOX_SCHEMA: Schema = {
  what: 'an outbox',
  // WwOb
  applicationId: 0x57_77_4f_62,
  steps: [
    `
CREATE TABLE payloads (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE items (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  notifier TEXT NOT NULL,
  incident TEXT NOT NULL,
  grouped TEXT NOT NULL,
  event TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  payload INTEGER NOT NULL,
  message TEXT
) STRICT;
CREATE INDEX items_due ON items (notifier, due_at, seq) WHERE message IS NULL;
CREATE INDEX items_by_incident ON items (incident, notifier, seq);
CREATE INDEX items_by_message ON items (message, seq) WHERE message IS NOT NULL;
CREATE INDEX items_by_payload ON items (payload);
CREATE TRIGGER last_reader AFTER DELETE ON items WHEN NOT EXISTS (SELECT 1 FROM items WHERE payload = OLD.payload)
BEGIN DELETE FROM payloads WHERE id = OLD.payload; END;
CREATE TRIGGER last_reader_moved AFTER UPDATE OF payload ON items WHEN NOT EXISTS (SELECT 1 FROM items WHERE payload = OLD.payload)
BEGIN DELETE FROM payloads WHERE id = OLD.payload; END;
CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  notifier TEXT NOT NULL,
  at INTEGER NOT NULL,
  expired TEXT
) STRICT;
CREATE TABLE aside (key TEXT PRIMARY KEY, notifier TEXT NOT NULL, at INTEGER NOT NULL, why TEXT NOT NULL, count INTEGER NOT NULL, items TEXT NOT NULL) STRICT;
CREATE TABLE told (
  notifier TEXT NOT NULL,
  incident TEXT NOT NULL,
  event TEXT NOT NULL,
  severity TEXT NOT NULL,
  at INTEGER NOT NULL,
  sent INTEGER,
  thread TEXT,
  PRIMARY KEY (notifier, incident)
) STRICT, WITHOUT ROWID;
CREATE TABLE figures (
  notifier TEXT PRIMARY KEY,
  delivered INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  last_delivered_at INTEGER,
  untold INTEGER NOT NULL DEFAULT 0,
  untold_from INTEGER,
  untold_to INTEGER
) STRICT, WITHOUT ROWID;
`,
  ],
}

export type Row = Readonly<Record<string, string | number | null>>

/** Items as they are in `aside`: our own text. */
const renumbered = (items: string, by: number): string => {
  const list: readonly { readonly seq: number }[] = JSON.parse(items)
  return JSON.stringify(list.map((item) => ({ ...item, seq: item.seq + by })))
}

/**
 * Takes all over from one outbox to another, in one transaction: instead of what is there (it came from there), or after it. What is new about
 * an incident makes useless what waits there of the same.
 */
export function copyOutbox(from: Database, to: Database, { replace }: { readonly replace: boolean }): void {
  const all = (table: string): IterableIterator<Row> => from.prepare<[], Row>(`SELECT * FROM ${table}`).iterate()
  const into = (table: string, more = ''): ((row: Row) => void) => {
    const columns = to.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table)
    const put = to.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `:${name}`).join(', ')}) ${more}`)
    return (row) => void put.run(row)
  }
  const highest = (db: Database, sql: string): number => Number(db.prepare(sql).pluck().get() ?? 0)
  const LAST_SEQ = "SELECT seq FROM sqlite_sequence WHERE name = 'items'"
  to.transaction(() => {
    if (replace) for (const table of ['items', 'payloads', 'messages', 'aside', 'told', 'figures']) to.exec(`DELETE FROM ${table}`)
    const seqs = replace ? 0 : highest(to, LAST_SEQ)
    const payloads = highest(to, 'SELECT max(id) FROM payloads')
    const dropWaiting = to.prepare('DELETE FROM items WHERE notifier = :notifier AND incident = :incident AND message IS NULL')
    const putLast = into(
      'told',
      'ON CONFLICT (notifier, incident) DO UPDATE SET event = excluded.event, severity = excluded.severity, at = excluded.at, sent = coalesce(excluded.sent, sent), thread = coalesce(thread, excluded.thread)',
    )
    for (const row of all('told')) {
      if (!replace) dropWaiting.run({ notifier: row['notifier'], incident: row['incident'] })
      putLast({ ...row, sent: row['sent'] == null ? null : Number(row['sent']) + seqs })
    }
    const putPayload = into('payloads')
    for (const row of all('payloads')) putPayload({ ...row, id: Number(row['id']) + payloads })
    const putItem = into('items')
    for (const row of all('items')) putItem({ ...row, seq: Number(row['seq']) + seqs, payload: Number(row['payload']) + payloads })
    const putMessage = into('messages')
    for (const row of all('messages')) putMessage({ ...row, id: null })
    const putAside = into('aside', 'ON CONFLICT (key) DO NOTHING')
    for (const row of all('aside')) putAside({ ...row, items: renumbered(String(row['items']), seqs) })
    const putFigures = into(
      'figures',
      'ON CONFLICT (notifier) DO UPDATE SET delivered = delivered + excluded.delivered, failed = failed + excluded.failed, expired = expired + excluded.expired, ' +
        'last_delivered_at = coalesce(excluded.last_delivered_at, last_delivered_at), untold = untold + excluded.untold, ' +
        'untold_from = coalesce(min(untold_from, excluded.untold_from), untold_from, excluded.untold_from), ' +
        'untold_to = coalesce(max(untold_to, excluded.untold_to), untold_to, excluded.untold_to)',
    )
    for (const row of all('figures')) putFigures(row)
    // What is numbered later is newer, also where all that was numbered is gone.
    to.prepare("DELETE FROM sqlite_sequence WHERE name = 'items'").run()
    to.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('items', ?)").run(seqs + highest(from, LAST_SEQ))
  }).immediate()
}
