// Brings up a Slurm of one node for a test: its own munge, controller and node daemon in a folder, nothing of the host's Slurm touched. Needs root.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { poll } from './poll.ts'

const DAEMONS = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd']
/** Why a Slurm cannot run here; undefined when one may be tried. */
export const slurmMissing: string | undefined =
  process.getuid?.() !== 0 ? 'needs root' : DAEMONS.every((path) => existsSync(path)) ? undefined : 'needs Slurm (apt-get install slurm-wlm munge)'

export type TestSlurm = {
  readonly env: Readonly<Record<string, string>>
  /** Its id. */
  readonly submit: (name: string, script: string, more?: readonly string[]) => Promise<string>
  readonly run: (program: 'scancel' | 'scontrol', ...args: readonly string[]) => Promise<string>
  readonly close: () => Promise<void>
}

const settings = (root: string, host: string, ports: readonly number[], epilog: string | undefined): string => `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
AuthType=auth/munge
AuthInfo=socket=${root}/munge.socket
CredType=cred/munge
StateSaveLocation=${root}/state
SlurmdSpoolDir=${root}/spool
SlurmctldPidFile=${root}/slurmctld.pid
SlurmdPidFile=${root}/slurmd.pid
SlurmctldLogFile=${root}/slurmctld.log
SlurmdLogFile=${root}/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
KillWait=2
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
NodeName=${host} NodeAddr=127.0.0.1 CPUs=1 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=${host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
${epilog === undefined ? '' : `TaskEpilog=${epilog}\n`}`
const CGROUPS = 'CgroupAutomount=no\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\nConstrainSwapSpace=no\nConstrainDevices=no\n'

/** What the node daemon leaves in each hierarchy. */
function removeGroups(host: string): void {
  const remove = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) remove(join(path, entry.name))
    rmdirSync(path)
  }
  for (const place of ['', ...readdirSync('/sys/fs/cgroup')]) {
    const path = join('/sys/fs/cgroup', place, `slurm_${host}`)
    try {
      if (existsSync(path)) remove(path)
    } catch {
      // A process still ends in it, or it is not ours to remove.
    }
  }
}

/** Rejects with what is missing where it does not start. `epilog`: a program that it runs at the end of each task. */
export async function startSlurm({ epilog }: { readonly epilog?: string } = {}): Promise<TestSlurm> {
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-slurm-'))
  const [host = 'localhost'] = hostname().split('.')
  for (const folder of ['state', 'spool']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'munge.key'), randomBytes(128), { mode: 0o400 })
  writeFileSync(join(root, 'slurm.conf'), settings(root, host, [await freePort(), await freePort()], epilog))
  writeFileSync(join(root, 'cgroup.conf'), CGROUPS)
  const env = { SLURM_CONF: join(root, 'slurm.conf') }
  const daemons: ChildProcess[] = []
  const start = (program: string, ...args: readonly string[]): void => {
    daemons.push(spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...env } }))
  }
  const run = async (program: string, ...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { env: { ...process.env, ...env }, timeout: 120_000 })).stdout.trim()
  const close = async (): Promise<void> => {
    await run('scancel', '--full', '--signal=KILL', '--user=root').catch(() => undefined)
    for (const daemon of daemons.toReversed()) {
      const ended = once(daemon, 'exit')
      if (daemon.exitCode === null && daemon.signalCode === null && daemon.kill('SIGTERM')) await ended
    }
    removeGroups(host)
  }
  try {
    const at = (name: string): string => join(root, name)
    const socket = ['--socket', at('munge.socket'), '--key-file', at('munge.key'), '--seed-file', at('munge.seed')]
    start('/usr/sbin/munged', '--foreground', '--force', ...socket, '--log-file', at('munge.log'), '--pid-file', at('munge.pid'))
    await poll(() => existsSync(at('munge.socket')), { what: 'the socket of munged' })
    start('/usr/sbin/slurmctld', '-D')
    start('/usr/sbin/slurmd', '-D')
    await poll(async () => (await run('sinfo', '--noheader', '--format=%t').catch(() => '')) === 'idle', { what: 'the node to be idle', deadlineMs: 30_000 })
  } catch (error) {
    await close()
    throw error
  }
  return {
    env,
    run,
    submit: (name, script, more = []) =>
      run('sbatch', '--parsable', `--job-name=${name}`, '--output=/dev/null', '--mem=200M', '--ntasks=1', '--chdir=/tmp', ...more, '--wrap', script),
    close,
  }
}
