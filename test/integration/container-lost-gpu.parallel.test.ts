// A real container whose access to its GPU is taken away while it runs, by the rules of its device cgroup and by its device node: told with its name, and over
// when it is given back. The devices have NVIDIA's numbers, and nobody behind them.
// Long: about 100 s.
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100 } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { shortly, watchIncidents } from '../setup/incident-watch.ts'
import { poll } from '../setup/poll.ts'

const missing = dockerMissing ?? (compiler === undefined ? 'needs a C compiler' : undefined)
const hasV1 = globSync('/sys/fs/cgroup/devices/cgroup.procs').length > 0

describe.skipIf(missing !== undefined)(`a container that loses its GPU${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  let incidents: ReturnType<typeof watchIncidents>
  let [folder, id] = ['', '']
  const node = (path: string, minor: number): void => void execFileSync('mknod', [path, 'c', '195', String(minor)])

  beforeAll(async () => {
    docker = await startDocker()
    folder = mkdtempSync(join(tmpdir(), 'warpwatch-devices-'))
    const devices = [
      ['nvidia0', 0],
      ['nvidia1', 1],
      ['nvidiactl', 255],
    ] as const
    for (const [name, minor] of devices) node(join(folder, name), minor)
    const Devices = devices.map(([name]) => ({ PathOnHost: join(folder, name), PathInContainer: `/dev/${name}`, CgroupPermissions: 'rwm' }))
    id = await docker.run({ name: 'trainer', command: ['sleep', '600'], host: { Devices } })
    await docker.run({ name: 'web', command: ['sleep', '600'] })
    agent = await startAgent({
      scenario: eightH100(),
      config: 'detectors: { container-lost-gpu: { for_seconds: 1, clear_seconds: 1 } }\n',
      env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath, WARPWATCH_LOGS__CONTAINERS: 'false' },
    })
    incidents = watchIncidents(agent, new Set(['container_lost_gpu']))
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await docker?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const accessible = async (gpu: number): Promise<number | undefined> =>
    (await agent.metrics()).value('warpwatch_container_gpu_accessible', { container: 'trainer', gpu: String(gpu) })
  const fired = async (): Promise<void> => {
    const found = await incidents.reached('the loss', (all) => all.some(({ status }) => status === 'firing'))
    const [reported] = found.filter(({ status }) => status === 'firing')
    expect(reported).toMatchObject({ kind: 'container_lost_gpu', severity: 'critical', facts: { gpus_lost: ['0'] }, title: 'Container trainer lost GPU 0' })
    expect(reported?.subject.container).toMatchObject({ name: 'trainer', id: id.slice(0, 12) })
    expect(reported === undefined ? '' : shortly(reported)).toBe('container_lost_gpu trainer')
  }
  const healed = async (): Promise<void> =>
    void (await incidents.reached('its end', (all) => all.length > 0 && all.every(({ status }) => status === 'resolved')))

  test.skipIf(!hasV1)(`the rules of its device cgroup${hasV1 ? '' : ' (needs the devices controller of cgroup v1)'}`, async () => {
    const [cgroup] = globSync(`/sys/fs/cgroup/devices/**/*${id}*`)
    if (cgroup === undefined) throw new Error(`expected the device cgroup of ${id}, found none`)
    await poll(async () => (await accessible(0)) === 1 && (await accessible(1)) === 1, { what: 'both to be reached', deadlineMs: 40_000 })
    expect(await incidents.all()).toEqual([])
    writeFileSync(join(cgroup, 'devices.deny'), 'c 195:0 rw')
    await fired()
    expect([await accessible(0), await accessible(1)]).toEqual([0, 1])
    writeFileSync(join(cgroup, 'devices.allow'), 'c 195:0 rw')
    await healed()
  })

  test('its device node; a container that ends has lost nothing any more', async () => {
    const before = (await incidents.all()).length
    const inside = `/proc/${await docker.inspectPid(id)}/root/dev/nvidia0`
    await poll(async () => (await agent.metrics()).value('warpwatch_container_gpu_node', { container: 'trainer', gpu: '0' }) === 1, {
      what: 'its node to be seen',
      deadlineMs: 40_000,
    })
    rmSync(inside)
    await fired()
    node(inside, 0)
    await healed()
    rmSync(inside)
    await fired()
    await docker.call('DELETE', `/containers/${id}?force=1`)
    await incidents.reached('its end', (all) => all.every(({ status }) => status === 'resolved'))
    expect((await incidents.all()).map(shortly)).toEqual(Array.from({ length: before + 2 }, () => 'container_lost_gpu trainer'))
  })
})
