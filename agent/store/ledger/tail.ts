// The tail of the ledger: what was counted since its sums were last written, as one row that is replaced whenever the holders of a GPU change. It takes a
// quarter of what adding to the sums takes, and the agent after one that was killed knows who was there at its last look.
import type { Database } from 'better-sqlite3'
import type { StoredRun } from '../../model/job.ts'
import type { CardCheckpoint, UseRow } from '../../model/ledger.ts'

/** `runs`: those that go on, with their figures of the same moment. */
export type LedgerTail = { readonly rows: readonly UseRow[]; readonly checkpoints: readonly CardCheckpoint[]; readonly runs: readonly StoredRun[] }

export type TailTable = {
  readonly keep: (tail: LedgerTail) => void
  readonly read: () => LedgerTail | undefined
  readonly drop: () => void
}

/** For who writes the file: an older version's, which a reader may find, has no such table. */
export function tailIn(db: Database): TailTable {
  const put = db.prepare('INSERT INTO tail VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET page = excluded.page')
  const get = db.prepare<[], string>('SELECT page FROM tail').pluck()
  const remove = db.prepare('DELETE FROM tail')
  // Only we write this file; what a broken disk makes of it fails in JSON.parse.
  const pageIn = (text: string): LedgerTail => JSON.parse(text)
  return {
    keep: (tail) => void put.run(JSON.stringify(tail)),
    read() {
      const text = get.get()
      return text === undefined ? undefined : pageIn(text)
    },
    drop: () => void remove.run(),
  }
}
