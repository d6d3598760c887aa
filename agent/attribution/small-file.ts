// Reads small files of /proc and cgroup file systems with few system calls and no garbage besides the text.
import { closeSync, openSync, readSync } from 'node:fs'

// One buffer for all: reads are synchronous. 64 KiB holds every file read through it; the kernel renders most of them in one page.
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** A seq_file may return less than it has, so reading goes on until the end, or until the buffer is full. */
function readToEnd(fd: number, length: number): string {
  for (;;) {
    const more = length < BUFFER.length ? readSync(fd, BUFFER, length, BUFFER.length - length, length) : 0
    if (more === 0) return BUFFER.toString('utf8', 0, length)
    length += more
  }
}

/**
 * The text of an open cgroup file, or of another one that the kernel writes in one piece; it is rendered again at offset 0. A short read is
 * then the end and costs one system call. Cgroup files hold ASCII only, which `latin1` reads faster.
 */
export function readOpenFile(fd: number, encoding: 'latin1' | 'utf8' = 'latin1'): string {
  const length = readSync(fd, BUFFER, 0, BUFFER.length, 0)
  return length < 3072 ? BUFFER.toString(encoding, 0, length) : readToEnd(fd, length)
}

/** The text of a file; throws as `openSync` and `readSync` do. Cheaper than `readFileSync`, which asks for the size first. */
export function readSmallFile(path: string): string {
  const fd = openSync(path, 'r')
  try {
    return readToEnd(fd, 0)
  } finally {
    closeSync(fd)
  }
}

/** The text of a file that is read often: it stays open, and the kernel renders it again at offset 0. Throws as `openSync` and `readSync` do; the next call then opens it again. */
export function keepOpen(path: string): () => string {
  let fd: number | undefined
  return () => {
    fd ??= openSync(path, 'r')
    try {
      return readToEnd(fd, 0)
    } catch (error) {
      closeSync(fd)
      fd = undefined
      throw error
    }
  }
}
