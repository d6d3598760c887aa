// A signal to a process of this machine, with the user's own rights, and only to the process that was chosen.
import { readFileSync } from 'node:fs'
import { parseStat } from '../../attribution/proc-files.ts'
import { messageOf } from '../../text/error.ts'

/** Which life of the pid it is: a pid is given again to other processes. */
export type Target = { readonly pid: number; readonly startTicks: number; readonly name: string }

export function targetOf(pid: number): Target | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = parseStat(stat)?.startTicks
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    return ticks === undefined ? undefined : { pid, startTicks: ticks, name }
  } catch {
    return undefined
  }
}

/** What came of it, for the user. */
export function sendSignal({ pid, startTicks, name }: Target, signal: NodeJS.Signals): string {
  if (targetOf(pid)?.startTicks !== startTicks) return `Process ${pid} has ended already`
  try {
    process.kill(pid, signal)
    return `Sent ${signal} to ${pid} (${name})`
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EPERM') return `Not permitted: process ${pid} (${name}) belongs to another user`
    return code === 'ESRCH' ? `Process ${pid} has ended already` : `${signal} was not sent to ${pid}: ${messageOf(error)}`
  }
}
