// A node as the agent's pod sees it, in real files: the kubelet's logs, the node's cgroups, its processes. Which pod is it? Without the Kubernetes API.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { parseCgroup } from '../../../agent/attribution/cgroup-path.ts'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createGpuMemoryAttribution } from '../../../agent/attribution/gpu-memory.ts'
import { createKubernetesLookup } from '../../../agent/attribution/kubernetes.ts'
import { createProcessIdentifier } from '../../../agent/attribution/process.ts'
import { createContainersSource } from '../../../agent/sources/containers.ts'
import { createLogFilesSource } from '../../../agent/sources/log-files.ts'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { FOLDER } from '../../../scripts/generators/kubernetes.ts'
import { poll } from '../../setup/poll.ts'
import { runSource, type RunningSource } from '../../setup/run-source.ts'
import { createCgroupTree } from '../containers/cgroup-tree.ts'

const UID = '2fc932ce-fdcc-454b-97bd-aadfdeb4c340'
const OWN_UID = '7a0c4b1e-58d1-4f0e-9d0a-0c9be3a4f6d2'
const STATIC_UID = 'd'.repeat(32)
const idOf = (digit: string): string => digit.repeat(64)
const [SERVER, RESTARTED, SIDECAR, OWN, STATIC] = [idOf('a'), idOf('b'), idOf('c'), idOf('e'), idOf('f')] as const
const POD = { namespace: 'ml', pod: 'llm-0' }
const labelsOf = (container: string, id: string) => ({ container, container_id: id.slice(0, 12), ...POD })

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes('FAULT')

/** The globs of the committed configuration, for another root. */
function containerFiles(root: string): readonly string[] {
  const { logs } = z
    .object({ logs: z.object({ container_files: z.array(z.string()) }) })
    .parse(parse(readFileSync(join(FOLDER, 'base/warpwatch.yaml'), 'utf8')))
  return logs.container_files.map((pattern) => pattern.replace('/var/log', root))
}

