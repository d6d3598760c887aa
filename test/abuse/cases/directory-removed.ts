// data_dir is removed while the agent runs: SQLite would go on writing into files that nobody can find any more.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AbuseCase } from '../abuse-case.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

export const directoryRemoved: AbuseCase = {
  id: 'directory-removed',
  area: 'storage',
  fault: 'data_dir is removed while the agent runs',
  promised: 'it is made again within seconds, with all incidents, notifications and the last minutes of history; sampling goes on; the log says so',
  hasShortForm: true,
  async run({ short }) {
    let dataDir = ''
    const outcome = await storageOrdeal({
      short,
      strike(directory) {
        dataDir = directory
        rmSync(directory, { recursive: true })
        if (existsSync(join(directory, 'history.db'))) throw new Error('expected a directory that is gone')
      },
      says: /history is written to .* again/,
      degrades: false,
    })
    return dataDir === '' ? { held: false, observed: 'nothing was removed' } : outcome
  },
}
