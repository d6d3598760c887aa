// The tables of the ledger's database, step by step to their newest version.
import type { Schema } from '../schema.ts'

export const LEDGER_FILE = 'ledger.db'
export const LEDGER_SCHEMA: Schema = {
  what: 'the ledger of use',
  // WwLe
  applicationId: 0x57_77_4c_65,
  steps: [
    `
CREATE TABLE owners (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL,
  job TEXT NOT NULL,
  user TEXT NOT NULL,
  namespace TEXT NOT NULL,
  account TEXT NOT NULL,
  unheld INTEGER NOT NULL,
  UNIQUE (job_id, job, user, namespace, account, unheld)
) STRICT;
CREATE TABLE cards (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,
  gpu TEXT NOT NULL,
  gi TEXT NOT NULL,
  ci TEXT NOT NULL,
  UNIQUE (uuid, gpu, gi, ci)
) STRICT;
CREATE TABLE use (
  hour INTEGER NOT NULL,
  hours INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  card INTEGER NOT NULL,
  held_ms INTEGER NOT NULL,
  active_ms INTEGER NOT NULL,
  idle_ms INTEGER NOT NULL,
  mib_seconds INTEGER NOT NULL,
  millijoules INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (hour, hours, owner, card)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (uuid TEXT PRIMARY KEY, t INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
    `
CREATE TABLE tail (id INTEGER PRIMARY KEY CHECK (id = 1), page TEXT NOT NULL) STRICT;
`,
  ],
}
