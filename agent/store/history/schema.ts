// The database's tables, and the steps from each version to the next. Forward only; a released step never changes.
import type { Database } from 'better-sqlite3'

/** "WWHI": marks the file as ours (PRAGMA application_id). */
export const APPLICATION_ID = 0x57574849

const MIGRATIONS: readonly string[] = [
  // 1: series, blocks of raw seconds, rollups, journal. Times are Unix seconds; blocks as in block.ts.
  `
  CREATE TABLE metrics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE series (id INTEGER PRIMARY KEY AUTOINCREMENT, metric_id INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, labels TEXT NOT NULL) STRICT;
  CREATE INDEX series_by_metric ON series (metric_id);
  CREATE TABLE raw (id INTEGER PRIMARY KEY, metric_id INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, samples INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
  CREATE INDEX raw_by_metric ON raw (metric_id, t0);
  CREATE TABLE minutes (id INTEGER PRIMARY KEY, metric_id INTEGER NOT NULL, t0 INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX minutes_by_metric ON minutes (metric_id, t0, part);
  CREATE TABLE hours (id INTEGER PRIMARY KEY, metric_id INTEGER NOT NULL, t0 INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX hours_by_metric ON hours (metric_id, t0, part);
  CREATE TABLE journal (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
  `,
  // 2: what retention needs: the oldest first, series that ended, how far was deleted.
  `
  ALTER TABLE series ADD COLUMN ended INTEGER;
  CREATE INDEX series_by_end ON series (ended) WHERE ended IS NOT NULL;
  CREATE INDEX raw_by_end ON raw (t1, samples);
  CREATE INDEX minutes_by_time ON minutes (t0);
  CREATE INDEX hours_by_time ON hours (t0);
  CREATE TABLE trimmed (resolution TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT;
  `,
]
export const SCHEMA_VERSION = MIGRATIONS.length

/** The database was written by a newer Warpwatch. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'
}

/** Brings an open database to `target`. Throws NewerSchemaError when it is already beyond. */
export function migrate(db: Database, file: string, target = SCHEMA_VERSION): void {
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version > target) {
    throw new NewerSchemaError(
      `${file} has history of schema version ${version}, this Warpwatch knows versions up to ${target}: start the newer Warpwatch again, or give another --data-dir`,
    )
  }
  for (let next = version; next < target; next++) {
    db.transaction(() => {
      db.exec(MIGRATIONS[next] ?? '')
      db.pragma(`application_id = ${APPLICATION_ID}`)
      db.pragma(`user_version = ${next + 1}`)
    }).immediate()
  }
}
