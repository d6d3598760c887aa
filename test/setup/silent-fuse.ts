// A process whose /tmp and /dev are on FUSE file systems that never answer (test/fakes/fuse/silent.py), in a container's cgroup where one is asked for.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { poll } from './poll.ts'

const PROGRAM = join(import.meta.dirname, '../fakes/fuse/silent.py')
/** Any hierarchy will do: only the path with the container's id is read. */
const CGROUP = ['/sys/fs/cgroup/freezer', '/sys/fs/cgroup'].find((path) => existsSync(join(path, 'cgroup.procs')))

/** Why it cannot be had here; undefined where it can. */
export function fuseUnavailable(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  if (CGROUP === undefined) return 'needs cgroups'
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    accessSync(CGROUP, constants.W_OK)
  } catch {
    return 'needs /dev/fuse and writable cgroups'
  }
  return spawnSync('python3', ['--version']).status === 0 ? undefined : 'needs Python 3'
}

export type SilentFuse = {
  readonly pid: number
  /** How often the file systems were asked something. */
  readonly asked: () => number
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** `directories`: /tmp and /dev themselves; `entries`: what the agent looks for in them. `container`: the id of 64 hex digits whose cgroup it is in. */
export async function startSilentFuse(where: 'directories' | 'entries', container?: string): Promise<SilentFuse> {
  const child = spawn('python3', ['-S', '-E', PROGRAM, where], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [said, problems] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (problems += text))
  let gone = false
  child.once('exit', () => (gone = true))
  const { pid } = child
  if (pid === undefined) throw new Error('python3 could not be started')
  // Named as by systemd, which needs no folder that engines of other tests use too.
  const cgroup = container === undefined ? undefined : join(CGROUP ?? '', `docker-${container}.scope`)
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await poll(() => gone, { what: 'the end of the silent file systems', deadlineMs: 20_000 })
    if (cgroup !== undefined && existsSync(cgroup)) rmdirSync(cgroup)
  }
  try {
    await poll(() => said.startsWith('ready\n') || gone, { what: () => `the silent file systems: ${problems}`, deadlineMs: 20_000 })
    if (gone) throw new Error(`the silent file systems could not be mounted: ${problems}`)
    if (cgroup !== undefined) {
      mkdirSync(cgroup)
      writeFileSync(join(cgroup, 'cgroup.procs'), String(pid))
    }
  } catch (error) {
    await end()
    throw error
  }
  return { pid, asked: () => said.split('asked ').length - 1, [Symbol.asyncDispose]: end }
}
