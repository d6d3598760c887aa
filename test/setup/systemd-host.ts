// A host with a running systemd for tests of units and packages: see systemd-host.sh for what it is made of. Nothing of this machine is changed.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { enterNetwork } from './network-inside.ts'
import { poll } from './poll.ts'

const root = join(import.meta.dirname, '../..')
const CGROUPS = '/sys/fs/cgroup'

/** Why it cannot be had here; undefined when it can. */
export const systemdMissing: string | undefined =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'needs linux-x64'
    : process.getuid?.() !== 0
      ? 'needs root'
      : !existsSync('/lib/systemd/systemd')
        ? 'needs systemd'
        : spawnSync('unshare', ['--mount', '--pid', '--fork', '--net', '--cgroup', 'true']).status !== 0
          ? 'needs unshare, and the right to make namespaces'
          : undefined

export type Ran = { readonly status: number; readonly stdout: string; readonly stderr: string }
export type SystemdHost = {
  /** Runs a command there to its end, with a root shell's environment. */
  readonly run: (command: string, ...args: readonly string[]) => Promise<Ran>
  /** As `run`; throws unless the command ends with 0. Gives what it printed. */
  readonly must: (command: string, ...args: readonly string[]) => Promise<string>
  /** Where a path of that host is found from here. */
  readonly path: (inside: string) => string
  /** The body of an answer from that host's own network; undefined while nobody answers. */
  readonly get: (url: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** The folders of one cgroup each that the host gets: one on version 2, one per controller on version 1. */
function makeCgroups(name: string): readonly string[] {
  const hierarchies = existsSync(join(CGROUPS, 'cgroup.controllers')) ? [''] : readdirSync(CGROUPS)
  return hierarchies.flatMap((hierarchy) => {
    const parent = join(CGROUPS, hierarchy)
    if (!existsSync(join(parent, 'cgroup.procs'))) return []
    const folder = join(parent, name)
    mkdirSync(folder)
    // A cpuset takes nobody in before it knows its CPUs.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) if (hierarchy === 'cpuset') writeFileSync(join(folder, file), readFileSync(join(parent, file)))
    return [folder]
  })
}
function removeCgroup(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeCgroup(join(folder, entry.name))
  rmdirSync(folder)
}

const childrenOf = (pid: number): readonly number[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

async function finished(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ status, stdout, stderr })
    })
  })
}

export async function startSystemdHost(): Promise<SystemdHost> {
  const work = mkdtempSync(join(tmpdir(), 'warpwatch-systemd-'))
  const cgroups = makeCgroups(basename(work))
  // The shell goes into the cgroups first, so that the new cgroup namespace begins there.
  const enter = ['sh', '-c', 'for f in $CGROUPS; do echo 0 >"$f/cgroup.procs"; done; exec sh "$@"', 'sh']
  const script = [join(import.meta.dirname, 'systemd-host.sh'), work, root]
  const outer = spawn('/usr/bin/env', [`CGROUPS=${cgroups.join(' ')}`, ...enter, ...script], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  let said = ''
  outer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(outer, 'exit')
  const close = async (): Promise<void> => {
    outer.kill('SIGKILL')
    await ended
    await poll(
      () => {
        for (const folder of cgroups.filter(existsSync)) {
          try {
            removeCgroup(folder)
          } catch {
            return false // someone is still dying there
          }
        }
        return true
      },
      { what: `the cgroups ${basename(work)} to be empty` },
    )
    rmdirSync(work)
  }

  const inside = (pid: number): readonly string[] => {
    const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--root', '--wd']
    const environment = ['/usr/bin/env', '-i', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LC_ALL=C.UTF-8']
    return [`--target=${pid}`, ...namespaces, ...environment, 'DEBIAN_FRONTEND=noninteractive']
  }
  try {
    const pid = await poll(
      () => {
        if (outer.exitCode !== null) throw new Error(`expected systemd to start, it ended with ${outer.exitCode}: ${said}`)
        const [first] = outer.pid === undefined ? [] : childrenOf(outer.pid)
        return first !== undefined && readFileSync(`/proc/${first}/comm`, 'utf8') === 'systemd\n' ? first : undefined
      },
      { what: () => `systemd to start; ${said}`, deadlineMs: 30_000 },
    )
    const run: SystemdHost['run'] = async (command, ...args) => finished('nsenter', [...inside(pid), command, ...args])
    let state = ''
    await poll(async () => ['running', 'degraded'].includes((state = (await run('systemctl', 'is-system-running')).stdout.trim())), {
      what: () => `systemd to be up; it is ${state}`,
      deadlineMs: 60_000,
    })
    const network = enterNetwork(pid)
    return {
      run,
      async must(command, ...args) {
        const { status, stdout, stderr } = await run(command, ...args)
        if (status !== 0) throw new Error(`${[command, ...args].join(' ')}: expected 0, came ${status}: ${stdout}${stderr}`)
        return stdout
      },
      path: (path) => `/proc/${pid}/root${path}`,
      get: async (url) => network.get(url),
      async close() {
        await network.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