describe('pods of a node', () => {
  let tree: ReturnType<typeof createCgroupTree>
  let base = ''
  let running: RunningSource[] = []
  const logs = (...parts: string[]): string => join(base, 'log', ...parts)

  beforeEach(() => {
    tree = createCgroupTree(2)
    base = mkdtempSync(join(tmpdir(), 'warpwatch-node-'))
    for (const folder of ['containers', 'pods']) mkdirSync(logs(folder), { recursive: true })
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((source) => source.stop()))
    tree.close()
    rmSync(base, { recursive: true, force: true })
  })

  /** As the kubelet does: the log below the pod, and the link whose name tells who it is. */
  const addLog = (pod: string, namespace: string, uid: string, container: string, id: string, life = 0): string => {
    const folder = logs('pods', `${namespace}_${pod}_${uid}`, container)
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${life}.log`)
    writeFileSync(file, '')
    symlinkSync(file, logs('containers', `${pod}_${namespace}_${container}-${id}.log`))
    return file
  }
  const print = (file: string, text: string): void => appendFileSync(file, `${new Date().toISOString()} stdout F ${text}\n`)
  const directory = () => createContainerDirectory({ kubernetes: createKubernetesLookup(logs()) })
  const watchContainers = (): RunningSource => {
    const source = runSource(createContainersSource({ sockets: [], cgroupRoot: tree.root, procRoot: tree.proc, directory: directory(), gpus: () => [] }))
    running.push(source)
    return source
  }
  const slice = `kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice`
  const cgroup = (id: string): string => `/kubepods.slice/kubepods-burstable.slice/${slice}/cri-containerd-${id}.scope`

  test('numbers of containers carry pod, namespace and container, also of several in one pod and of static pods', async () => {
    addLog('llm-0', 'ml', UID, 'server', SERVER)
    addLog('llm-0', 'ml', UID, 'sidecar', SIDECAR)
    addLog('kube-proxy-node1', 'kube-system', STATIC_UID, 'kube-proxy', STATIC)
    tree.add(cgroup(SERVER))
    tree.add(cgroup(SIDECAR))
    tree.add(`/kubepods/besteffort/pod${STATIC_UID}/${STATIC}`)
    const source = watchContainers()
    await poll(() => source.of('warpwatch_container_memory_bytes').length === 3, { what: 'three containers' })
    const named = source.of('warpwatch_container_memory_bytes').map(({ series }) => series.labels)
    expect(named).toEqual(
      expect.arrayContaining([
        labelsOf('server', SERVER),
        labelsOf('sidecar', SIDECAR),
        { container: 'kube-proxy', container_id: STATIC.slice(0, 12), namespace: 'kube-system', pod: 'kube-proxy-node1' },
      ]),
    )
  })

  test('where the kubelet links no log yet, the pod is known by its folder and the container by its id', async () => {
    mkdirSync(logs('pods', `ml_llm-0_${UID}`))
    tree.add(cgroup(SERVER))
    const source = watchContainers()
    await poll(() => source.of('warpwatch_container_memory_bytes').length === 1, { what: 'the container' })
    expect(source.of('warpwatch_container_memory_bytes')[0]?.series.labels).toEqual(labelsOf(SERVER.slice(0, 12), SERVER))
  })

  /** The agent's own pod has a private cgroup namespace: it sees others from its own place in the tree. */
  test.each([
    ['systemd driver, another class', `/../../../kubepods-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-${SERVER}.scope`],
    ['systemd driver, same class', `/../../${slice}/cri-containerd-${SERVER}.scope`],
    ['cgroupfs driver, same class', `/../../pod${UID}/${SERVER}`],
    ['cgroupfs driver, the agent besteffort, the other guaranteed', `/../../../pod${UID}/${SERVER}`],
    ['cgroupfs driver, another class', `/../../../burstable/pod${UID}/${SERVER}`],
    ['cgroupfs driver, the agent guaranteed', `/../../besteffort/pod${UID}/${SERVER}`],
    ['CRI-O', `/../../../kubepods-pod${UID.replaceAll('-', '_')}.slice/crio-${SERVER}.scope/container`],
  ])('a process seen from a private cgroup namespace: %s', (_, path) => {
    expect(parseCgroup(`0::${path}\n`)).toMatchObject({ podUid: UID, containerId: SERVER })
  })

  test('GPU memory is that of the pod whose process holds it, and stays so when its container is started again', () => {
    const put = (pid: number, id: string): void => {
      tree.process(pid, `0::/../../${slice}/cri-containerd-${id}.scope\n`)
      writeFileSync(join(tree.proc, String(pid), 'stat'), `${pid} (python) S ${'1 '.repeat(18)}500 0 0\n`)
      writeFileSync(join(tree.proc, String(pid), 'status'), `Name:\tpython\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t${pid}\t1\n`)
    }
    const holders = (pid: number): readonly unknown[] => {
      const attribution = createGpuMemoryAttribution(createProcessIdentifier({ procRoot: tree.proc, directory: directory() }))
      const { readings } = attribution.attribute({ gpu: '0', uuid: 'GPU-a', usedBytes: 900, processes: [{ pid, type: 'C', bytes: 800 }] })
      return readings.flatMap(({ series, value }) => (series.metric.name === 'warpwatch_container_gpu_memory_bytes' ? [{ ...series.labels, value }] : []))
    }
    addLog('llm-0', 'ml', UID, 'server', SERVER)
    put(4242, SERVER)
    expect(holders(4242)).toEqual([{ gpu: '0', uuid: 'GPU-a', ...labelsOf('server', SERVER), value: 800 }])
    unlinkSync(logs('containers', `llm-0_ml_server-${SERVER}.log`))
    addLog('llm-0', 'ml', UID, 'server', RESTARTED, 1)
    put(4300, RESTARTED)
    expect(holders(4300)).toEqual([{ gpu: '0', uuid: 'GPU-a', ...labelsOf('server', RESTARTED), value: 800 }])
  })

  test("logs are read through the kubelet's links, turned over as it does, and never those of the agents", async () => {
    const server = addLog('llm-0', 'ml', UID, 'server', SERVER)
    const namesake = addLog('warpwatch-ui', 'ml', UID, 'web', SIDECAR)
    const own = addLog('warpwatch-x7k2p', 'monitoring-gpu', OWN_UID, 'warpwatch', OWN)
    const cursors = createCursorStore({ directory: join(base, 'data'), log: quiet })
    const source = runSource(createLogFilesSource({ files: [], containerFiles: containerFiles(logs()), directory: directory(), cursors, interesting }))
    running.push(source)
    const faults = (): readonly string[] =>
      source.events.flatMap((event) => (event.type === 'log' && event.text.includes('FAULT') ? [`${event.origin.container ?? ''} ${event.text}`] : []))

    print(own, 'FAULT of another, told by the agent')
    print(server, 'FAULT-1')
    await poll(() => faults().length >= 1, { what: 'the first fault' })
    renameSync(server, `${server}.20261122-101500`)
    writeFileSync(server, '')
    print(server, 'FAULT-2')
    print(namesake, 'FAULT-3')
    await poll(() => faults().length >= 3, { what: () => `three faults, came ${faults().join('; ')}` })
    expect(faults().toSorted()).toEqual(['server FAULT-1', 'server FAULT-2', 'web FAULT-3'])
    expect(source.gaps()).toEqual([])
    await source.stop()
    running = []
    cursors.close()
  })
})
