// Reads the numbers of one container from its cgroup files; keeps them open, since a read of an open one costs a third.
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { readOpenFile, readSmallFile } from '../../attribution/small-file.ts'
import type { GapReason } from '../../model/reading.ts'
import { codeOf } from '../../text/error.ts'
import { parseCpuMax, parseKeyed, parseLimit, parseNumber, parsePressure, parseQuota, workingSet } from './cgroup-files.ts'
import type { ContainerCgroup } from './cgroup-hierarchy.ts'

export type Unread = { readonly reason: GapReason; readonly detail: string }
/** A number, or why there is none; `unlimited` for limits only. */
export type Measured = number | Unread
export type ContainerNumbers = { readonly cpuSeconds: Measured; readonly memoryBytes: Measured; readonly oomKills: Measured }
/** What changes rarely, or matters little from second to second. */
export type ContainerBounds = { readonly memoryLimitBytes: Measured | 'unlimited'; readonly pids: Measured }
/** CPU time in seconds. */
export type CpuModes = { readonly user: Measured; readonly system: Measured }
export type ContainerPressure = { readonly resource: string; readonly kind: string; readonly seconds: Measured }

export type CgroupReader = {
  /** `gone` when the cgroup was removed: the container has ended. */
  readonly read: () => ContainerNumbers | 'gone'
  readonly readBounds: () => ContainerBounds | 'gone'
  /** In cores; read rarely, since it rarely changes. Undefined where this cgroup has no such controller. */
  readonly readCpuLimit: () => Measured | 'unlimited' | undefined
  /** Read rarely: only OTLP asks for them, once a minute. Undefined when the kernel has no such file, and when the cgroup is gone, which the total says too. */
  readonly readCpuModes: () => CpuModes | undefined
  /** Pressure stall totals; empty with v1, which has none. */
  readonly readPressure: () => readonly ContainerPressure[] | 'gone'
  readonly close: () => void
}

/** Files kept open in all readers together; above it they are opened for each read, so that thousands of containers do not use up the descriptors. */
const MAX_OPEN = 600
let openFiles = 0
/** USER_HZ, the unit of cpuacct.stat: 100 on every architecture that Linux still has but Alpha and IA-64 (include/asm-generic/param.h). */
const TICKS_PER_SECOND = 100

/**
 * A container that used no CPU since the last look, to the nanosecond or microsecond, took no memory and killed nothing: its other files are read again after so many
 * seconds only, for what others do to it (the kernel takes back its pages). memory.stat is forty lines that the kernel adds up: read so rarely while the usage stays the same.
 */
const SAME_USAGE = 9

/** Names of the files; undefined where the version has no such file. */
const FILES = {
  1: { cpu: 'cpuacct.usage', usage: 'memory.usage_in_bytes', limit: 'memory.limit_in_bytes', oom: 'memory.oom_control', inactive: 'total_inactive_file' },
  2: { cpu: 'cpu.stat', usage: 'memory.current', limit: 'memory.max', oom: 'memory.events', inactive: 'inactive_file' },
} as const

function unread(error: unknown, path: string): Unread {
  const name = codeOf(error)
  if (name === 'EACCES' || name === 'EPERM') return { reason: 'no_permission', detail: `${path}: ${name}` }
  if (name === 'ENOENT') return { reason: 'not_supported', detail: `${path} does not exist: the controller is off for this cgroup, or the kernel is older` }
  if (name === 'EOPNOTSUPP') return { reason: 'not_supported', detail: `${path}: the kernel was started without it` }
  return { reason: 'driver_error', detail: `${path}: ${name ?? String(error)}` }
}

/** One file of the container: opened at its first read. */
type Slot = { readonly path: string; fd: number | undefined }

function readSlot(slot: Slot): string {
  if (slot.fd !== undefined) return readOpenFile(slot.fd)
  if (openFiles >= MAX_OPEN) return readSmallFile(slot.path)
  slot.fd = openSync(slot.path, 'r')
  openFiles++
  return readOpenFile(slot.fd)
}

function measure<T>(slot: Slot | undefined, name: string, parse: (text: string) => T | undefined): T | Unread {
  if (slot === undefined) return { reason: 'not_supported', detail: `${name}: the container has no cgroup of this controller` }
  try {
    return parse(readSlot(slot)) ?? { reason: 'parse_error', detail: `${slot.path}: expected a number, it does not hold one` }
  } catch (error) {
    return unread(error, slot.path)
  }
}

