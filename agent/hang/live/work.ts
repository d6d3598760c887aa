// What processes have done since they began, in figures that only grow: two looks say whether anything was done between them.
import { readFileSync } from 'node:fs'
import type { Work } from '../model.ts'

const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4_096

/** CPU time and page faults with those of children that have ended; bytes read and written, from disks too; memory held now. Of a process that is gone or hidden: nothing. */
export function workOf(pids: Iterable<number>): Work {
  let [cpuSeconds, bytes, faults, memory] = [0, 0, 0, 0]
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      for (const i of [7, 8, 9, 10]) faults += Number(fields[i])
      memory += Number(fields[21]) * PAGE_BYTES
      for (const i of [11, 12, 13, 14]) cpuSeconds += Number(fields[i]) / TICKS_PER_SECOND
      for (const [, count] of readFileSync(`/proc/${pid}/io`, 'utf8').matchAll(/^(?:rchar|wchar|read_bytes|write_bytes): (\d+)$/gm)) bytes += Number(count)
    } catch {
      // It has ended.
    }
  }
  return { cpuSeconds, bytes, faults, memory }
}
