// The processes that belong together with one that holds a GPU's memory: of its container or unit, else of the tree that a person started.
import { readdirSync } from 'node:fs'
import { parseFamily, type Family } from '../../attribution/proc-files.ts'
import { readSmallFile } from '../../attribution/small-file.ts'
import type { ProcessIdentity } from '../../model/identity.ts'

const SHELL = /^-?(?:ba|z|fi|da|k|tc|c|a)?sh$/
/** They start other people's programs. */
const LAUNCHER = /^(?:systemd|init|sshd.*|login|su|sudo|tmux.*|screen|crond?|containerd-shim.*|conmon|slurmstepd|docker-proxy)$/
const MAX_PROCESSES = 20_000

export type ProcessTable = {
  /** Pids of its family, the oldest first; itself among them. */
  readonly familyOf: (pid: number, who: ProcessIdentity | undefined) => readonly number[]
  readonly argvOf: (pid: number) => readonly string[]
  readonly isShell: (pid: number) => boolean
  /** Itself and those above it within the table, the nearest first. */
  readonly upFrom: (pid: number) => readonly number[]
}

const tryRead = (path: string): string => {
  try {
    return readSmallFile(path)
  } catch {
    return ''
  }
}

/** One look at /proc; each file is read at most once, and only when it is asked for. */
export function readProcessTable(procRoot: string): ProcessTable {
  const pids = readdirSync(procRoot)
    .flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
    .slice(0, MAX_PROCESSES)
    .toSorted((a, b) => a - b)
  const memo = <T>(read: (pid: number) => T): ((pid: number) => T) => {
    const known = new Map<number, { readonly value: T }>()
    return (pid) => {
      let entry = known.get(pid)
      if (entry === undefined) known.set(pid, (entry = { value: read(pid) }))
      return entry.value
    }
  }
  const stat = memo((pid): Family | undefined => parseFamily(tryRead(`${procRoot}/${pid}/stat`)))
  const cgroup = memo((pid) => tryRead(`${procRoot}/${pid}/cgroup`))
  const argv = memo((pid): readonly string[] =>
    tryRead(`${procRoot}/${pid}/cmdline`)
      .split('\0')
      .filter((word) => word !== ''),
  )
  const isShell = (pid: number): boolean => SHELL.test(stat(pid)?.comm ?? '')
  const upFrom = (pid: number): readonly number[] => {
    const found = [pid]
    for (let at = stat(pid); at !== undefined && at.parent > 1 && found.length < 32; at = stat(at.parent)) found.push(at.parent)
    return found
  }
  /** Up as long as the parent was started with it, then everything below. */
  const treeOf = (pid: number): readonly number[] => {
    let top = pid
    for (const parent of upFrom(pid).slice(1)) {
      const [mine, its] = [stat(top), stat(parent)]
      if (its === undefined || its.session !== mine?.session || cgroup(parent) !== cgroup(pid) || isShell(parent) || LAUNCHER.test(its.comm)) break
      top = parent
    }
    const inTree = new Set([top])
    // A child has mostly the higher pid; where pids began again a second round finds it.
    for (let before = 0; before !== inTree.size;) {
      before = inTree.size
      for (const one of pids) if (inTree.has(stat(one)?.parent ?? 0)) inTree.add(one)
    }
    return pids.filter((one) => inTree.has(one))
  }
  return {
    familyOf(pid, who) {
      const inUnit = who?.unit !== undefined && who.unit.endsWith('.service') && !who.unit.startsWith('user@')
      if (who?.container === undefined && !inUnit) return treeOf(pid)
      const place = cgroup(pid)
      return place === '' ? [pid] : pids.filter((one) => cgroup(one) === place)
    },
    argvOf: argv,
    isShell,
    upFrom,
  }
}
