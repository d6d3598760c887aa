// Reads the numbers of one container from its cgroup files; keeps them open, since a read of an open one costs a third.
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { errnoName, readOpenFile, readSmallFile } from '../../attribution/small-file.ts'
import type { GapReason } from '../../model/reading.ts'
import { parseKeyed, parseLimit, parseNumber, parsePressure, workingSet } from './cgroup-files.ts'
import type { ContainerCgroup } from './cgroup-hierarchy.ts'

export type Unread = { readonly reason: GapReason; readonly detail: string }
/** A number, or why there is none; `unlimited` for limits only. */
export type Measured = number | Unread
export type ContainerNumbers = {
  readonly cpuSeconds: Measured
  readonly memoryBytes: Measured
  readonly memoryLimitBytes: Measured | 'unlimited'
  readonly oomKills: Measured
  readonly pids: Measured
}
export type ContainerPressure = { readonly resource: string; readonly stall: string; readonly seconds: Measured }

export type CgroupReader = {
  /** `gone` when the cgroup was removed: the container has ended. */
  readonly read: () => ContainerNumbers | 'gone'
  /** Pressure stall totals; empty with v1, which has none. */
  readonly readPressure: () => readonly ContainerPressure[] | 'gone'
  readonly close: () => void
}

/** Files kept open in all readers together; above it they are opened for each read, so that thousands of containers do not use up the descriptors. */
const MAX_OPEN = 600
let openFiles = 0

/** Names of the files; undefined where the version has no such file. */
const FILES = {
  1: { cpu: 'cpuacct.usage', usage: 'memory.usage_in_bytes', limit: 'memory.limit_in_bytes', oom: 'memory.oom_control', inactive: 'total_inactive_file' },
  2: { cpu: 'cpu.stat', usage: 'memory.current', limit: 'memory.max', oom: 'memory.events', inactive: 'inactive_file' },
} as const

function unread(error: unknown, path: string): Unread {
  const name = errnoName(error)
  if (name === 'EACCES' || name === 'EPERM') return { reason: 'no_permission', detail: `${path}: ${name}` }
  if (name === 'ENOENT') return { reason: 'not_supported', detail: `${path} does not exist: the controller is off for this cgroup, or the kernel is older` }
  if (name === 'EOPNOTSUPP') return { reason: 'not_supported', detail: `${path}: the kernel was started without it` }
  return { reason: 'driver_error', detail: `${path}: ${name ?? String(error)}` }
}

export function createCgroupReader(cgroup: ContainerCgroup): CgroupReader {
  const names = FILES[cgroup.version]
  const open = new Map<string, number>()

  const close = (): void => {
    for (const fd of open.values()) {
      closeSync(fd)
      openFiles--
    }
    open.clear()
  }
  const text = (path: string): string => {
    const known = open.get(path)
    if (known !== undefined) return readOpenFile(known)
    if (openFiles >= MAX_OPEN) return readSmallFile(path)
    const fd = openSync(path, 'r')
    open.set(path, fd)
    openFiles++
    return readOpenFile(fd)
  }
  const measure = <T>(directory: string | undefined, file: string, parse: (text: string) => T | undefined): T | Unread => {
    if (directory === undefined) return { reason: 'not_supported', detail: `${file}: the container has no cgroup of this controller` }
    const path = join(directory, file)
    try {
      return parse(text(path)) ?? { reason: 'parse_error', detail: `${path}: expected a number, it does not hold one` }
    } catch (error) {
      return unread(error, path)
    }
  }
  /** The directory's own file tells whether the cgroup still exists: an open file of a removed one answers ENODEV. */
  const anchor = cgroup.memory ?? cgroup.cpu ?? cgroup.pids
  const isGone = (): boolean => {
    if (anchor === undefined) return true
    try {
      text(join(anchor, 'cgroup.procs'))
      return false
    } catch (error) {
      const name = errnoName(error)
      return name === 'ENOENT' || name === 'ENODEV'
    }
  }
  const failed = (value: unknown): boolean => typeof value === 'object'

  const readMemory = (): Measured => {
    const usage = measure(cgroup.memory, names.usage, parseNumber)
    if (typeof usage !== 'number') return usage
    const inactive = measure(cgroup.memory, 'memory.stat', (stat) => parseKeyed(stat, names.inactive))
    return typeof inactive === 'number' ? workingSet(usage, inactive) : inactive
  }

  return {
    read() {
      const cpu = measure(cgroup.cpu, names.cpu, (file) => (cgroup.version === 2 ? parseKeyed(file, 'usage_usec') : parseNumber(file)))
      const numbers: ContainerNumbers = {
        cpuSeconds: typeof cpu === 'number' ? cpu / (cgroup.version === 2 ? 1e6 : 1e9) : cpu,
        memoryBytes: readMemory(),
        memoryLimitBytes: measure(cgroup.memory, names.limit, parseLimit),
        // v1 tells kills since Linux 4.13.
        oomKills: measure(cgroup.memory, names.oom, (file) => parseKeyed(file, 'oom_kill')),
        pids: measure(cgroup.pids, 'pids.current', parseNumber),
      }
      if (Object.values(numbers).some(failed) && isGone()) {
        close()
        return 'gone'
      }
      return numbers
    },
    readPressure() {
      if (cgroup.version === 1) return []
      const found: ContainerPressure[] = []
      for (const resource of ['cpu', 'memory', 'io'] as const) {
        const file = measure(cgroup.memory, `${resource}.pressure`, parsePressure)
        if ('reason' in file) {
          if (isGone()) return 'gone'
          found.push({ resource, stall: 'some', seconds: file })
          continue
        }
        if (file.someSeconds !== undefined) found.push({ resource, stall: 'some', seconds: file.someSeconds })
        if (file.fullSeconds !== undefined) found.push({ resource, stall: 'full', seconds: file.fullSeconds })
      }
      return found
    },
    close,
  }
}
