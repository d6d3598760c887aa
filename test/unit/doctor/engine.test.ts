// Engines and containers as the doctor sees them, from a real HTTP server on a socket that speaks as Docker does.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findContainers } from '../../../agent/doctor/parts/containers.ts'
import { findEngines, firstEngine } from '../../../agent/doctor/parts/engine-facts.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { idOf, inspected, json, listed, startEngineServer, type EngineServer } from '../containers/engine-server.ts'

const INFO = {
  OperatingSystem: 'Ubuntu 24.04',
  CgroupDriver: 'systemd',
  CgroupVersion: '2',
  DefaultRuntime: 'runc',
  Runtimes: { runc: { path: 'runc' }, nvidia: { path: '/usr/bin/nvidia-container-runtime' }, odd: null },
  SecurityOptions: ['name=apparmor', 'name=seccomp,profile=builtin', 'name=rootless'],
  DockerRootDir: '/var/lib/docker',
  Driver: 'overlay2',
  CDISpecDirs: ['/etc/cdi', '/var/run/cdi'],
  DiscoveredDevices: [
    { Source: 'cdi', ID: 'nvidia.com/gpu=0' },
    { Source: 'other', ID: 'x' },
  ],
}
const VERSION = { Version: '28.3.0', Components: [{ Name: 'Engine' }] }
let server: EngineServer
beforeEach(async () => (server = await startEngineServer()))
afterEach(async () => await server.close())
const files = createHostFiles()
const find = async (timeoutMs = 60_000) => await findEngines([server.socketPath], {}, timeoutMs)

function serve(containers: Readonly<Record<string, object>> = {}, own: { readonly info?: object; readonly version?: object } = {}): void {
  server.handle = (path, answer) => {
    if (path === '/info') return json(answer, 200, own.info ?? INFO)
    if (path === '/version') return json(answer, 200, own.version ?? VERSION)
    if (path === '/containers/json')
      return json(
        answer,
        200,
        Object.keys(containers).map((id) => listed(id, 'x')),
      )
    const key = /^\/containers\/([^/]+)\/json$/.exec(path)?.[1] ?? ''
    const found = containers[key] ?? Object.values(containers).find((container) => 'Name' in container && container.Name === `/${key}`)
    return found === undefined ? json(answer, 404, { message: `No such container: ${key}` }) : json(answer, 200, found)
  }
}

describe('an engine', () => {
  test('tells what it is', async () => {
    serve()
    const engines = await find()
    expect(firstEngine(engines)).toMatchObject({
      kind: 'docker',
      version: '28.3.0',
      rootless: true,
      cgroupDriver: 'systemd',
      security: ['apparmor', 'seccomp', 'rootless'],
      cdiSpecFolders: ['/etc/cdi', '/var/run/cdi'],
      cdiDevices: ['nvidia.com/gpu=0'],
      dataRoot: '/var/lib/docker',
    })
    expect(firstEngine(engines)?.runtimes.get('nvidia')).toBe('/usr/bin/nvidia-container-runtime')
    engines.close()
  })
  test('that is old tells less, and Podman is Podman', async () => {
    serve({}, { info: {}, version: { Version: '5.1', Components: [{ Name: 'Podman Engine' }] } })
    const engines = await find()
    const facts = firstEngine(engines)
    expect(facts).toMatchObject({ kind: 'podman', version: '5.1', rootless: false })
    expect(facts?.cdiDevices).toBeUndefined()
    engines.close()
  })
  test('that does not answer is told in words, and one that is not there is not missed', async () => {
    server.handle = () => {} // never
    const silent = await find(300)
    expect(() => firstEngine(silent)).toThrow(/no complete answer within 300 ms/)
    await expect(findContainers(silent, files, undefined)).rejects.toThrow(/no complete answer/)
    const none = await findEngines(['/nowhere/docker.sock'], {})
    expect(firstEngine(none)).toBeUndefined()
    expect(await findContainers(none, files, undefined)).toEqual([])
  })
})

describe('containers', () => {
  const asked = inspected(idOf('1'), 'asked', {
    config: { Image: 'pytorch:2', Env: ['A=1', 'TOKEN=s=e', 'bad'], User: '1000:1000', Labels: { 'com.docker.compose.service': 'train' } },
    rest: {
      HostConfig: {
        Runtime: 'runc',
        DeviceRequests: [{ Driver: '', Count: -1, DeviceIDs: null, Capabilities: [['gpu']] }],
        Memory: 1024,
        ShmSize: 64 * 2 ** 20,
        IpcMode: 'private',
        Ulimits: [{ Name: 'memlock', Soft: -1, Hard: -1 }],
        SecurityOpt: ['no-new-privileges'],
        ReadonlyRootfs: true,
      },
      Mounts: [{ Type: 'bind', Source: '/mnt/c/x', Destination: '/models', RW: false }],
    },
  })
  const plain = inspected(idOf('2'), 'plain')
  const cuda = inspected(idOf('3'), 'cuda', { config: { Image: 'cuda', Env: ['CUDA_VERSION=12.4.1', 'NVIDIA_VISIBLE_DEVICES=all'] } })
  const byRuntime = inspected(idOf('4'), 'runtime', { config: { Env: ['NVIDIA_VISIBLE_DEVICES=0'] }, rest: { HostConfig: { Runtime: 'nvidia' } } })
  const all = { [idOf('1')]: asked, [idOf('2')]: plain, [idOf('3')]: cuda, [idOf('4')]: byRuntime }

  test('those that want a GPU, with all that matters of them', async () => {
    serve(all)
    const engines = await find()
    const found = await findContainers(engines, files, undefined)
    expect(found.map(({ name, wantsGpu }) => [name, wantsGpu])).toEqual([
      ['asked', 'asked'],
      ['cuda', 'image'],
      ['runtime', 'asked'],
    ])
    expect(found[0]).toMatchObject({
      image: 'pytorch:2',
      composeService: 'train',
      user: '1000:1000',
      memoryLimitBytes: 1024,
      shmSizeBytes: 64 * 2 ** 20,
      ulimits: [{ name: 'memlock', soft: -1, hard: -1 }],
      securityOptions: ['no-new-privileges'],
      readOnlyRoot: true,
      mounts: [{ type: 'bind', source: '/mnt/c/x', destination: '/models', writable: false }],
    })
    expect([...(found[0]?.env ?? [])]).toEqual([
      ['A', '1'],
      ['TOKEN', 's=e'],
    ])
    expect(found[0]?.files?.root).toBe('/proc/1/root')
    engines.close()
  })
  test('the one that was named, whatever it wants', async () => {
    serve(all)
    const engines = await find()
    expect((await findContainers(engines, files, 'plain')).map(({ name }) => name)).toEqual(['plain'])
    await expect(findContainers(engines, files, 'none')).rejects.toThrow(/expected a container of the name or id "none"/)
    await expect(findContainers(engines, files, '../info')).rejects.toThrow(/"\.\.\/info" is not the name/)
    engines.close()
  })
  test('of Docker Desktop live in a machine whose files are not here', async () => {
    serve(all, { info: { ...INFO, OperatingSystem: 'Docker Desktop' } })
    const engines = await find()
    expect((await findContainers(engines, files, 'asked'))[0]?.files).toBeUndefined()
    engines.close()
  })
})
