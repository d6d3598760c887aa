// What a process and its children are doing, from /proc.
import { readFileSync, readdirSync } from 'node:fs'

/** CPU time of a process so far, s; a tick is 10 ms on Linux (USER_HZ). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Its children whose command line holds `text`. */
export function childrenOf(pid: number, text: string): readonly number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(text))
    .map(Number)
}
