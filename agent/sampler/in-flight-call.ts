// The NVML call in flight of a child that no longer answers, from its thread name, which is set before each native call; and its process state.
import { readFileSync } from 'node:fs'
import { parseInFlightCall, type InFlightCall } from './protocol.ts'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // reaped already: unknown
  }
}

/** The raw thread name: /proc/PID/comm. Of one that has ended see call-record.ts. */
export const readComm = (pid: number): string => read(`/proc/${pid}/comm`).trimEnd()

export const readInFlightCall = (pid: number): InFlightCall | undefined => parseInFlightCall(readComm(pid))

/** The main thread's state, the third field of /proc/PID/stat (proc(5)); empty for a process that is gone. */
function stateOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
}

/** Stopped by a signal or a debugger: its thread name then blames no GPU. */
export const isStopped = (pid: number): boolean => ['T', 't'].includes(stateOf(pid))

/** Sleeps, in the kernel or for another thread: neither running nor waiting for a CPU, so that a loaded machine does not look like a hung driver. */
export const isBlocked = (pid: number): boolean => ['S', 'D'].includes(stateOf(pid))
