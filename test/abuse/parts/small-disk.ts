// Small file systems of the suite's own, so that they can really be full, without inodes, beyond a quota, or read-only.
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../../agent/text/error.ts'

export type SmallDisk = {
  readonly path: string
  /** Where the agent writes; does not exist yet. */
  readonly dataDir: string
  /** Writes until the disk refuses; returns the system's code, such as ENOSPC. */
  readonly fill: () => string
  /** Makes empty files until the disk refuses; the same. */
  readonly takeInodes: () => string
  /** Gives back what `fill` and `takeInodes` took. */
  readonly free: () => void
  readonly remount: (mode: 'ro' | 'rw') => void
  /** The device behind it, where there is one, such as `loop0`. */
  readonly device: string
  readonly [Symbol.dispose]: () => void
}

const run = (program: string, args: readonly string[]): string => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const found = (program: string): boolean => ['/usr/sbin', '/sbin', '/usr/bin', '/bin'].some((folder) => existsSync(join(folder, program)))

/** Why no file system can be mounted here; a case hands it on. */
export function mountMissing(...programs: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root to mount a file system'
  const missing = ['mount', 'umount', ...programs].filter((program) => !found(program))
  if (missing.length > 0) return `needs ${missing.join(', ')}`
  if (programs.length > 0 && !existsSync('/dev/loop-control')) return 'needs loop devices'
  const place = mkdtempSync(join(tmpdir(), 'warpwatch-disk-'))
  try {
    run('mount', ['-t', 'tmpfs', 'tmpfs', place])
    run('umount', [place])
    return undefined
  } catch {
    return 'this machine does not let root mount a file system'
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** More than any of these disks holds: where it is taken, it is not one of them that is written to. */
const MOST_BYTES = 256 * 1024 ** 2

function untilRefused(write: (n: number) => void, most: number): string {
  for (let n = 0; n < most; n++) {
    try {
      write(n)
    } catch (error) {
      return codeOf(error) ?? ''
    }
  }
  throw new Error('expected a small disk, it took all that was written')
}

function diskAt(home: string, path: string, root: string): SmallDisk {
  const ballast = join(root, 'ballast')
  const many = join(root, 'many')
  const device = run('findmnt', ['-n', '-o', 'SOURCE', path]).trim().replace('/dev/', '').replace(/\[.*/, '')
  mkdirSync(many)
  return {
    path,
    dataDir: join(root, 'data'),
    device,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        // Large pieces first, then single bytes: nothing is left for anybody.
        untilRefused(() => writeSync(file, Buffer.alloc(65_536)), MOST_BYTES / 65_536)
        untilRefused(() => writeSync(file, Buffer.alloc(512)), 10_000)
        return untilRefused(() => writeSync(file, Buffer.alloc(1)), 10_000)
      } finally {
        closeSync(file)
      }
    },
    takeInodes: () => untilRefused((n) => writeFileSync(join(many, String(n)), ''), 10_000),
    free() {
      if (existsSync(ballast)) truncateSync(ballast)
      for (const name of readdirSync(many)) rmSync(join(many, name))
    },
    remount: (mode) => void run('mount', ['-o', `remount,${mode}`, path]),
    [Symbol.dispose]() {
      // Lazily: an agent that is just being ended may hold files.
      run('umount', ['--lazy', path])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

export function tmpfsDisk({ size, inodes }: { readonly size: string; readonly inodes?: number }): SmallDisk {
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-disk-'))
  const path = join(home, 'disk')
  mkdirSync(path)
  run('mount', ['-t', 'tmpfs', '-o', `size=${size}${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`, 'tmpfs', path])
  return diskAt(home, path, path)
}

/** An ext4 of its own in a file. `options` are those of mount. */
export function ext4Disk({
  megabytes,
  format = [],
  options = '',
}: {
  readonly megabytes: number
  readonly format?: readonly string[]
  readonly options?: string
}): SmallDisk {
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-disk-'))
  const [image, path] = [join(home, 'image'), join(home, 'disk')]
  mkdirSync(path)
  writeFileSync(image, '')
  truncateSync(image, megabytes * 1024 ** 2)
  run('mkfs.ext4', ['-q', '-F', ...format, image])
  run('mount', ['-o', `loop${options === '' ? '' : `,${options}`}`, image, path])
  return diskAt(home, path, path)
}

/** A subvolume of btrfs that may hold so much: what is beyond is refused with EDQUOT. */
export function quotaDisk({ megabytes }: { readonly megabytes: number }): SmallDisk {
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-disk-'))
  const [image, path] = [join(home, 'image'), join(home, 'disk')]
  mkdirSync(path)
  writeFileSync(image, '')
  truncateSync(image, 160 * 1024 ** 2)
  run('mkfs.btrfs', ['-q', image])
  run('mount', ['-o', 'loop', image, path])
  run('btrfs', ['quota', 'enable', path])
  run('btrfs', ['subvolume', 'create', join(path, 'limited')])
  run('btrfs', ['qgroup', 'limit', `${megabytes}M`, join(path, 'limited')])
  // On a full btrfs even a file that is made shorter needs space: someone raises the quota.
  return { ...diskAt(home, path, join(path, 'limited')), free: () => void run('btrfs', ['qgroup', 'limit', 'none', join(path, 'limited')]) }
}
