// No space left on the disk of data_dir: really, on a tmpfs and on an ext4 of their own.
import type { AbuseCase } from '../abuse-case.ts'
import { ext4Disk, mountMissing, tmpfsDisk, type SmallDisk } from '../parts/small-disk.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

const PROMISED = 'sampling, the API and notifications go on; log and metric say so; nothing is lost, and all is written once there is space'

const fullDisk = (id: string, kind: string, make: () => SmallDisk, hasShortForm: boolean, unavailable: () => string | undefined): AbuseCase => ({
  id,
  area: 'storage',
  fault: `the disk of data_dir is full (ENOSPC, ${kind})`,
  promised: PROMISED,
  unavailable,
  hasShortForm,
  async run({ short }) {
    using disk = make()
    return await storageOrdeal({
      short,
      disk,
      strike() {
        const code = disk.fill()
        if (code !== 'ENOSPC') throw new Error(`expected ENOSPC, came ${code}`)
      },
      heal: disk.free,
      says: /history cannot be written .*SQLITE_FULL/,
      degrades: true,
    })
  },
})

export const diskFull = fullDisk(
  'disk-full',
  'tmpfs',
  () => tmpfsDisk({ size: '8m' }),
  true,
  () => mountMissing(),
)
export const diskFullExt4 = fullDisk(
  'disk-full-ext4',
  'ext4 on a loop device',
  () => ext4Disk({ megabytes: 16 }),
  false,
  () => mountMissing('mkfs.ext4'),
)
