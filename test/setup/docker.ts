// Brings up a private dockerd for a test: its own socket, data and image, no network, nothing of the host's engine touched. Needs root and docker.io.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUSYBOX, createEngineClient, importImage, programPath, type EngineClient } from './engine-client.ts'
import { poll } from './poll.ts'

const DOCKERD = programPath('dockerd')

/** Why the tests with a real engine cannot run here; undefined when they can. */
export const dockerMissing: string | undefined =
  process.getuid?.() !== 0
    ? 'needs root'
    : DOCKERD === undefined
      ? 'needs dockerd (apt-get install docker.io)'
      : BUSYBOX === undefined
        ? 'needs busybox (apt-get install busybox-static)'
        : undefined

export type TestDocker = Pick<EngineClient, 'run' | 'call' | 'must' | 'removeAll'> & {
  readonly socketPath: string
  readonly inspectPid: (id: string) => Promise<number>
  /** Ends the daemon; its containers end with it. */
  readonly stopDaemon: () => Promise<void>
  readonly startDaemon: () => Promise<void>
  readonly close: () => Promise<void>
}

const IMAGE = 'warpwatch-test:1'

/** A bridge for the daemon with the host's address on it, as Docker makes its own; in a range that is for tests alone (RFC 2544). */
function addBridge(): string {
  for (let tries = 0; ; tries++) {
    const [name, net] = [`wwb${process.pid}`.slice(0, 15), Math.floor(Math.random() * 256)]
    const ip = (...args: readonly string[]): string => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    if (ip('-4', 'address', 'show').includes(` 198.18.${net}.`) && tries < 100) continue
    ip('link', 'add', name, 'type', 'bridge')
    ip('address', 'add', `198.18.${net}.1/24`, 'dev', name)
    ip('link', 'set', name, 'up')
    return name
  }
}

export type DockerOptions = {
  /** The root is an initramfs, where neither pivot_root nor overlay mounts work. */
  readonly ramdisk?: boolean
  /** Containers of the network `bridge` have addresses that this machine reaches; nothing else does. */
  readonly bridge?: boolean
}

export async function startDocker({ ramdisk = false, bridge: bridged = false }: DockerOptions = {}): Promise<TestDocker> {
  if (DOCKERD === undefined || BUSYBOX === undefined) throw new Error(`expected dockerd and busybox: ${dockerMissing}`)
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-docker-'))
  const socketPath = join(root, 'docker.sock')
  const bridge = bridged ? addBridge() : undefined
  let daemon: ChildProcess | undefined

  const { run, call, must, removeAll } = createEngineClient(socketPath, IMAGE)
  const log = (): string => (existsSync(join(root, 'dockerd.log')) ? readFileSync(join(root, 'dockerd.log'), 'utf8').slice(-2_000) : '')

  const startDaemon = async (): Promise<void> => {
    const logFile = openSync(join(root, 'dockerd.log'), 'a')
    const flags = [
      '--iptables=false',
      '--ip6tables=false',
      '--ip-forward=false',
      `--bridge=${bridge ?? 'none'}`,
      `--storage-driver=${ramdisk ? 'vfs' : 'overlay2'}`,
    ]
    const places = [
      `--host=unix://${socketPath}`,
      `--data-root=${join(root, 'data')}`,
      `--exec-root=${join(root, 'exec')}`,
      `--pidfile=${join(root, 'docker.pid')}`,
    ]
    // A group of its own: a Ctrl-C in the terminal must not end the engine before the test has cleaned up.
    daemon = spawn(DOCKERD, [...places, ...flags], {
      stdio: ['ignore', logFile, logFile],
      detached: true,
      env: ramdisk ? { ...process.env, DOCKER_RAMDISK: 'true' } : process.env,
    })
    closeSync(logFile)
    const started = daemon
    await poll(
      async () => {
        if (started.exitCode !== null) throw new Error(`dockerd ended with ${started.exitCode}: ${log()}`)
        return (await call('GET', '/_ping').catch(() => undefined))?.status === 200
      },
      { what: () => `dockerd to answer; its log ends with ${log()}`, deadlineMs: 30_000 },
    )
  }
  const stopDaemon = async (): Promise<void> => {
    const stopping = daemon
    if (stopping === undefined || stopping.exitCode !== null || stopping.signalCode !== null) return
    const ended = new Promise((resolve) => stopping.once('exit', resolve))
    stopping.kill('SIGTERM')
    await ended
  }
  await startDaemon()
  await importImage({ must }, '/images/create?fromSrc=-&repo=warpwatch-test&tag=1', join(root, 'rootfs'))
  return {
    socketPath,
    call,
    must,
    run,
    removeAll,
    async inspectPid(id) {
      const pid = /"Pid":(\d+)/.exec(await must('GET', `/containers/${id}/json`))?.[1]
      return Number(pid)
    },
    stopDaemon,
    startDaemon,
    async close() {
      await removeAll()
      await stopDaemon()
      if (bridge !== undefined) execFileSync('ip', ['link', 'delete', bridge])
      try {
        // dockerd leaves this mount behind; without it gone the directory cannot be removed.
        execFileSync('umount', [join(root, 'exec/netns/default')], { stdio: 'ignore' })
      } catch {
        // It was never mounted.
      }
      rmSync(root, { recursive: true, force: true })
    },
  }
}
