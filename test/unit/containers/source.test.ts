// The containers source as a whole, against a cgroup tree of files and an engine that comes, goes and lies.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createContainersSource } from '../../../agent/sources/containers.ts'
import type { HostGpu } from '../../../agent/sources/containers/gpu-request.ts'
import { poll } from '../../setup/poll.ts'
import { runSource } from '../../setup/run-source.ts'
import type { RunningSource } from '../../setup/run-source.ts'
import { candidateSockets, socketIdentity } from '../../../agent/sources/containers/engine-sockets.ts'
import { createCgroupTree, V2_FILES } from './cgroup-tree.ts'
import { idOf, inspected, json, listed, serveContainers, startEngineServer } from './engine-server.ts'
import type { EngineServer } from './engine-server.ts'

const [A, B] = [idOf('a'), idOf('b')]
const GPUS: readonly HostGpu[] = [
  { index: 0, uuid: 'GPU-0' },
  { index: 1, uuid: 'GPU-1' },
]
const engineHere = candidateSockets().some((path) => socketIdentity(path) !== undefined)
let tree: ReturnType<typeof createCgroupTree>
let server: EngineServer
let source: RunningSource | undefined
let gpus: readonly HostGpu[]

beforeEach(async () => {
  tree = createCgroupTree(2)
  server = await startEngineServer()
  gpus = GPUS
})
afterEach(async () => {
  await source?.stop()
  await server.close()
  tree.close()
})
const start = (sockets?: readonly string[]): RunningSource => {
  const directory = createContainerDirectory()
  source = runSource(
    createContainersSource({
      ...(sockets === undefined ? {} : { sockets }),
      cgroupRoot: tree.root,
      procRoot: tree.proc,
      directory,
      userLabels: ['lab.user', 'lab.owner'],
      gpus: () => gpus,
    }),
  )
  return source
}
const web = () => ({
  list: listed(A, 'web'),
  inspect: inspected(A, 'web', {
    state: { Pid: 4242 },
    config: { Labels: { 'com.docker.compose.project': 'shop', 'com.docker.compose.service': 'front', 'lab.owner': ' maya\n' } },
    rest: { HostConfig: { Runtime: 'nvidia', DeviceRequests: [{ Driver: '', Count: -1, DeviceIDs: null, Capabilities: [['gpu']] }] } },
  }),
})
const LABELS = { container: 'web', container_id: A.slice(0, 12), image: 'img:1', compose_project: 'shop', compose_service: 'front' }

