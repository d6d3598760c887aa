// Asks how full a file system is, with a deadline: a file system that does not answer must cost neither the reading of the others nor the thread pool.
import { statfs } from 'node:fs/promises'

export type Fullness = { readonly totalBytes: number; readonly freeBytes: number; readonly availableBytes: number }
export type AskStatfs = (path: string) => Promise<Fullness | 'hangs'>

/** libuv has four threads for all of file, DNS and compression work; hanging calls may hold at most this many of them. */
const MAX_HANGING = 2
const DEADLINE_MS = 2_000

/** Rejects as node:fs does. Answers `hangs` when the call took longer than the deadline, and at once for a path whose earlier call has not come back. */
export function createStatfs(
  ask: (path: string) => Promise<{ bsize: number; blocks: number; bfree: number; bavail: number }> = statfs,
  deadlineMs = DEADLINE_MS,
): AskStatfs {
  const hanging = new Set<string>()
  return async (path) => {
    if (hanging.has(path) || hanging.size >= MAX_HANGING) return 'hangs'
    let timer: NodeJS.Timeout | undefined
    const answer = ask(path)
    const late = new Promise<'hangs'>((resolve) => {
      timer = setTimeout(() => {
        hanging.add(path)
        void answer.catch(() => {}).finally(() => hanging.delete(path))
        resolve('hangs')
      }, deadlineMs)
    })
    try {
      const result = await Promise.race([answer, late])
      if (result === 'hangs') return result
      return { totalBytes: result.blocks * result.bsize, freeBytes: result.bfree * result.bsize, availableBytes: result.bavail * result.bsize }
    } finally {
      clearTimeout(timer)
    }
  }
}
