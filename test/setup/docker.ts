// Brings up a private dockerd for a test: its own socket, data and image, no network, nothing of the host's engine touched. Needs root and docker.io.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { poll } from './poll.ts'

const path = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(':')
    .map((directory) => join(directory, name))
    .find(existsSync)
const DOCKERD = path('dockerd')
/** Statically linked, so that it is a whole image by itself (Debian: busybox-static). */
const BUSYBOX = path('busybox')

/** Why the tests with a real engine cannot run here; undefined when they can. */
export const dockerMissing: string | undefined =
  process.getuid?.() !== 0
    ? 'needs root'
    : DOCKERD === undefined
      ? 'needs dockerd (apt-get install docker.io)'
      : BUSYBOX === undefined
        ? 'needs busybox (apt-get install busybox-static)'
        : undefined

export type CreateOptions = {
  readonly name: string
  readonly command: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly env?: readonly string[]
  readonly host?: Readonly<Record<string, unknown>>
}
export type TestDocker = {
  readonly socketPath: string
  /** Creates and starts a container; gives its id. */
  readonly run: (options: CreateOptions) => Promise<string>
  readonly call: (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: string }>
  readonly inspectPid: (id: string) => Promise<number>
  /** Ends the daemon; its containers end with it. */
  readonly stopDaemon: () => Promise<void>
  readonly startDaemon: () => Promise<void>
  readonly close: () => Promise<void>
}

const IMAGE = 'warpwatch-test:1'

/** `ramdisk`: the root is an initramfs, where neither pivot_root nor overlay mounts work. */
export async function startDocker(own: { readonly ramdisk?: boolean } = {}): Promise<TestDocker> {
  const ramdisk = own.ramdisk ?? false
  if (DOCKERD === undefined || BUSYBOX === undefined) throw new Error(`expected dockerd and busybox: ${dockerMissing}`)
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-docker-'))
  const socketPath = join(root, 'docker.sock')
  let daemon: ChildProcess | undefined

  const call: TestDocker['call'] = async (method, urlPath, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
    const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json'
    const sent = request({ socketPath, method, path: urlPath, headers: body === undefined ? { Host: 'd' } : { Host: 'd', 'Content-Type': type } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : Buffer.isBuffer(body) ? body : JSON.stringify(body))
    return await promise
  }
  const must = async (method: string, urlPath: string, body?: unknown): Promise<string> => {
    const answer = await call(method, urlPath, body)
    if (answer.status >= 300) throw new Error(`${method} ${urlPath}: status ${answer.status} ${answer.body}`)
    return answer.body
  }
  const log = (): string => (existsSync(join(root, 'dockerd.log')) ? readFileSync(join(root, 'dockerd.log'), 'utf8').slice(-2_000) : '')

  const startDaemon = async (): Promise<void> => {
    const logFile = openSync(join(root, 'dockerd.log'), 'a')
    const flags = ['--iptables=false', '--ip6tables=false', '--bridge=none', `--storage-driver=${ramdisk ? 'vfs' : 'overlay2'}`]
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
  const importImage = async (): Promise<void> => {
    const bin = join(root, 'rootfs/bin')
    mkdirSync(bin, { recursive: true })
    copyFileSync(BUSYBOX, join(bin, 'busybox'))
    for (const applet of ['sh', 'sleep', 'dd', 'true', 'cat', 'yes', 'kill']) symlinkSync('busybox', join(bin, applet))
    const tar = execFileSync('tar', ['-C', join(root, 'rootfs'), '-c', '.'], { maxBuffer: 64 * 1024 * 1024 })
    await must('POST', `/images/create?fromSrc=-&repo=${IMAGE.split(':')[0]}&tag=1`, tar)
  }

  await startDaemon()
  await importImage()
  return {
    socketPath,
    call,
    async run({ name, command, labels, env, host }) {
      const body = { Image: IMAGE, Cmd: command, Labels: labels ?? {}, Env: env ?? [], NetworkDisabled: true, HostConfig: { NetworkMode: 'none', ...host } }
      const created: unknown = JSON.parse(await must('POST', `/containers/create?name=${name}`, body))
      const id = typeof created === 'object' && created !== null && 'Id' in created ? String(created.Id) : ''
      await must('POST', `/containers/${id}/start`)
      return id
    },
    async inspectPid(id) {
      const pid = /"Pid":(\d+)/.exec(await must('GET', `/containers/${id}/json`))?.[1]
      return Number(pid)
    },
    stopDaemon,
    startDaemon,
    async close() {
      const all = await call('GET', '/containers/json?all=1').catch(() => undefined)
      for (const [, id] of all?.body.matchAll(/"Id":"([0-9a-f]{64})"/g) ?? []) await call('DELETE', `/containers/${id}?force=1`)
      await stopDaemon()
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
