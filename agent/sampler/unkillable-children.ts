// Unkillable children: killed with SIGKILL and still not ended, because they are stuck in the kernel. They cannot be waited for, only counted.
import type { ChildProcess } from 'node:child_process'

export type UnkillableChildren = {
  /** Kills the child and lets go of it; it never keeps the agent from ending. */
  readonly abandon: (child: ChildProcess) => void
  readonly alive: () => number
}

/** `ended` hears of each that ends at last, and for how long it was stuck. */
export function createUnkillableChildren(ended: (stuckMs: number) => void): UnkillableChildren {
  const stuck = new Set<ChildProcess>()
  return {
    abandon(child) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      const since = performance.now()
      stuck.add(child)
      child.once('exit', () => {
        stuck.delete(child)
        ended(performance.now() - since)
      })
      child.kill('SIGKILL')
      if (child.connected) child.disconnect()
      child.stderr?.destroy()
      child.unref()
    },
    alive: () => stuck.size,
  }
}