export function createCgroupReader(cgroup: ContainerCgroup): CgroupReader {
  const names = FILES[cgroup.version]
  const slots: Slot[] = []
  const slotOf = (directory: string | undefined, file: string): Slot | undefined => {
    if (directory === undefined) return undefined
    const slot: Slot = { path: join(directory, file), fd: undefined }
    slots.push(slot)
    return slot
  }
  const cpu = slotOf(cgroup.cpu, names.cpu)
  // With v2 a second look at the same open file; v1 has both modes in one file of ticks, and totals in nanoseconds in another.
  const modes = cgroup.version === 2 ? cpu : slotOf(cgroup.cpu, 'cpuacct.stat')
  const quota = cgroup.version === 2 ? slotOf(cgroup.cpuLimit, 'cpu.max') : slotOf(cgroup.cpuLimit, 'cpu.cfs_quota_us')
  const period = cgroup.version === 2 ? undefined : slotOf(cgroup.cpuLimit, 'cpu.cfs_period_us')
  const usage = slotOf(cgroup.memory, names.usage)
  const stat = slotOf(cgroup.memory, 'memory.stat')
  const limit = slotOf(cgroup.memory, names.limit)
  const oom = slotOf(cgroup.memory, names.oom)
  const pids = slotOf(cgroup.pids, 'pids.current')
  const pressures =
    cgroup.version === 1 ? [] : (['cpu', 'memory', 'io'] as const).map((resource) => ({ resource, slot: slotOf(cgroup.memory, `${resource}.pressure`) }))
  // Every cgroup has this file, so it shows whether the cgroup still exists: an open file of a removed one answers ENODEV.
  const anchor = slotOf(cgroup.memory ?? cgroup.cpu ?? cgroup.pids, 'cgroup.procs')

  const cpuSeconds = cgroup.version === 2 ? (text: string) => scaled(parseKeyed(text, 'usage_usec'), 1e6) : (text: string) => scaled(parseNumber(text), 1e9)
  const inactiveFile = (text: string): number | undefined => parseKeyed(text, names.inactive)
  // v1 reports kills since Linux 4.13.
  const oomKill = (text: string): number | undefined => parseKeyed(text, 'oom_kill')

  const close = (): void => {
    for (const slot of slots) {
      if (slot.fd === undefined) continue
      closeSync(slot.fd)
      slot.fd = undefined
      openFiles--
    }
  }
  const isGone = (): boolean => {
    if (anchor === undefined) return true
    try {
      readSlot(anchor)
      return false
    } catch (error) {
      const name = codeOf(error)
      return name === 'ENOENT' || name === 'ENODEV'
    }
  }
  /** The last one, and how often it was reported again. */
  let memory: { readonly used: number; readonly is: Measured; times: number } | undefined
  const readMemory = (): Measured => {
    const used = measure(usage, names.usage, parseNumber)
    if (typeof used !== 'number') return used
    if (memory?.used === used && memory.times++ < SAME_USAGE) return memory.is
    const inactive = measure(stat, 'memory.stat', inactiveFile)
    memory = { used, is: typeof inactive === 'number' ? workingSet(used, inactive) : inactive, times: 0 }
    return memory.is
  }

  /** The last ones, and how often they were told again. */
  let last: { readonly numbers: ContainerNumbers; times: number } | undefined
  return {
    read() {
      const used = measure(cpu, names.cpu, cpuSeconds)
      if (typeof used === 'number' && used === last?.numbers.cpuSeconds && last.times++ < SAME_USAGE) {
        if (memory !== undefined) memory.times++
        return last.numbers
      }
      const numbers: ContainerNumbers = { cpuSeconds: used, memoryBytes: readMemory(), oomKills: measure(oom, names.oom, oomKill) }
      const failed = typeof numbers.cpuSeconds === 'object' || typeof numbers.memoryBytes === 'object' || typeof numbers.oomKills === 'object'
      last = failed ? undefined : { numbers, times: 0 }
      if (!failed || !isGone()) return numbers
      close()
      return 'gone'
    },
    readBounds() {
      const bounds: ContainerBounds = { memoryLimitBytes: measure(limit, names.limit, parseLimit), pids: measure(pids, 'pids.current', parseNumber) }
      const failed = typeof bounds.memoryLimitBytes === 'object' || typeof bounds.pids === 'object'
      return failed && isGone() ? 'gone' : bounds
    },
    readCpuLimit() {
      if (quota === undefined) return undefined
      const limit = measure(quota, 'the CPU limit', cgroup.version === 2 ? parseCpuMax : parseQuota)
      // The controller is off here: then this cgroup limits nothing.
      if (typeof limit === 'object' && limit.reason === 'not_supported') return undefined
      if (typeof limit !== 'number' || cgroup.version === 2) return limit
      const us = measure(period, 'cpu.cfs_period_us', parseNumber)
      return typeof us === 'number' && us > 0 ? limit / us : us
    },
    readCpuModes() {
      const read = measure(
        modes,
        'CPU time by mode',
        cgroup.version === 2 ? modesOf('user_usec', 'system_usec', 1e6) : modesOf('user', 'system', TICKS_PER_SECOND),
      )
      if (!('reason' in read)) return read
      return read.reason === 'not_supported' || isGone() ? undefined : { user: read, system: read }
    },
    readPressure() {
      const found: ContainerPressure[] = []
      for (const { resource, slot } of pressures) {
        const file = measure(slot, `${resource}.pressure`, parsePressure)
        if ('reason' in file) {
          if (isGone()) return 'gone'
          found.push({ resource, kind: 'some', seconds: file })
          continue
        }
        if (file.someSeconds !== undefined) found.push({ resource, kind: 'some', seconds: file.someSeconds })
        if (file.fullSeconds !== undefined) found.push({ resource, kind: 'full', seconds: file.fullSeconds })
      }
      return found
    },
    close,
  }
}

const modesOf =
  (userKey: string, systemKey: string, unitsPerSecond: number) =>
  (text: string): { readonly user: number; readonly system: number } | undefined => {
    const [user, system] = [parseKeyed(text, userKey), parseKeyed(text, systemKey)]
    return user === undefined || system === undefined ? undefined : { user: user / unitsPerSecond, system: system / unitsPerSecond }
  }

function scaled(value: number | undefined, unitsPerSecond: number): number | undefined {
  return value === undefined ? undefined : value / unitsPerSecond
}
