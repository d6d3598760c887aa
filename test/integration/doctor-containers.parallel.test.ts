// The doctor's checks of containers with a real Docker engine: containers that are right and wrong in each way, looked at through /proc. No GPU is needed: nodes are made by mknod.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as registry from '../../agent/doctor/checks/index.ts'
import type { CheckDefinition, Surroundings } from '../../agent/doctor/definition.ts'
import { findContainers, type DoctorContainer } from '../../agent/doctor/parts/containers.ts'
import { findEngines, firstEngine, type Engines } from '../../agent/doctor/parts/engine-facts.ts'
import { createHostFiles } from '../../agent/doctor/parts/host-files.ts'
import { runCheck } from '../../agent/doctor/runner.ts'
import type { Finding } from '../../agent/model/doctor.ts'
import { torchVersion } from '../fakes/doctor/container-host.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { programPath } from '../setup/engine-client.ts'
import { buildScene, nvmlFacts, type BuiltScene } from '../unit/doctor/scene.ts'

const missing = dockerMissing ?? (programPath('cc') === undefined ? 'needs a C compiler' : undefined)
const checks = Object.values<CheckDefinition>(registry).filter(({ group }) => group === 'container')
const SITE = '/usr/local/lib/python3.12/site-packages'

describe.skipIf(missing !== undefined)(`containers of a real engine${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let folder = ''
  let scene: BuiltScene
  let engines: Engines
  const ids = new Map<string, string>()

  const at = (...parts: readonly string[]): string => join(folder, ...parts)
  const write = (path: string, text: string): void => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  const library = (path: string, source: string, flags: readonly string[] = []): void => {
    mkdirSync(join(path, '..'), { recursive: true })
    write(at('source.c'), source)
    execFileSync('cc', ['-shared', '-fPIC', `-Wl,-soname,${path.split('/').at(-1) ?? ''}`, '-Wl,--no-as-needed', '-o', path, at('source.c'), ...flags])
  }
  /** PyTorch for those architectures, linked with two libraries that are in wheels beside it. */
  const pytorch = (site: string, architectures: string): void => {
    const wheel = (kind: string): string => `${site}/nvidia/${kind}/lib`
    library(`${wheel('cuda_runtime')}/libcudart.so.12`, 'int a;\n')
    library(`${wheel('cusparse')}/libcusparse.so.12`, 'int b;\n')
    library(`${site}/torch/lib/libtorch_python.so`, `const char *flags(void) { return "${architectures}"; }\n`)
    library(`${site}/torch/lib/libtorch_cuda.so`, 'int c;\n', [
      `-L${wheel('cuda_runtime')}`,
      `-L${wheel('cusparse')}`,
      '-l:libcudart.so.12',
      '-l:libcusparse.so.12',
      '-Wl,-rpath,$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN/../../nvidia/cusparse/lib',
    ])
    write(`${site}/torch/version.py`, torchVersion('2.6.0+cu124', '12.4'))
    library(`${site}/bitsandbytes/libbitsandbytes_cuda124.so`, 'int d;\n', [`-L${wheel('cuda_runtime')}`, '-l:libcudart.so.12'])
  }
  const node = (name: string) => ({ PathOnHost: at('dev', name), PathInContainer: `/dev/${name}`, CgroupPermissions: 'rwm' })
  const start = async (
    name: string,
    own: { readonly user?: string; readonly env?: readonly string[]; readonly host: Readonly<Record<string, unknown>> },
  ): Promise<void> => {
    const body = {
      Image: 'warpwatch-test:1',
      Cmd: ['sleep', '3600'],
      User: own.user ?? '',
      Env: own.env ?? [],
      NetworkDisabled: true,
      HostConfig: { NetworkMode: 'none', ...own.host },
    }
    const created = await docker.call('POST', `/containers/create?name=${name}`, body)
    const id = /"Id":"([0-9a-f]{64})"/.exec(created.body)?.[1]
    if (id === undefined) throw new Error(`expected a container, came ${created.body}`)
    ids.set(name, id)
    const started = await docker.call('POST', `/containers/${id}/start`)
    if (started.status >= 300) throw new Error(`${name}: ${started.body}`)
  }
  /** As the doctor sees it; no engine without NVIDIA's toolkit can be asked for a GPU, so that it was asked is said here. */
  const look = async (name: string): Promise<Surroundings> => {
    const files = createHostFiles()
    const asked = (container: DoctorContainer): DoctorContainer => ({ ...container, wantsGpu: 'asked' })
    const containers = async (): Promise<readonly DoctorContainer[]> => (await findContainers(engines, files, name)).map(asked)
    const seen = await containers()
    return { ...scene.around, files, engine: async () => await Promise.resolve(firstEngine(engines)), containers: async () => await Promise.resolve(seen) }
  }
  const findings = async (name: string): Promise<ReadonlyMap<string, readonly Finding[]>> => {
    // What a busy machine did not read within a check's two seconds is looked at again; what holds a check up does so each time.
    let late: readonly string[] = []
    return poll(
      async () => {
        const around = await look(name)
        const all = await Promise.all(checks.map(async (check) => [check.id, (await runCheck(check, around)).findings] as const))
        late = all.filter(([, found]) => found.some(({ summary }) => summary.includes('no answer within'))).map(([id]) => id)
        return late.length === 0 && new Map(all)
      },
      { what: () => `answers of ${late.join()}` },
    )
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'warpwatch-doctor-containers-'))
    mkdirSync(at('dev'))
    for (const [name, major, minor] of [
      ['nvidia0', 195, 0],
      ['nvidiactl', 195, 255],
      ['nvidia-uvm', 511, 0],
    ] as const)
      execFileSync('mknod', [at('dev', name), 'c', String(major), String(minor)])
    for (const name of ['libcuda.so.1', 'libnvidia-ml.so.1']) library(at('driver', name), 'int e;\n')
    pytorch(at('good'), 'sm_80 sm_90')
    pytorch(at('bad'), 'sm_50 sm_60')
    rmSync(at('bad/nvidia/cusparse'), { recursive: true })
    rmSync(at('bad/bitsandbytes/libbitsandbytes_cuda124.so'))
    write(at('bad/bitsandbytes/libbitsandbytes_cuda118.so'), '')
    // Everything that may mislead whoever looks.
    for (const path of ['trap/torch', 'trap/bitsandbytes']) mkdirSync(at(path), { recursive: true })
    execFileSync('mkfifo', [at('trap/torch/version.py'), at('trap/cache')])
    symlinkSync('loop', at('trap/loop'))
    symlinkSync('../../../../../../../../../../..', at('trap/nvidia'))
    symlinkSync(at('good/torch'), at('trap/elsewhere'))
    for (const name of ['cache', 'locked']) mkdirSync(at(name))
    chownSync(at('cache'), 1000, 1000)
    chmodSync(at('locked'), 0o755)

    scene = await buildScene({ nvml: nvmlFacts() })
    docker = await startDocker()
    engines = await findEngines([docker.socketPath], {})
    const driver = `${at('driver')}:/usr/lib64:ro`
    await start('good', {
      user: '1000:1000',
      env: ['HF_HOME=/cache', 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True', 'CUDA_VISIBLE_DEVICES=0', 'NVIDIA_VISIBLE_DEVICES=0'],
      host: {
        Devices: ['nvidia0', 'nvidiactl', 'nvidia-uvm'].map(node),
        ShmSize: 2 ** 30,
        Binds: [driver, `${at('good')}:${SITE}:ro`, `${at('cache')}:/cache`],
      },
    })
    await start('bad', {
      user: '1000:1000',
      env: ['HF_HOME=/locked', 'HF_HUB_OFFLINE=1', 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:true', 'CUDA_VISIBLE_DEVICES=0,0'],
      host: {
        Devices: ['nvidia0', 'nvidiactl'].map(node),
        ShmSize: 64 * 2 ** 20,
        Memory: 2 ** 30,
        Ulimits: [{ Name: 'nofile', Soft: 256, Hard: 256 }],
        Binds: [driver, `${at('bad')}:${SITE}:ro`, `${at('locked')}:/locked`],
      },
    })
    await start('trap', {
      env: ['HF_HOME=/usr/local/lib/python3.12/site-packages/loop'],
      host: { Binds: [`${at('trap')}:${SITE}`, `${at('trap/cache')}:/etc/ld.so.cache`] },
    })
  })
  afterAll(async () => {
    engines?.close()
    await docker?.close()
    scene?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  test('one that is right: nothing is complained of', async () => {
    const all = await findings('good')
    for (const [id, found] of all) for (const finding of found) expect(['pass', 'skipped'], `${id}: ${JSON.stringify(finding)}`).toContain(finding.status)
    const passed = [...all].filter(([, found]) => found.every(({ status }) => status === 'pass')).map(([id]) => id)
    expect(passed).toEqual(
      expect.arrayContaining([
        'container-gpu-reachable',
        'container-cuda-libraries',
        'container-torch-build',
        'container-bitsandbytes',
        'container-shared-memory',
        'container-ulimits',
        'container-caches',
      ]),
    )
  })

  test.each([
    ['container-gpu-reachable', 'fail', /nvidia-uvm/],
    ['container-cuda-libraries', 'fail', /libcusparse\.so\.12/],
    ['container-torch-build', 'fail', /compiled for sm_50 sm_60; NVIDIA H100 80GB HBM3 is sm_90/],
    ['container-bitsandbytes', 'fail', /no libbitsandbytes_cuda124\.so/],
    ['container-shared-memory', 'warn', /64 MiB/],
    ['container-memory', 'warn', /1\.0 GiB/],
    ['container-ulimits', 'warn', /256 files/],
    ['container-caches', 'fail', /\/locked belongs to 0:0 with mode 755/],
    ['container-hub', 'warn', /has no models/],
    ['container-allocator-settings', 'fail', /with a capital/],
    ['container-visible-devices', 'fail', /twice/],
  ] as const)('one that is wrong: %s', async (id, status, says) => {
    const found = (await findings('bad')).get(id) ?? []
    const reported = found.filter((finding) => finding.status === status).map(({ subject, summary }) => `${subject ?? ''}: ${summary}`)
    expect(reported.join('\n'), `found: ${JSON.stringify(found)}`).toMatch(says)
    expect(reported[0]).toMatch(/^bad: /)
  })

  test('pipes, loops and links out of its root are not followed, and hold nobody up', async () => {
    const all = await findings('trap')
    expect(JSON.stringify(all.get('container-torch-build'))).toMatch(/must be a file, not a pipe/)
    // What the link names is on the host, not in the container.
    expect(JSON.stringify([...all])).not.toContain('2.6.0+cu124')
  })

  test.skipIf(globSync('/sys/fs/cgroup/devices/cgroup.procs').length === 0)('one whose device rules were taken away', async () => {
    const [rules] = globSync(`/sys/fs/cgroup/devices/**/${ids.get('good') ?? ''}*/devices.deny`)
    expect(rules).toBeDefined()
    for (const minor of [0, 255]) writeFileSync(rules ?? '', `c 195:${minor} rwm`)
    expect(JSON.stringify((await findings('good')).get('container-gpu-reachable'))).toMatch(/device cgroup refuses 195:0, 195:255.*docker restart good/)
  })

  test('one that has ended is skipped in words', async () => {
    await docker.call('POST', `/containers/${ids.get('trap') ?? ''}/kill`)
    await docker.call('POST', `/containers/${ids.get('trap') ?? ''}/wait`)
    const all = await findings('trap')
    expect(JSON.stringify(all.get('container-cuda-libraries'))).toMatch(/it is exited: its files can only be seen while it runs/)
  })
})
