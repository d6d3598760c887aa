// Answers who a host pid is, from /proc, cheaply enough to be asked for every GPU process in every tick.
import { closeSync, existsSync, openSync } from 'node:fs'
import type { IdentifyProcess, ProcessIdentity } from '../model/identity.ts'
import { parseCgroup, parseMountinfo } from './cgroup-path.ts'
import type { CgroupPlace } from './cgroup-path.ts'
import type { ContainerDirectory } from './directory.ts'
import { parseStat, parseStatus } from './proc-files.ts'
import { readOpenFile, readSmallFile } from './small-file.ts'

export type ProcessIdentifierOptions = {
  /** Where the host's /proc is seen; the agent needs the host's pid namespace for it. */
  readonly procRoot: string
  readonly directory: ContainerDirectory
  /** Milliseconds of a clock that only rises. */
  readonly now?: () => number
}

/** A pid asked for again within this time costs no system call: one look per tick of a second, however many GPUs it holds memory on. */
const TRUST_MS = 500
/** Launchers move their children into a cgroup and a namespace shortly after the fork, so a place is read again once soon, then rarely. */
const FIRST_REREAD_MS = 5_000
const REREAD_MS = 60_000
/** An unknown container may be named any time (a kubelet's link, a late engine), so it is resolved again at this pace. */
const RESOLVE_MS = 5_000
const FORGET_MS = 30_000
/**
 * Descriptors of /proc/PID/comm kept open. Such a descriptor means one process, not for a number: when the process has gone, reading
 * fails with ESRCH though its pid may be in use again. So one read of 1 µs shows that it runs and its name; opening and reading
 * /proc/PID/stat costs 15.
 */
const MAX_OPEN = 256

type Entry = {
  /** undefined where no descriptor is kept: too many, or no such file; then the start time distinguishes processes. */
  readonly comm: number | undefined
  identity: ProcessIdentity
  place: CgroupPlace
  checkedAt: number
  rereadAt: number
  resolveAt: number
  version: number
}

type WhoRuns = Pick<ProcessIdentity, 'uid' | 'innerPid'>

/** undefined where the file cannot be read: gone, hidden by hidepid, or no permission; all mean that nothing can be said. */
function tryRead(path: string): string | undefined {
  try {
    return readSmallFile(path)
  } catch {
    return undefined
  }
}

/** What the process is called now; undefined when it has gone. */
function readName(entry: Entry, directory: string): string | undefined {
  if (entry.comm === undefined) {
    const stat = parseStat(tryRead(`${directory}/stat`) ?? '')
    return stat?.startTicks === entry.identity.startTicks ? stat.comm : undefined
  }
  try {
    return readOpenFile(entry.comm, 'utf8').replace(/\n$/, '')
  } catch {
    return undefined
  }
}

function readPlace(directory: string): CgroupPlace {
  const place = parseCgroup(tryRead(`${directory}/cgroup`) ?? '')
  if (Object.keys(place).length > 0) return place
  // `0::/` is also what a reader sees of neighbours that share its private cgroup namespace, and of kernel threads.
  return parseMountinfo(tryRead(`${directory}/mountinfo`) ?? '')
}

export function createProcessIdentifier(options: ProcessIdentifierOptions): IdentifyProcess {
  const { procRoot, directory } = options
  const now = options.now ?? (() => performance.now())
  const entries = new Map<number, Entry>()
  let sweepAt = now() + FORGET_MS

  let open = 0
  const forget = (pid: number, entry: Entry): void => {
    entries.delete(pid)
    if (entry.comm === undefined) return
    closeSync(entry.comm)
    open--
  }
  const openComm = (pid: number): number | undefined => {
    if (open >= MAX_OPEN) return undefined
    try {
      const fd = openSync(`${procRoot}/${pid}/comm`, 'r')
      open++
      return fd
    } catch {
      return undefined
    }
  }
  const sweep = (at: number): void => {
    sweepAt = at + FORGET_MS
    for (const [pid, entry] of entries) if (at - entry.checkedAt > FORGET_MS) forget(pid, entry)
  }

  const whoRuns = (pid: number): WhoRuns => parseStatus(tryRead(`${procRoot}/${pid}/status`) ?? '')
  const build = (pid: number, comm: string, startTicks: number, { uid, innerPid }: WhoRuns, place: CgroupPlace): ProcessIdentity => {
    const container = directory.at(place)
    const unit = container === undefined ? (place.unit ?? place.session) : undefined
    return {
      pid,
      startTicks,
      name: comm,
      ...(innerPid === undefined || innerPid === pid ? {} : { innerPid }),
      ...(uid === undefined ? {} : { uid }),
      ...(container === undefined ? {} : { container }),
      ...(place.slurmJob === undefined ? {} : { slurmJob: place.slurmJob }),
      ...(unit === undefined ? {} : { unit }),
    }
  }

  const replace = (entry: Entry, next: ProcessIdentity): void => {
    const old = entry.identity
    const unchanged =
      old.name === next.name &&
      old.innerPid === next.innerPid &&
      old.uid === next.uid &&
      old.container === next.container &&
      old.slurmJob === next.slurmJob &&
      old.unit === next.unit
    // The same object as long as nothing changed: readers keep their series by it.
    if (!unchanged) entry.identity = next
  }

  const meet = (pid: number, at: number): ProcessIdentity | undefined => {
    // The driver may list thousands that are not in this /proc (another pid namespace): an open that throws costs 30 µs, this look 2.
    if (!existsSync(`${procRoot}/${pid}`)) return undefined
    // Opened before anything is read: all that is read while it still answers belongs to the same process.
    const comm = openComm(pid)
    const text = tryRead(`${procRoot}/${pid}/stat`)
    // A copy of /proc may lack it; who the process is and where is in other files.
    const name = text === undefined && comm !== undefined ? tryRead(`${procRoot}/${pid}/comm`)?.trimEnd() : undefined
    const stat = name === undefined ? parseStat(text ?? '') : { comm: name, startTicks: 0 }
    if (stat === undefined) {
      if (comm !== undefined) {
        closeSync(comm)
        open--
      }
      return undefined
    }
    const place = readPlace(`${procRoot}/${pid}`)
    const identity = build(pid, stat.comm, stat.startTicks, whoRuns(pid), place)
    const version = directory.version()
    entries.set(pid, { comm, identity, place, checkedAt: at, rereadAt: at + FIRST_REREAD_MS, resolveAt: at + RESOLVE_MS, version })
    return identity
  }

  return (pid) => {
    const at = now()
    if (at > sweepAt) sweep(at)
    const known = entries.get(pid)
    if (known === undefined) return meet(pid, at)
    if (at - known.checkedAt < TRUST_MS && known.version === directory.version()) return known.identity

    const name = readName(known, `${procRoot}/${pid}`)
    if (name === undefined) {
      forget(pid, known)
      return meet(pid, at)
    }
    known.checkedAt = at
    const reread = at >= known.rereadAt
    if (reread) {
      known.place = readPlace(`${procRoot}/${pid}`)
      known.rereadAt = at + REREAD_MS
    }
    if (reread || at >= known.resolveAt || known.version !== directory.version() || known.identity.name !== name) {
      // Its user and its pid inside change as rarely as its place: the file costs more to render than all else here.
      const who = reread || known.identity.name !== name ? whoRuns(pid) : known.identity
      replace(known, build(pid, name, known.identity.startTicks, who, known.place))
      known.version = directory.version()
      known.resolveAt = at + RESOLVE_MS
    }
    return known.identity
  }
}
