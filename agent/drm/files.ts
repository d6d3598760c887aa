// The files of the kernel that describe graphics cards, below two roots: /sys and /proc, or those of a tree in a test. What fails is told as a gap's reason.
import { closeSync, openSync, readSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import type { GapReason } from '../model/reading.ts'
import { failureOf, type Failure } from '../nvml/codes.ts'
import { codeOf, errnoOf } from '../text/error.ts'

/** Tests replace it, since a folder cannot hold a file whose read fails with EBUSY. */
export type FileReader = {
  /** Throws as node:fs does. */
  readonly bytes: (path: string) => Buffer
  readonly list: (path: string) => readonly string[]
  readonly link: (path: string) => string
  /** Size of a folder; /proc/PID/fd has as many as descriptors, since Linux 6.2. */
  readonly size?: (path: string) => number
}
export type Roots = { readonly sys: string; readonly proc: string }

export type Files = {
  readonly text: (path: string) => string | Failure
  readonly number: (path: string) => number | Failure
  readonly bytes: (path: string) => Buffer | Failure
  /** Names in a folder in order, numbers by their value; none where it cannot be read. */
  readonly list: (path: string) => readonly string[]
  /** The same as the kernel gives them: for folders of /proc, of which there are hundreds. */
  readonly names: (path: string) => readonly string[]
  readonly link: (path: string) => string | undefined
  /** Of descriptors of a process, without listing them; 0 where the kernel does not tell. */
  readonly count: (path: string) => number
  readonly has: (path: string) => boolean
}

export const isFailure = (value: unknown): value is Failure => typeof value === 'object' && value !== null && 'reason' in value && 'detail' in value

/** Attributes in sysfs hold a page at most, gpu_metrics 4 KiB, fdinfo and KFD's properties less. */
const WHOLE_BYTES = 2_048
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

const diskReader: FileReader = {
  bytes(path) {
    const fd = openSync(path, 'r')
    try {
      let length = 0
      for (;;) {
        const more = length < BUFFER.length ? readSync(fd, BUFFER, length, BUFFER.length - length, null) : 0
        length += more
        // The kernel gives an attribute or a record at once, up to a page; what came in less than half a page is whole.
        if (more === 0 || length < WHOLE_BYTES) return BUFFER.subarray(0, length)
      }
    } finally {
      closeSync(fd)
    }
  },
  list: (path) => readdirSync(path),
  link: (path) => readlinkSync(path),
  size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
}

const REASONS: Readonly<Record<string, GapReason>> = {
  ENOENT: 'not_supported',
  ENOTDIR: 'not_supported',
  EINVAL: 'not_supported',
  EOPNOTSUPP: 'not_supported',
  ENOTSUP: 'not_supported',
  ENODATA: 'not_supported',
  EACCES: 'no_permission',
  EPERM: 'no_permission',
  ENODEV: 'gpu_lost',
  ENXIO: 'gpu_lost',
  ETIME: 'timeout',
  ETIMEDOUT: 'timeout',
}

function failed(path: string, error: unknown): Failure {
  const name = codeOf(error) ?? 'unknown error'
  const detail = name === 'ENOENT' ? `this card and kernel have no ${path}` : `${path}: ${name}`
  return failureOf(path, errnoOf(error) ?? 0, REASONS[name] ?? 'driver_error', detail)
}

/** The text of an attribute as a number. */
export const wholeNumber = (path: string, text: string): number | Failure =>
  /^-?\d{1,20}$/.test(text) ? Number(text) : failureOf(path, -1, 'parse_error', `${path}: expected a whole number, found "${text.slice(0, 40)}"`)

/** `temp2` before `temp10`. Not by Intl, which loads the tables of a language for it, on hosts without such cards too. */
export function inOrder(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []]
  for (const [at, one] of left.entries()) {
    const other = right[at]
    if (other === undefined) return 1
    const difference = /^\d/.test(one) && /^\d/.test(other) ? Number(one) - Number(other) : one < other ? -1 : Number(one > other)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

export function createFiles(reader: FileReader = diskReader): Files {
  const bytes = (path: string): Buffer | Failure => {
    try {
      return reader.bytes(path)
    } catch (error) {
      return failed(path, error)
    }
  }
  const text = (path: string): string | Failure => {
    const read = bytes(path)
    return isFailure(read) ? read : read.toString('utf8').trimEnd()
  }
  const names = (path: string): readonly string[] => {
    try {
      return reader.list(path)
    } catch {
      return []
    }
  }
  return {
    bytes,
    text,
    number(path) {
      const read = text(path)
      if (isFailure(read)) return read
      return wholeNumber(path, read)
    },
    list: (path) => [...names(path)].sort(inOrder),
    names,
    link(path) {
      try {
        return reader.link(path)
      } catch {
        return undefined
      }
    },
    count(path) {
      try {
        return reader.size?.(path) ?? 0
      } catch {
        return 0
      }
    },
    has: (path) => !isFailure(bytes(path)),
  }
}

/** The value of `KEY=value` in a uevent file. */
export const ueventValue = (text: string, key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1]
