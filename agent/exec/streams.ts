// What becomes of a command's stdout and stderr. Whatever need not be seen is handed on as it is, so that nothing can differ:
//   a regular file    the command writes it itself; its end is read afterwards
//   a terminal        the command gets a terminal of its own, whose bytes are passed on; both streams share one, so their order stays
//   anything else     stdout is the command's own; stderr is a pipe that is passed on, and so are both where they are the same pipe
// Without native code (koffi) all is handed on, and a bad end is explained by exit code and signal alone.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { isatty } from 'node:tty'
import type { Native, Pair } from './native.ts'

export type Output = 1 | 2
export type Plan = {
  /** For `spawn`. */
  readonly stdio: readonly ['inherit', 'inherit' | number, 'inherit' | number]
  readonly relays: readonly { readonly pair: Pair; readonly to: Output; readonly isTerminal: boolean; readonly isPiped: boolean }[]
  /** To be called once the command has its copies. */
  readonly spawned: () => void
  /** The end of what the command wrote into files. */
  readonly written: () => Buffer
}

export const TAIL_BYTES = 256 * 1024

const statOf = (fd: Output): Stats | undefined => {
  try {
    return fstatSync(fd)
  } catch {
    return undefined // closed
  }
}
const same = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev && a.rdev === b.rdev

type Watched = { readonly fd: number; readonly from: number }
/** Opened again, as the descriptor that was given is often for writing only. */
function watchFile(fd: Output, { size }: Stats): Watched | undefined {
  try {
    return { fd: openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY), from: size }
  } catch {
    return undefined // no right to read it
  }
}
function tailOf({ fd, from }: Watched): Buffer {
  try {
    const { size } = fstatSync(fd)
    // A file that was truncated meanwhile is new from its beginning.
    const start = Math.max(from <= size ? from : 0, size - TAIL_BYTES)
    const buffer = Buffer.alloc(Math.min(TAIL_BYTES, size - start))
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start))
  } catch {
    return Buffer.alloc(0)
  } finally {
    closeSync(fd)
  }
}

export function planStreams(native: Native | undefined): Plan {
  const [out, err] = [statOf(1), statOf(2)]
  const relays: { pair: Pair; to: Output; isTerminal: boolean; isPiped: boolean }[] = []
  const files: Watched[] = []
  const stdio: ['inherit', 'inherit' | number, 'inherit' | number] = ['inherit', 'inherit', 'inherit']
  const relay = (pair: Pair | undefined, to: Output, isTerminal: boolean, isPiped = false): void => {
    if (pair === undefined) return
    relays.push({ pair, to, isTerminal, isPiped })
    stdio[to] = pair.write
  }
  const isShared = same(out, err)
  if (out?.isFIFO() === true) native?.enlarge(1)
  for (const [fd, stat] of [
    [2, err],
    [1, out],
  ] as const) {
    if (stat === undefined) continue
    if (stat.isFile()) {
      const file = fd === 1 && isShared ? undefined : watchFile(fd, stat)
      if (file !== undefined) files.push(file)
    } else if (isatty(fd)) {
      const first = relays.find(({ isTerminal }) => isTerminal)
      if (first !== undefined && isShared) stdio[fd] = first.pair.write
      else relay(native?.terminal(fd), fd, true)
    } else if (fd === 2 && (stat.isFIFO() || stat.isSocket())) relay(native?.pipe(), fd, false, stat.isFIFO())
    else if (fd === 1 && isShared && relays[0] !== undefined) stdio[fd] = relays[0].pair.write
  }
  return {
    stdio,
    relays,
    spawned: () => relays.forEach(({ pair }) => closeSync(pair.write)),
    written: () => Buffer.concat(files.toReversed().map(tailOf)),
  }
}
