// Bytes read from and written to the host's disks, from /proc/diskstats (Documentation/admin-guide/iostats.rst).
import { readSmallFile } from '../../attribution/small-file.ts'
import { hostDiskBusySecondsTotal, hostDiskReadBytesTotal, hostDiskWrittenBytesTotal } from '../../metrics/host-io.ts'
import type { Aspect } from './aspect.ts'
import { attempt, seriesBy, wholeNumber } from './aspect.ts'

/** Memory and image devices, and partitions: those of a disk are in the disk. */
const NOT_A_DISK = /^(loop|ram|zram|sr|fd|nbd)\d+|^(s|h|v|xv)d[a-z]+\d+$|^(nvme\d+n\d+|mmcblk\d+)p\d+$|^mmcblk\d+boot\d+$|^nvme\d+c\d+n\d+$/

/** The kernel counts in 512 bytes, whatever the disk's own sectors. */
const SECTOR_BYTES = 512

export type DiskBytes = { readonly device: string; readonly readBytes: number; readonly writtenBytes: number; readonly busySeconds: number }

/** Columns: major, minor, name, reads, merged, sectors read, ms, writes, merged, sectors written, ms, in flight, ms busy, … */
export function parseDiskstats(text: string): readonly DiskBytes[] {
  const found: DiskBytes[] = []
  for (const line of text.split('\n')) {
    const columns = line.trim().split(/\s+/)
    const [device, sectorsRead, sectorsWritten, busyMs] = [columns[2], wholeNumber(columns[5]), wholeNumber(columns[9]), wholeNumber(columns[12])]
    if (device === undefined || NOT_A_DISK.test(device) || sectorsRead === undefined || sectorsWritten === undefined || busyMs === undefined) continue
    found.push({ device, readBytes: sectorsRead * SECTOR_BYTES, writtenBytes: sectorsWritten * SECTOR_BYTES, busySeconds: busyMs / 1000 })
  }
  return found
}

const metrics = [hostDiskReadBytesTotal, hostDiskWrittenBytesTotal, hostDiskBusySecondsTotal]

export const diskIo: Aspect = {
  id: 'disk-io',
  rate: 'slow',
  metrics,
  create: ({ proc }) => {
    const [readSeries, writtenSeries, busySeries] = metrics.map((metric) => seriesBy(metric, (device) => ({ device })))
    return (out) =>
      attempt(out, metrics, () => {
        for (const disk of parseDiskstats(readSmallFile(`${proc}/diskstats`))) {
          if (readSeries) out.reading(readSeries(disk.device), disk.readBytes)
          if (writtenSeries) out.reading(writtenSeries(disk.device), disk.writtenBytes)
          if (busySeries) out.reading(busySeries(disk.device), disk.busySeconds)
        }
      })
  },
}