describe('containers source', () => {
  test('names from the engine, numbers from the kernel, GPUs from the request', async () => {
    tree.add(`/docker/${A}`)
    tree.process(4242, `0::/docker/${A}\n`)
    server.handle = serveContainers(new Map([[A, web()]]))
    const run = start([server.socketPath])
    await poll(() => run.value('warpwatch_container_pids', LABELS), { what: 'the numbers' })
    expect(run.value('warpwatch_container_memory_bytes', LABELS)).toBe(7_000)
    expect(run.value('warpwatch_container_cpu_seconds_total', LABELS)).toBe(2.5)
    expect(run.value('warpwatch_container_cpu_mode_seconds_total', { ...LABELS, mode: 'user' })).toBe(2)
    expect(run.value('warpwatch_container_cpu_mode_seconds_total', { ...LABELS, mode: 'system' })).toBe(0.5)
    expect(run.value('warpwatch_container_memory_limit_bytes', LABELS)).toBe(65_536)
    expect(run.value('warpwatch_container_oom_kills_total', LABELS)).toBe(3)
    expect(run.value('warpwatch_container_pids', LABELS)).toBe(2)
    expect(run.value('warpwatch_container_restarts_total', LABELS)).toBe(2)
    expect(run.of('warpwatch_container_info').map(({ series }) => series.labels)).toEqual([
      { ...LABELS, runtime: 'nvidia', pid: '4242', state: 'running', started: String(Date.parse('2026-11-20T08:00:00Z') / 1000), user: 'maya' },
    ])
    expect(run.of('warpwatch_container_gpu_requested').map(({ series, value }) => [series.labels['uuid'], series.labels['by'], value])).toEqual([
      ['GPU-0', 'device_request', 1],
      ['GPU-1', 'device_request', 1],
    ])
    expect(run.gaps()).toEqual([])
  })

  test('GPUs that become known later are said soon', async () => {
    gpus = []
    tree.add(`/docker/${A}`)
    tree.process(4242, `0::/docker/${A}\n`)
    server.handle = serveContainers(new Map([[A, web()]]))
    const run = start([server.socketPath])
    await poll(() => run.value('warpwatch_container_memory_bytes'), { what: 'the numbers' })
    expect(run.of('warpwatch_container_gpu_requested')).toEqual([])
    gpus = GPUS
    await poll(() => run.of('warpwatch_container_gpu_requested').length === 2, { what: 'the GPUs' })
  })

  test.skipIf(engineHere)('no engine is found: ids for names, the same numbers, one gap that says why (needs a host without an engine)', async () => {
    tree.add(`/docker/${A}`)
    tree.add(`/docker/${B}`, { 'cgroup.procs': '', 'cgroup.events': 'populated 0\n' })
    const run = start()
    await poll(() => run.value('warpwatch_container_memory_bytes'), { what: 'the numbers' })
    expect(run.of('warpwatch_container_memory_bytes').map(({ series }) => series.labels)).toEqual([{ container: A.slice(0, 12), container_id: A.slice(0, 12) }])
    expect(run.value('warpwatch_container_info', { runtime: 'docker', pid: '4242' })).toBe(1)
    await poll(() => run.gaps().length > 0, { what: 'the gap' })
    expect(run.gaps()).toMatchObject([{ metric: 'containers', reason: 'not_supported' }])
  })

  test('whoever asks for no engine misses none; the sandbox of a pod is no container', async () => {
    const pod = '/kubepods/pod6a2f1c1e-0c1b-4c57-9d55-0f7e6f0a1b2c'
    tree.add(`${pod}/${A}`)
    tree.process(4242, '', 'python3\n')
    tree.add(`${pod}/${B}`, { ...V2_FILES, 'cgroup.procs': '77\n' })
    tree.process(77, '', 'pause\n')
    const run = start([])
    await poll(() => run.value('warpwatch_container_memory_bytes'), { what: 'the numbers' })
    expect(run.of('warpwatch_container_memory_bytes').map(({ series }) => series.labels['container_id'])).toEqual([A.slice(0, 12)])
    expect(run.gaps()).toEqual([])
  })

  test('an engine that is not there: a gap with the reason, numbers by id; when it comes, names', async () => {
    tree.add(`/docker/${A}`)
    tree.process(4242, `0::/docker/${A}\n`)
    await server.unlisten()
    const run = start([server.socketPath])
    await poll(() => run.gaps().find(({ metric }) => metric === 'containers'), { what: 'the gap' })
    expect(run.gaps()).toMatchObject([{ metric: 'containers', labels: { engine: server.socketPath }, reason: 'not_supported' }])
    await poll(() => run.value('warpwatch_container_memory_bytes', { container: A.slice(0, 12) }), { what: 'numbers by id', deadlineMs: 15_000 })
    server.handle = serveContainers(new Map([[A, web()]]))
    await server.listen()
    await poll(() => run.value('warpwatch_container_memory_bytes', LABELS), { what: 'the name', deadlineMs: 15_000 })
    expect(run.of('warpwatch_container_memory_bytes')).toHaveLength(1)
    await poll(() => run.gaps().length === 0, { what: 'the gap to go' })
  })

  test('a container that the engine knows and the kernel does not: identity, and gaps for the numbers', async () => {
    server.handle = serveContainers(new Map([[A, web()]]))
    const run = start([server.socketPath])
    await poll(() => run.value('warpwatch_container_info', LABELS), { what: 'the identity' })
    await poll(() => run.gaps().length === 5, { what: 'the gaps' })
    expect(run.gaps().map(({ metric, reason, labels }) => [metric, reason, labels['container']])).toContainEqual([
      'warpwatch_container_memory_bytes',
      'not_supported',
      'web',
    ])
    expect(run.of('warpwatch_container_memory_bytes')).toEqual([])
  })

  test('an ended container leaves; names in any writing stay text', async () => {
    tree.add(`/docker/${A}`)
    tree.add(`/docker/${B}`)
    tree.process(4242, `0::/docker/${A}\n`)
    tree.process(4243, `0::/docker/${B}\n`)
    const containers = new Map([
      [A, web()],
      [B, { list: listed(B, 'x"y\\z\n'), inspect: inspected(B, 'x"y\\z\n', { state: { Pid: 4243 } }) }],
    ])
    server.handle = serveContainers(containers)
    const run = start([server.socketPath])
    await poll(() => run.of('warpwatch_container_memory_bytes').length === 2, { what: 'both' })
    const odd = run.of('warpwatch_container_memory_bytes').find(({ series }) => series.labels['container'] === 'x"y\\z\n')
    expect(odd?.series.key).toContain('container="x\\"y\\\\z\\n"')
    // The walk of the cgroups may have brought its numbers before the engine's word came.
    await poll(() => run.value('warpwatch_container_info', LABELS) !== undefined, { what: 'its name' })
    containers.delete(A)
    await poll(() => server.followers() > 0, { what: 'the event stream' })
    server.event({ Type: 'container', Action: 'die', Actor: { ID: A, Attributes: { name: 'web', exitCode: '1' } }, timeNano: (Date.now() + 5) * 1e6 })
    // As the kernel does: a cgroup that stayed would be found again by the next walk, which comes at each ten seconds of the clock.
    tree.remove(`/docker/${A}`)
    await poll(() => run.of('warpwatch_container_memory_bytes').length === 1 && run.value('warpwatch_container_info', LABELS) === undefined, {
      what: 'its end',
    })
    expect(run.events.filter(({ type }) => type === 'container')).toMatchObject([{ action: 'die', container: 'web', exit_code: 1 }])
  })

  test('an engine that answers nonsense: one warning, numbers go on by id', async () => {
    tree.add(`/docker/${A}`)
    server.handle = (path, answer) => (path.startsWith('/events') ? undefined : json(answer, 200, { nonsense: true }))
    const run = start([server.socketPath])
    await poll(() => run.gaps().some(({ reason }) => reason === 'parse_error'), { what: 'the gap' })
    await poll(() => run.value('warpwatch_container_memory_bytes', { container: A.slice(0, 12) }), { what: 'numbers by id', deadlineMs: 15_000 })
    expect(run.lines.filter((line) => line.startsWith('warn'))).toHaveLength(1)
  })
})
