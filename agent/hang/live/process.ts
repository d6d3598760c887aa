// What the kernel says about a process without stopping it: state, system call and what it works on, CPU time, environment, children.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { ProcessState } from '../model.ts'

const text = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The calls in which programs wait; numbers by architecture (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h). */
const SYSCALLS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  x64: {
    0: 'read',
    1: 'write',
    3: 'close',
    4: 'stat',
    5: 'fstat',
    7: 'poll',
    17: 'pread64',
    19: 'readv',
    23: 'select',
    35: 'nanosleep',
    42: 'connect',
    43: 'accept',
    45: 'recvfrom',
    47: 'recvmsg',
    61: 'wait4',
    72: 'fcntl',
    73: 'flock',
    74: 'fsync',
    202: 'futex',
    230: 'clock_nanosleep',
    232: 'epoll_wait',
    247: 'waitid',
    257: 'openat',
    262: 'newfstatat',
    270: 'pselect6',
    271: 'ppoll',
    281: 'epoll_pwait',
    288: 'accept4',
  },
  arm64: {
    22: 'epoll_pwait',
    25: 'fcntl',
    32: 'flock',
    56: 'openat',
    57: 'close',
    63: 'read',
    64: 'write',
    65: 'readv',
    67: 'pread64',
    72: 'pselect6',
    73: 'ppoll',
    79: 'newfstatat',
    82: 'fsync',
    95: 'waitid',
    98: 'futex',
    101: 'nanosleep',
    115: 'clock_nanosleep',
    202: 'accept',
    203: 'connect',
    207: 'recvfrom',
    212: 'recvmsg',
    242: 'accept4',
    260: 'wait4',
  },
}
const ON_DESCRIPTOR: ReadonlySet<string> = new Set([
  'read',
  'readv',
  'pread64',
  'write',
  'flock',
  'fcntl',
  'fsync',
  'fstat',
  'recvfrom',
  'recvmsg',
  'connect',
  'accept',
  'accept4',
])
const TICKS_PER_SECOND = 100

type Stat = { readonly state: string; readonly parent: number; readonly cpuSeconds: number; readonly started: number }
/** The name is in parentheses and may hold anything; the fields follow the last one. */
function statOf(path: string): Stat | undefined {
  const line = text(path)
  if (line === undefined) return undefined
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return {
    state: fields[0] ?? '?',
    parent: Number(fields[1]),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    started: Number(fields[19]),
  }
}

/** CPU time of the main thread; undefined where the process is gone. */
export const mainCpuSeconds = (pid: number): number | undefined => statOf(`/proc/${pid}/task/${pid}/stat`)?.cpuSeconds
/** For how long the main thread has computed or waited for a processor: on a host with more programs than cores the first alone says little. */
export function mainWantedSeconds(pid: number): number | undefined {
  const [ran, waited] = (text(`/proc/${pid}/task/${pid}/schedstat`) ?? '').split(' ').map(Number)
  return ran === undefined || waited === undefined || Number.isNaN(ran + waited) ? undefined : (ran + waited) / 1e9
}
/** A pid may be used again; with its start it is one process. */
export const startOf = (pid: number): number | undefined => statOf(`/proc/${pid}/stat`)?.started

const bootedAtMs = Number(/^btime (\d+)$/m.exec(text('/proc/stat') ?? '')?.[1]) * 1000
/** When it began, Unix ms, to a second. */
export function startedAt(pid: number): number | undefined {
  const ticks = startOf(pid)
  return ticks === undefined || Number.isNaN(bootedAtMs) ? undefined : bootedAtMs + (ticks / TICKS_PER_SECOND) * 1000
}

export function processState(pid: number): ProcessState | undefined {
  const stat = statOf(`/proc/${pid}/task/${pid}/stat`)
  if (stat === undefined) return undefined
  const channel = text(`/proc/${pid}/wchan`)
  const [number = '', first = ''] = (text(`/proc/${pid}/syscall`) ?? '').trim().split(' ')
  const call = /^\d+$/.test(number) ? (SYSCALLS[process.arch]?.[Number(number)] ?? `syscall ${number}`) : undefined
  const descriptor = call !== undefined && ON_DESCRIPTOR.has(call) ? Number.parseInt(first, 16) : undefined
  let target: string | undefined
  if (descriptor !== undefined) {
    try {
      target = readlinkSync(`/proc/${pid}/fd/${descriptor}`)
    } catch {
      // Closed meanwhile.
    }
  }
  return {
    state: stat.state,
    ...(channel === undefined || channel === '0' || channel === '' ? {} : { waitChannel: channel }),
    ...(call === undefined ? {} : { syscall: call }),
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(target === undefined ? {} : { target }),
  }
}

const MOST_ENVIRONMENT = 2 ** 20
/** Variables that a launcher sets; values as they were at the start of the process. */
export function environmentOf(pid: number): ReadonlyMap<string, string> {
  const entries = (text(`/proc/${pid}/environ`) ?? '').slice(0, MOST_ENVIRONMENT).split('\0')
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
}

export const commandOf = (pid: number): string => (text(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim().slice(0, 300)

/** Its pid as it sees it itself, in its own container. */
export function ownPidOf(pid: number): number {
  const [, pids = ''] = /^NSpid:\s*(.+)$/m.exec(text(`/proc/${pid}/status`) ?? '') ?? []
  return Number(pids.trim().split(/\s+/).at(-1)) || pid
}

/** By their start, since folders are listed as text ("100003" before "99998") and pids begin again from the lowest. */
function statsByAge(procRoot: string): readonly { readonly pid: number; readonly stat: Stat }[] {
  return readdirSync(procRoot)
    .flatMap((name) => {
      const stat = /^\d+$/.test(name) ? statOf(`${procRoot}/${name}/stat`) : undefined
      return stat === undefined ? [] : [{ pid: Number(name), stat }]
    })
    .toSorted((a, b) => a.stat.started - b.stat.started || a.pid - b.pid)
}

export type ProcessTree = {
  /** All processes, the oldest first. */
  readonly pids: readonly number[]
  /** All processes below one, nearest first; of those as near, the oldest. */
  readonly below: (pid: number) => readonly number[]
}

const MOST_BELOW = 4_096

/** Of this moment: the list of all processes is read once, however many are asked for. */
export function readProcessTree(procRoot = '/proc'): ProcessTree {
  const children = new Map<number, number[]>()
  const processes = statsByAge(procRoot)
  for (const { pid, stat } of processes) {
    const siblings = children.get(stat.parent)
    if (siblings === undefined) children.set(stat.parent, [pid])
    else siblings.push(pid)
  }
  return {
    pids: processes.map(({ pid }) => pid),
    below(pid) {
      const found: number[] = []
      let level = [pid]
      while (level.length > 0 && found.length < MOST_BELOW) {
        level = level.flatMap((one) => children.get(one) ?? [])
        found.push(...level)
      }
      return found
    },
  }
}
