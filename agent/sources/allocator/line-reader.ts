// Cuts what comes over a connection into lines, no faster than allowed and none longer than allowed.
import type { Socket } from 'node:net'
import type { Budget } from './budget.ts'

export const MAX_LINE_BYTES = 64 * 1024
/** Before it is known who speaks; a hello has 3 KB. */
const MAX_FIRST_LINE_BYTES = 16 * 1024
const NEWLINE = 10

export type LineReader = {
  /** Goes on after a pause, as far as the budgets reach. To be called now and then. */
  readonly resume: () => void
  /** Nothing is read until `release`. */
  readonly hold: () => void
  readonly release: () => void
  readonly paused: () => boolean
}
export type LineReaderOptions = {
  /** With a `highWaterMark` of 1: a larger one goes on reading while paused. */
  readonly socket: Socket
  /** All must have room for a line. */
  readonly budgets: readonly Budget[]
  readonly known: () => boolean
  readonly onLine: (line: string) => void
  readonly refuse: (reason: 'line_too_long' | 'too_fast') => void
}

const NOTHING = Buffer.alloc(0)

export function createLineReader({ socket, budgets, known, onLine, refuse }: LineReaderOptions): LineReader {
  let rest: Buffer = NOTHING
  let starved = false
  let held = false

  const starve = (): void => {
    if (!starved) refuse('too_fast')
    starved = true
    socket.pause()
  }
  const afford = (bytes: number): boolean => budgets.every((budget) => budget.take(bytes))
  /** Takes lines off the front; what is left is copied, so that no pooled buffer is kept alive by it. */
  const drain = (from: Buffer): void => {
    let at = 0
    let paused = false
    const stopped = (): boolean => held || socket.destroyed
    while (!stopped()) {
      const end = from.indexOf(NEWLINE, at)
      const length = (end < 0 ? from.length : end) - at
      if (length > (known() ? MAX_LINE_BYTES : MAX_FIRST_LINE_BYTES)) {
        refuse('line_too_long')
        break
      }
      if (end < 0) break
      if (!afford(length + 1)) {
        paused = true
        break
      }
      onLine(from.toString('utf8', at, end))
      at = end + 1
    }
    if (socket.destroyed) {
      rest = NOTHING
      return
    }
    rest = at === from.length ? NOTHING : Buffer.from(from.subarray(at))
    if (paused) return starve()
    starved = false
    if (held) socket.pause()
    else if (socket.isPaused()) socket.resume()
  }

  socket.on('data', (chunk: Buffer) => {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (held || starved) {
      rest = Buffer.from(all) // already on its way when reading was paused
    } else if (afford(0)) {
      drain(all)
    } else {
      // Bytes that come one by one cost more than lines do.
      rest = Buffer.from(all)
      starve()
    }
  })
  return {
    resume: () => (starved ? drain(rest) : undefined),
    hold() {
      held = true
      socket.pause()
    },
    release() {
      held = false
      drain(rest)
    },
    paused: () => starved || held,
  }
}
