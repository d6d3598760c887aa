// A folder in memory for the tests that write many small files: on a disk, making and removing them takes twice the time. Where there is none, tests use the disk.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

const GIB = 2 ** 30
/** Of memory that nobody uses. The units of a whole run have some hundred MiB there at a time; half of it may be filled. */
const LEAST_BYTES = 6 * GIB

export type MemoryFolder = { readonly path: string; readonly remove: () => void }

const availableBytes = (): number => Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * 1024

/** A file system of its own in `folder`, since /dev/shm may be small, or forbid programs and devices. Undefined without root, the right to mount, or memory. */
export function mountMemory(folder: string): MemoryFolder | undefined {
  if (process.platform !== 'linux') return undefined
  const free = availableBytes()
  if (process.getuid?.() !== 0 || free < LEAST_BYTES) return undefined
  const path = join(folder, 'm')
  mkdirSync(path)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${Math.floor(free / 2)},mode=1777`, 'tmpfs', path], { stdio: 'ignore' }).status !== 0) {
    rmdirSync(path)
    return undefined
  }
  // Ends with the run, however that ends: then its standard input does. In a group of its own, which no Ctrl-C reaches.
  const guard = spawn('sh', ['-c', 'cat >/dev/null; umount --lazy "$0" 2>/dev/null', path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' })
  guard.unref()
  return {
    path,
    remove() {
      spawnSync('umount', ['--lazy', path], { stdio: 'ignore' })
      guard.kill()
    },
  }
}
