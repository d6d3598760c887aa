// A disk that turns read-only: by an error of the file system while the agent runs, as ext4 does it, and before it starts.
import { writeFileSync } from 'node:fs'
import type { AbuseCase } from '../abuse-case.ts'
import { ext4Disk, mountMissing, tmpfsDisk } from '../parts/small-disk.ts'
import { storageOrdeal } from '../parts/storage-ordeal.ts'

export const readOnlyStart: AbuseCase = {
  id: 'read-only-start',
  area: 'storage',
  fault: 'the agent starts on a read-only disk, which is made writable later',
  promised: 'as for a full disk',
  unavailable: () => mountMissing(),
  hasShortForm: false,
  async run({ short }) {
    using disk = tmpfsDisk({ size: '32m' })
    return await storageOrdeal({
      short,
      disk,
      at: 'start',
      strike: () => disk.remount('ro'),
      heal: () => disk.remount('rw'),
      says: /history cannot be written .*EROFS/,
      degrades: true,
    })
  },
}

export const readOnlyByError: AbuseCase = {
  id: 'read-only-by-error',
  area: 'storage',
  fault: 'ext4 finds an error and turns read-only while the agent runs (errors=remount-ro)',
  promised: 'as for a full disk',
  unavailable: () => mountMissing('mkfs.ext4'),
  hasShortForm: false,
  async run({ short }) {
    using disk = ext4Disk({ megabytes: 32, options: 'errors=remount-ro' })
    return await storageOrdeal({
      short,
      disk,
      strike: () => writeFileSync(`/sys/fs/ext4/${disk.device}/trigger_fs_error`, '1'),
      says: /history cannot be written/,
      degrades: true,
      lasting: true,
    })
  },
}
