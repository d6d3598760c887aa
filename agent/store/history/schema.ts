// The tables of the history's database.
import type { Schema } from '../schema.ts'

const STEPS: readonly string[] = [
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
// WWHI
export const HISTORY_SCHEMA: Schema = { what: 'history', applicationId: 0x57_57_48_49, steps: STEPS }
