// Passes the bytes of a pipe or terminal on to our own output as they are, and keeps the end of them.
import { closeSync, read, readSync, write } from 'node:fs'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../text/error.ts'
import { PIPE_BYTES, type Native } from './native.ts'
import { TAIL_BYTES, type Output } from './streams.ts'
import { createPageTail, type PageTail } from './page-tail.ts'
import { createTail } from './tail.ts'

export type Relay = {
  /** Resolves when the last writer has closed it, or nothing comes any more after `finish`. */
  readonly done: Promise<void>
  /** The command has ended; what it started may live on and hold its output open. */
  readonly finish: () => void
  readonly tail: () => Buffer
}

const BUSY_MS = 2
const FIRST_BYTES = 4_096
/** Pieces of this size are kept as pages; of small ones a pipe holds only some hundreds. */
const PAGES_BYTES = 32 * 1024
/** Where much comes the next piece does too: to wait for it here is cheaper than in another thread. */
const LINGER_MS = 2
/** Signals, and the command's end, are seen as often. */
const TURN_MS = 10
/** After the command's end, where something that it started holds its output open: what is still in the pipe is read by then. */
const QUIET_MS = 500

const readSome = (fd: number, into: Buffer): Promise<number> =>
  new Promise((resolve, reject) => read(fd, into, 0, into.length, null, (error, length) => (error === null ? resolve(length) : reject(error))))
const writeSome = (fd: number, from: Buffer): Promise<number> =>
  new Promise((resolve, reject) => write(fd, from, 0, from.length, null, (error, length) => (error === null ? resolve(length) : reject(error))))

/** `isPiped`: both ends are pipes, between which bytes can be passed on without being copied. */
export function startRelay(native: Native, fd: number, to: Output, isPiped: boolean): Relay {
  const { keep, total, tail } = createTail(TAIL_BYTES)
  let pages: PageTail | undefined
  let moved = 0
  /** In the order in which it came: the pages before what follows them. */
  const keepAfterPages = (chunk: Buffer): void => {
    pages?.drain()
    keep(chunk)
  }
  const keepPages = (bytes: number): number => {
    pages ??= createPageTail(native, TAIL_BYTES, keep)
    const taken = pages?.take(fd, bytes) ?? 0
    moved += taken
    return taken
  }
  /** Nothing waits to be passed on. */
  let isReading = false
  let isOver = false
  let isReaderGone = false
  const pass = async (chunk: Buffer): Promise<void> => {
    for (let rest = chunk; rest.length > 0 && !isReaderGone;) {
      try {
        rest = rest.subarray(await writeSome(to, rest))
      } catch (error) {
        if (codeOf(error) === 'EAGAIN') await delay(BUSY_MS)
        else isReaderGone = true
      }
    }
  }
  /** What is there now: a terminal gives 4 KiB at a time. 0: nothing, or the end. */
  const readNow = (buffer: Buffer, from: number): number => {
    let length = from
    try {
      while (length < buffer.length && native.isReady(fd, 0)) {
        const more = readSync(fd, buffer, length, buffer.length - length, null)
        if (more === 0) break
        length += more
      }
    } catch {
      // EIO: the last one who held the terminal has closed it, which the next waiting read finds too.
    }
    return length
  }
  const waitFor = async (buffer: Buffer): Promise<number> => {
    isReading = true
    const size = await readSome(fd, buffer)
    isReading = false
    return size
  }
  const readOn = async (buffer: Buffer): Promise<number> => {
    const now = readNow(buffer, 0)
    if (now > 0) return now
    const first = await waitFor(buffer)
    return first === 0 ? 0 : readNow(buffer, first)
  }
  /** Passes on what comes, page by page, until nothing comes or nobody takes it; false: it cannot be done so. */
  const passPages = async (buffer: Buffer): Promise<boolean> => {
    let lingerMs = 0
    for (let since = performance.now(); native.isReady(fd, lingerMs);) {
      const size = native.tee(fd, to, PIPE_BYTES)
      // Whoever writes waits for its reader without us.
      if (size === undefined) return true
      if (size <= 0) return size === 0
      // Of much, only the end is kept.
      for (let left = size; left > 0;) {
        const taken = left >= PAGES_BYTES ? keepPages(left) : 0
        const length = taken > 0 ? taken : readSync(fd, buffer, 0, Math.min(left, buffer.length), null)
        if (taken <= 0) keepAfterPages(buffer.subarray(0, length))
        left -= length
      }
      lingerMs = size >= PAGES_BYTES ? LINGER_MS : 0
      if (performance.now() - since < TURN_MS) continue
      await turn()
      since = performance.now()
    }
    return true
  }
  const run = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafeSlow(PIPE_BYTES)
    for (let byPages = isPiped; ;) {
      byPages &&= await passPages(buffer)
      let size
      try {
        // The first bytes tell that there are more, which are passed on as pages.
        size = byPages ? await waitFor(buffer.subarray(0, FIRST_BYTES)) : await readOn(buffer)
      } catch {
        break // EIO: the last one who held the terminal has closed it
      }
      if (size === 0) break
      const chunk = buffer.subarray(0, size)
      keepAfterPages(chunk)
      await pass(chunk)
      // As if the command had written there itself: it must learn that nobody reads.
      if (isReaderGone) break
    }
    isOver = true
    closeSync(fd)
  }
  const finished = Promise.withResolvers<void>()
  const over = run()
  let seen = -1
  const isQuiet = (): boolean => isOver || (seen === total() + moved && isReading)
  const untilQuiet = async (): Promise<void> => {
    await finished.promise
    while (!isQuiet()) {
      seen = total() + moved
      await delay(QUIET_MS)
    }
  }
  return { done: Promise.race([over, untilQuiet()]), finish: finished.resolve, tail: () => (pages?.drain(), tail()) }
}
