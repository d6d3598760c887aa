// Reads small files of /proc and cgroup file systems with few system calls and no garbage besides the text.
import { closeSync, openSync, readSync } from 'node:fs'

// One buffer for all: reads are synchronous. 64 KiB holds every file read through it; the kernel renders most of them in one page.
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** The text of an open file from its beginning. Kernel files render anew on each read at offset 0. */
export function readOpenFile(fd: number): string {
  let length = readSync(fd, BUFFER, 0, BUFFER.length, 0)
  // A seq_file may return less than it has (one page at a time): go on until the end or the buffer is full. A short first read is the end
  // of all the small ones, so that they cost one call.
  if (length >= 3072) {
    for (;;) {
      const more = length < BUFFER.length ? readSync(fd, BUFFER, length, BUFFER.length - length, length) : 0
      if (more === 0) break
      length += more
    }
  }
  return BUFFER.utf8Slice(0, length)
}

/** The text of a file; throws as `openSync` and `readSync` do. About half the cost of `readFileSync` on /proc, which has to ask for the size first. */
export function readSmallFile(path: string): string {
  const fd = openSync(path, 'r')
  try {
    return readOpenFile(fd)
  } finally {
    closeSync(fd)
  }
}

/** The errno name (`ENOENT`, …) of an error of node:fs. */
export function errnoName(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
