// The end of what passes in large pieces, kept as pages in a pipe of our own: nothing is copied until the end is read.
import { readSync } from 'node:fs'
import { PIPE_BYTES, type Native } from './native.ts'

export type PageTail = {
  /** Takes so many bytes out of a pipe, which must hold them; returns how many it took, 0 where it cannot. */
  readonly take: (from: number, bytes: number) => number
  /** Hands over the last bytes that were taken, and forgets them. */
  readonly drain: () => void
}

/** `most`: so many of the last bytes are wanted. */
export function createPageTail(native: Native, most: number, keep: (chunk: Buffer) => void): PageTail | undefined {
  const pair = native.pipe()
  if (pair === undefined) return undefined
  let held = 0
  const drop = (bytes: number): void => {
    for (let left = Math.min(bytes, held); left > 0;) {
      const dropped = native.drop(pair.read, left)
      if (dropped <= 0) return
      held -= dropped
      left -= dropped
    }
  }
  return {
    take(from, bytes) {
      drop(held + bytes - PIPE_BYTES)
      for (;;) {
        const moved = native.move(from, pair.write, bytes)
        if (moved > 0) {
          held += moved
          return moved
        }
        // It has room for so many pieces only, however small they are.
        const before = held
        drop(Math.ceil(held / 2))
        if (held === before) return 0
      }
    },
    drain() {
      drop(held - most)
      const buffer = Buffer.allocUnsafe(Math.min(held, most))
      while (held > 0) {
        const length = readSync(pair.read, buffer, 0, Math.min(held, buffer.length), null)
        if (length === 0) return
        keep(buffer.subarray(0, length))
        held -= length
      }
    },
  }
}
