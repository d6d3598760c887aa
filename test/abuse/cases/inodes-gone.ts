// Space on the disk, but no inode left for a new file: before the agent starts, so that it can make none of its databases.
import { mkdirSync } from 'node:fs'
import type { AbuseCase } from '../abuse-case.ts'
import { mountMissing, tmpfsDisk } from '../parts/small-disk.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

export const inodesGone: AbuseCase = {
  id: 'inodes-gone',
  area: 'storage',
  fault: 'no inodes are left on the disk of data_dir when the agent starts',
  promised: 'as for a full disk',
  unavailable: () => mountMissing(),
  hasShortForm: true,
  async run({ short }) {
    using disk = tmpfsDisk({ size: '32m', inodes: 100 })
    mkdirSync(disk.dataDir)
    return await storageOrdeal({
      short,
      disk,
      at: 'start',
      strike() {
        const code = disk.takeInodes()
        if (code !== 'ENOSPC') throw new Error(`expected ENOSPC, came ${code}`)
      },
      heal: disk.free,
      says: /history cannot be written/,
      degrades: true,
    })
  },
}
