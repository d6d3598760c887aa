// Finds the process behind a claim: a probe reports the pid that it has in its own namespace; the host knows which process that is, if there is one.
import { readlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { parseStat, parseStatus } from '../../attribution/proc-files.ts'
import { readSmallFile } from '../../attribution/small-file.ts'

/** `pid` in the probe's own namespace, that namespace's inode, and field 22 of /proc/PID/stat. */
export type Claim = { readonly pid: number; readonly pidns: number; readonly startTicks: number }

export type Ownership = {
  /** The host's pid of that process; undefined when there is none, or when too many ask. */
  readonly find: (claim: Claim) => Promise<number | undefined>
  readonly stop: () => void
}
export type OwnershipOptions = {
  readonly procRoot: string
  /** Host pids that are likely: those that hold GPU memory. */
  readonly likely: () => Iterable<number>
  readonly now?: () => number
}

/** Pids looked at before others may run: about a millisecond. */
const SLICE = 64
/** Between two walks through all processes; more after each that found no process, so that false claims cost little. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 15_000
const MAX_WAITING = 512

type Waiting = { readonly claim: Claim; readonly settle: (pid: number | undefined) => void }

function read(path: string): string {
  try {
    return readSmallFile(path)
  } catch {
    return '' // gone, or hidden: then it cannot be the one
  }
}

export function createOwnership({ procRoot, likely, now = () => performance.now() }: OwnershipOptions): Ownership {
  let waiting: Waiting[] = []
  let walking = false
  let stopped = false
  let pauseMs = 0
  let walkedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const startOf = (pid: number): number | undefined => parseStat(read(`${procRoot}/${pid}/stat`))?.startTicks
  /** The rest, for a process that began at the claimed moment. */
  const matches = (pid: number, claim: Claim): boolean => {
    const { innerPid } = parseStatus(read(`${procRoot}/${pid}/status`))
    if ((innerPid ?? pid) !== claim.pid) return false
    try {
      return readlinkSync(`${procRoot}/${pid}/ns/pid`) === `pid:[${claim.pidns}]` && startOf(pid) === claim.startTicks
    } catch {
      return false // ended meanwhile, or another user's
    }
  }
  const isIt = (pid: number, claim: Claim): boolean => startOf(pid) === claim.startTicks && matches(pid, claim)

  const settle = (served: readonly Waiting[], pids: ReadonlyMap<Waiting, number>): void => {
    waiting = waiting.filter((one) => !served.includes(one))
    for (const one of served) one.settle(pids.get(one))
  }
  const walk = async (): Promise<void> => {
    const served = waiting
    const found = new Map<Waiting, number>()
    const wanted = new Map<number, Waiting[]>()
    for (const one of served) wanted.set(one.claim.startTicks, [...(wanted.get(one.claim.startTicks) ?? []), one])
    const names = await readdir(procRoot).catch((): string[] => [])
    let looked = 0
    for (const name of names) {
      if (stopped || found.size === served.length) break
      const pid = Number(name)
      if (!Number.isInteger(pid)) continue
      const start = startOf(pid)
      for (const one of start === undefined ? [] : (wanted.get(start) ?? [])) if (matches(pid, one.claim)) found.set(one, pid)
      if (++looked % SLICE === 0) await setImmediate()
    }
    pauseMs = found.size > 0 ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2))
    settle(served, found)
  }
  const schedule = (): void => {
    if (walking || stopped || timer !== undefined || waiting.length === 0) return
    timer = setTimeout(
      () => {
        timer = undefined
        walking = true
        void walk()
          .catch(() => settle(waiting, new Map())) // every caller gets an answer, whatever /proc did
          .finally(() => {
            walking = false
            walkedAt = now()
            schedule()
          })
      },
      Math.max(0, walkedAt + pauseMs - now()),
    )
  }

  return {
    find(claim) {
      if (isIt(claim.pid, claim)) return Promise.resolve(claim.pid)
      for (const pid of likely()) if (isIt(pid, claim)) return Promise.resolve(pid)
      if (stopped || waiting.length >= MAX_WAITING) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        waiting.push({ claim, settle: resolve })
        schedule()
      })
    },
    stop() {
      stopped = true
      clearTimeout(timer)
      settle(waiting, new Map())
    },
  }
}
