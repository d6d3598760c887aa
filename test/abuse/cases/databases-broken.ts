// Each database emptied, or replaced by another file, while the agent runs.
import { copyFileSync, readdirSync, renameSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { AbuseCase, Outcome } from '../abuse-case.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

const DATABASES = ['history.db', 'incidents.db', 'outbox.db', 'maintenance.db', 'cursors.db'] as const
type Break = (directory: string, file: string) => void

const BREAKS: Readonly<Record<string, { readonly what: string; readonly act: Break }>> = {
  'databases-emptied': { what: 'cut to nothing', act: (_, file) => truncateSync(file) },
  'databases-replaced': {
    what: "replaced by another program's database",
    act: (directory, file) => {
      const other = join(directory, 'theirs')
      const db = new Sqlite(other)
      db.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)')
      db.close()
      renameSync(other, file)
    },
  },
  'databases-put-back': {
    what: 'replaced by copies of themselves without their logs',
    act: (directory, file) => {
      const copy = join(directory, 'copy')
      copyFileSync(file, copy)
      renameSync(copy, file)
    },
  },
}

const broken = (id: string, hasShortForm: boolean): AbuseCase => {
  const { what, act } = BREAKS[id] ?? { what: '', act: () => {} }
  return {
    id,
    area: 'storage',
    fault: `all ${DATABASES.length} databases are ${what} while the agent runs`,
    promised: 'sampling goes on; the log says so; what is broken is set aside, never over an earlier file, and a new one begins with what is known',
    hasShortForm,
    async run({ short }): Promise<Outcome> {
      let aside = 0
      const outcome = await storageOrdeal({
        short,
        strike(directory) {
          for (const name of DATABASES) act(directory, join(directory, name))
        },
        afterwards: (directory) => {
          aside = readdirSync(directory).filter((name) => /\.broken-[^.]*Z(-\d+)?$/.test(name)).length
        },
        says: /while it was in use|is broken|cannot be (?:read|written|kept)/,
        degrades: false,
      })
      return { ...outcome, observed: `${outcome.observed}; ${aside} files set aside` }
    },
  }
}

export const databasesEmptied = broken('databases-emptied', false)
export const databasesReplaced = broken('databases-replaced', false)
export const databasesPutBack = broken('databases-put-back', false)
