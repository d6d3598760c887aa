// Whether the agent sees the processes of the whole host: in a pid namespace of its own, or under hidepid, it does not.
import { readSmallFile } from './small-file.ts'

/** The kernel's second process is kthreadd (kernel/kthread.c), and only the host's own pid namespace shows it; undefined when it cannot be determined. */
export function seesAllProcesses(procRoot: string): boolean | undefined {
  try {
    return readSmallFile(`${procRoot}/2/comm`).trim() === 'kthreadd'
  } catch {
    // Without any /proc at all nothing follows; with one, its second process is hidden.
    try {
      readSmallFile(`${procRoot}/self/comm`)
      return false
    } catch {
      return undefined
    }
  }
}
