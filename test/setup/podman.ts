// Brings up a private Podman for a test: its own socket, storage and settings, no network, nothing of the host's Podman touched. Needs root.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUSYBOX, createEngineClient, importImage, programPath, type EngineClient } from './engine-client.ts'
import { poll } from './poll.ts'

const PODMAN = programPath('podman')
/** Why the tests with a real Podman cannot run here; undefined when they can. */
export const podmanMissing: string | undefined =
  process.getuid?.() !== 0
    ? 'needs root'
    : PODMAN === undefined
      ? 'needs podman (apt-get install podman)'
      : BUSYBOX === undefined
        ? 'needs busybox (apt-get install busybox-static)'
        : undefined

export type TestPodman = Pick<EngineClient, 'run' | 'call'> & { readonly socketPath: string; readonly close: () => Promise<void> }

const IMAGE = 'localhost/warpwatch-test:1'
// Limits that a root without CAP_SYS_RESOURCE may set; logs in files, as there may be no journal.
const SETTINGS = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "none"
log_driver = "k8s-file"
`

export async function startPodman(): Promise<TestPodman> {
  if (PODMAN === undefined) throw new Error(`expected podman: ${podmanMissing}`)
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-podman-'))
  const socketPath = join(root, 'podman.sock')
  const settings = join(root, 'containers.conf')
  writeFileSync(settings, SETTINGS)
  const places = ['--root', join(root, 'storage'), '--runroot', join(root, 'run'), '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs']
  const service = spawn(PODMAN, [...places, '--events-backend', 'file', 'system', 'service', '--time', '0', `unix://${socketPath}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    env: { ...process.env, CONTAINERS_CONF: settings },
  })
  let said = ''
  service.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)))
  const { run, call, must, removeAll } = createEngineClient(socketPath, IMAGE)
  await poll(
    async () => {
      if (service.exitCode !== null) throw new Error(`podman ended with ${service.exitCode}: ${said}`)
      return (await call('GET', '/_ping').catch(() => undefined))?.status === 200
    },
    { what: () => `podman to answer; it said ${said}`, deadlineMs: 30_000 },
  )
  await importImage({ must }, `/v4.0.0/libpod/images/import?reference=${IMAGE}`, join(root, 'rootfs'))
  return {
    socketPath,
    run,
    call,
    async close() {
      await removeAll()
      const ended = once(service, 'exit')
      service.kill('SIGTERM')
      await ended
      rmSync(root, { recursive: true, force: true })
    },
  }
}
