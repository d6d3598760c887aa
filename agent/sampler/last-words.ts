// What a child that no longer answers was doing: its thread name, set before each native call, and its state.
import { readFileSync } from 'node:fs'
import { parseLastWords, type LastWords } from './protocol.ts'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // reaped already: nothing can be said any more
  }
}

/** The raw thread name: /proc/PID/comm. Readable for a zombie too, as long as nobody has reaped it. */
export const readComm = (pid: number): string => read(`/proc/${pid}/comm`).trimEnd()

export const readLastWords = (pid: number): LastWords | undefined => parseLastWords(readComm(pid))

/** Stopped by a signal or a debugger (state T or t of /proc/PID/stat, proc(5)): its thread name then blames no GPU. */
export function isStopped(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`)
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
  return state === 'T' || state === 't'
}
