// Where a process comes from: its ancestors, and the one that a person started, which is the job: the first of its session that is no waiting shell.
// From /proc, read once for each process.
import { commandName } from './command-name.ts'
import { parseFamily, type Family } from './proc-files.ts'
import { readSmallFile } from './small-file.ts'
import { createHostUsers, type HostUsers } from './users.ts'

export type Lineage = {
  readonly root: { readonly pid: number; readonly start_ticks: number; readonly started_at?: number; readonly command: string }
  /** From its parent up. */
  readonly ancestors: readonly number[]
  readonly user?: string
  readonly uid?: number
}

const MAX_DEPTH = 32
/** What starts other people's programs: a job begins below it. */
const STARTS_OTHERS =
  /^(systemd|init|sshd.*|login|su|tmux.*|screen|SCREEN|crond?|atd|containerd-shim.*|conmon|slurmstepd|jupyter.*|gnome-terminal.*|konsole|xterm|kitty|alacritty|code|dumb-init|tini)$/
/** They give each of their workers a session of its own. */
const LAUNCHER =
  /(?:^|\/)(?:torchrun|accelerate|deepspeed|mpirun|mpiexec|orted|prterun|prted|hydra_pmi_proxy)$|^torch\.distributed\.(?:run|launch)$|^accelerate\.commands\.launch$|^deepspeed\.launcher\./
const SHELL = /^-?(ba|z|fi|da|k|tc|c)?sh$/
/** Clock ticks a second: USER_HZ is 100 on every architecture that has NVIDIA drivers. */
const TICKS = 100

function tryRead(path: string): string | undefined {
  try {
    return readSmallFile(path)
  } catch {
    return undefined
  }
}
const familyOf = (procRoot: string, pid: number): Family | undefined => parseFamily(tryRead(`${procRoot}/${pid}/stat`) ?? '')
const argvOf = (procRoot: string, pid: number): readonly string[] => (tryRead(`${procRoot}/${pid}/cmdline`) ?? '').split('\0').filter((word) => word !== '')

/** A shell that waits for commands: of one that runs a script the script is the job. */
const isInteractive = (procRoot: string, pid: number, { comm, session, tty }: Family): boolean =>
  SHELL.test(comm) &&
  ((tty !== 0 && session === pid && argvOf(procRoot, pid).length <= 2 && !argvOf(procRoot, pid).includes('-c')) || argvOf(procRoot, pid).length === 1)

export function createLineageReader(procRoot: string, users: HostUsers = createHostUsers(procRoot)): (pid: number) => Lineage | undefined {
  const bootMs = Number(/^btime (\d+)/m.exec(tryRead(`${procRoot}/stat`) ?? '')?.[1] ?? Number.NaN) * 1_000
  return (pid) => {
    let top = familyOf(procRoot, pid)
    if (top === undefined) return undefined
    let topPid = pid
    let { session } = top
    let isAbove = false
    const ancestors: number[] = []
    for (let parent = top.parent; parent > 1 && ancestors.length < MAX_DEPTH;) {
      const family = familyOf(procRoot, parent)
      if (family === undefined) break
      ancestors.push(parent)
      // Whoever opened another session is a launcher, or a service that starts other people's work.
      isAbove ||= family.session !== session && !argvOf(procRoot, parent).some((word) => LAUNCHER.test(word))
      session = family.session
      isAbove ||= STARTS_OTHERS.test(family.comm) || isInteractive(procRoot, parent, family)
      if (!isAbove) {
        top = family
        topPid = parent
      }
      parent = family.parent
    }
    const argv = argvOf(procRoot, topPid)
    const uid = /^Uid:\t(\d+)/m.exec(tryRead(`${procRoot}/${pid}/status`) ?? '')?.[1]
    const user = uid === undefined ? undefined : (users.name(Number(uid)) ?? uid)
    const startedAt = bootMs + (top.startTicks * 1_000) / TICKS
    return {
      root: {
        pid: topPid,
        start_ticks: top.startTicks,
        ...(Number.isFinite(startedAt) ? { started_at: Math.round(startedAt) } : {}),
        command: argv.length === 0 ? top.comm : commandName(argv),
      },
      ancestors,
      ...(user === undefined ? {} : { user, uid: Number(uid) }),
    }
  }
}
