// What processes have done since they began, in figures that only grow: two looks say whether anything was done between them.
import { readFileSync } from 'node:fs'
import type { Work } from '../model.ts'

const TICKS_PER_SECOND = 100

/** CPU time with that of children that have ended; bytes read and written, from disks too. Of a process that is gone or hidden: nothing. */
export function workOf(pids: Iterable<number>): Work {
  let [cpuSeconds, bytes] = [0, 0]
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      for (const i of [11, 12, 13, 14]) cpuSeconds += Number(fields[i]) / TICKS_PER_SECOND
      for (const [, count] of readFileSync(`/proc/${pid}/io`, 'utf8').matchAll(/^(?:rchar|wchar|read_bytes|write_bytes): (\d+)$/gm)) bytes += Number(count)
    } catch {
      // It has ended.
    }
  }
  return { cpuSeconds, bytes }
}
