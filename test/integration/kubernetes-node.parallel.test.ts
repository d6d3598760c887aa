// The agent with exactly the rights, mounts and configuration of the DaemonSet, in a real container beside a real pod's: Docker in the kubelet's place.
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { daemonSet } from '../../deploy/kubernetes/daemon-set.ts'
import { FOLDER } from '../../scripts/generators/kubernetes.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'

const UID = '2fc932ce-fdcc-454b-97bd-aadfdeb4c340'
const root = join(import.meta.dirname, '../..')
const pod = daemonSet.spec?.template.spec
const container = pod?.containers[0]
const security = container?.securityContext

const scrape = z.object({
  type: z.literal('scrape'),
  readings: z.array(z.tuple([z.string(), z.record(z.string(), z.string()), z.number()])),
})
const log = z.object({ type: z.literal('log'), stream: z.string(), origin: z.record(z.string(), z.string()), text: z.string() })

function rootIsOpen(): boolean {
  try {
    return readdirSync('/proc/1/root').length > 0
  } catch {
    return false
  }
}

describe.skipIf(dockerMissing !== undefined)(`a node${dockerMissing === undefined ? '' : ` (${dockerMissing})`}`, () => {
  let docker: TestDocker
  const base = mkdtempSync(join(tmpdir(), 'warpwatch-node-'))
  beforeAll(async () => {
    docker = await startDocker()
  })
  afterAll(async () => {
    await docker?.close()
    rmSync(base, { recursive: true, force: true })
  })

  /** What the node has itself is mounted as it is; what the kubelet and the agent write is below `base`. */
  const binds = (): readonly string[] =>
    (container?.volumeMounts ?? []).map(({ name, mountPath, readOnly }) => {
      const path = pod?.volumes?.find((volume) => volume.name === name)?.hostPath?.path
      const real = path === '/proc' || path === '/sys/fs/cgroup' ? path : join(base, path ?? 'config')
      mkdirSync(real, { recursive: true })
      return `${real}:${mountPath}${readOnly === true ? ':ro' : ''}`
    })

  test('sees the pod by name in its numbers and logs, and the disks of the node', async () => {
    const id = await docker.run({ name: 'server', command: ['sleep', '600'], host: { CgroupParent: `/kubepods/burstable/pod${UID}` } })
    const mounts = binds()
    const file = join(base, `var/log/pods/ml_llm-0_${UID}/server/0.log`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
    // Where it leads is a path of the node, as the agent sees it too.
    symlinkSync(`/var/log/pods/ml_llm-0_${UID}/server/0.log`, join(base, `var/log/containers/llm-0_ml_server-${id}.log`))
    writeFileSync(join(base, 'config/warpwatch.yaml'), readFileSync(join(FOLDER, 'base/warpwatch.yaml')))

    const recording = join(base, 'var/lib/warpwatch/recording.jsonl')
    await docker.run({
      name: 'agent',
      command: [process.execPath, join(root, 'dist/main.js'), 'run', '--record', '/var/lib/warpwatch/recording.jsonl'],
      env: ['WARPWATCH_HTTP__TOKEN=secret', 'WARPWATCH_HOST_NAME=node-1', 'WARPWATCH_GPU__SOURCE=off'],
      host: {
        PidMode: pod?.hostPID === true ? 'host' : '',
        ReadonlyRootfs: security?.readOnlyRootFilesystem,
        CapDrop: security?.capabilities?.drop,
        CapAdd: security?.capabilities?.add,
        SecurityOpt: security?.allowPrivilegeEscalation === false ? ['no-new-privileges'] : [],
        // In the place of the image: this checkout and the libraries that its Node needs.
        Binds: [...mounts, ...['/usr', '/lib', '/lib64', root].map((path) => `${path}:${path}:ro`)],
      },
    })
    const said = async (): Promise<string> => (await docker.call('GET', '/containers/agent/logs?stdout=1&stderr=1')).body
    const lines = (): readonly unknown[] =>
      existsSync(recording)
        ? readFileSync(recording, 'utf8')
            .split('\n')
            .slice(0, -1)
            .map((line): unknown => JSON.parse(line))
        : []
    const readings = () => lines().flatMap((line) => scrape.safeParse(line).data?.readings ?? [])
    const last = (metric: string, name: string, value: string) => readings().findLast(([found, labels]) => found === metric && labels[name] === value)
    let words = ''
    const wait = async (what: string, ask: () => boolean): Promise<unknown> =>
      await poll(
        async () => {
          words = await said()
          return ask()
        },
        { what: () => `${what}; the agent said ${words}`, deadlineMs: 40_000, everyMs: 250 },
      )

    await wait('the container', () => last('warpwatch_container_memory_bytes', 'container_id', id.slice(0, 12)) !== undefined)
    expect(last('warpwatch_container_memory_bytes', 'container_id', id.slice(0, 12))?.[1]).toEqual({
      container: 'server',
      container_id: id.slice(0, 12),
      namespace: 'ml',
      pod: 'llm-0',
    })
    // The node's own root is seen through its first process, which needs SYS_PTRACE, unless its init is closed to root as well (some sandboxes).
    await wait('the root disk', () => !rootIsOpen() || last('warpwatch_host_disk_total_bytes', 'mountpoint', '/') !== undefined)

    appendFileSync(file, `${new Date().toISOString()} stderr F RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error.\n`)
    await wait('the line', () => lines().some((line) => log.safeParse(line).success))
    expect(lines().flatMap((line) => log.safeParse(line).data ?? [])[0]).toMatchObject({ stream: 'container', origin: { container: 'server' } })
    expect(words).not.toMatch(/ (warn|error) /)
  })
})
