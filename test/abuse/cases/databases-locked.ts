// Another program holds the write lock of every database for longer than anybody should.
import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import type { AbuseCase } from '../abuse-case.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

const DATABASES = ['history.db', 'incidents.db', 'outbox.db', 'maintenance.db', 'cursors.db'] as const

export const databasesLocked: AbuseCase = {
  id: 'databases-locked',
  area: 'storage',
  fault: `another program holds the write locks of all ${DATABASES.length} databases`,
  promised: 'as for a full disk; waiting for a lock stops nothing for as long as a second',
  hasShortForm: true,
  async run({ short }) {
    const holders: Database[] = []
    try {
      return await storageOrdeal({
        short,
        strike(directory) {
          for (const name of DATABASES) {
            const db = new Sqlite(join(directory, name), { timeout: 5_000 })
            db.exec('BEGIN IMMEDIATE')
            holders.push(db)
          }
        },
        heal: () => holders.forEach((db) => db.close()),
        says: /history cannot be written .*SQLITE_BUSY/,
        degrades: true,
      })
    } finally {
      for (const db of holders) db.close()
    }
  },
}
