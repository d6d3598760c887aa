// A quota that is used up: EDQUOT, which SQLite does not know as a full disk.
import type { AbuseCase } from '../abuse-case.ts'
import { mountMissing, quotaDisk } from '../parts/small-disk.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

export const quotaExceeded: AbuseCase = {
  id: 'quota-exceeded',
  area: 'storage',
  fault: 'the quota of data_dir is used up (EDQUOT, a qgroup of btrfs)',
  promised: 'as for a full disk',
  unavailable: () => mountMissing('mkfs.btrfs', 'btrfs'),
  hasShortForm: false,
  async run({ short }) {
    using disk = quotaDisk({ megabytes: 8 })
    return await storageOrdeal({
      short,
      disk,
      strike() {
        const code = disk.fill()
        if (code !== 'EDQUOT') throw new Error(`expected EDQUOT, came ${code}`)
      },
      heal: disk.free,
      says: /history cannot be written/,
      degrades: true,
    })
  },
}
