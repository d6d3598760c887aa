// WSL2: its settings are read as WSL reads them, Windows' own program is asked where NVML is silent, and a whole run over a guest complains of nothing that is well.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as registry from '../../../agent/doctor/checks/index.ts'
import { wsl2Driver } from '../../../agent/doctor/checks/wsl2/driver.ts'
import type { CheckDefinition } from '../../../agent/doctor/definition.ts'
import { installedDriverPackages } from '../../../agent/doctor/parts/linux-driver.ts'
import { NvmlError } from '../../../agent/doctor/parts/nvml-facts.ts'
import { parseWslSettings, readWslConfig, wslBytes } from '../../../agent/doctor/parts/wsl-settings.ts'
import { reportText } from '../../../agent/doctor/report-text.ts'
import { runCheck, runChecks } from '../../../agent/doctor/runner.ts'
import { IN_CONTAINER, NO_GPU, WSL } from './hosts.ts'
import { buildScene, engineFacts, gpuFacts, nvmlFacts, PATIENCE_MS, type BuiltScene, type Scene } from './scene.ts'

const patient = (check: CheckDefinition): CheckDefinition => ({ ...check, timeoutMs: PATIENCE_MS })
const checks = Object.values<CheckDefinition>(registry).map(patient)
async function build(scene: Scene): Promise<BuiltScene> {
  const built = await buildScene(scene)
  onTestFinished(built.remove)
  return built
}
const run = async (scene: Scene) => await runChecks({ checks, around: (await build(scene)).around, host: 'h' })

describe('settings', () => {
  test('are read as WSL reads them', () => {
    const text = '\ufeff# mine\r\n[WSL2]\r\nMemory = 8GB # half\r\nmemory=9GB\r\nkernel="C:\\\\linux # 2\\\\bzImage"\r\n[experimental]\r\nsparseVhd=true'
    expect(Object.fromEntries(parseWslSettings(text))).toEqual({
      'wsl2.memory': '8GB',
      'wsl2.kernel': 'C:\\linux # 2\\bzImage',
      'experimental.sparsevhd': 'true',
    })
  })
  test.each([
    ['8GB', 8 * 2 ** 30],
    ['8G', 8 * 2 ** 30],
    ['512M', 512 * 2 ** 20],
    ['0', 0],
    ['8', 8],
    ['8gb', undefined],
    ['8 GB', undefined],
    ['1.5GB', undefined],
    ['GB', undefined],
    ['50%', undefined],
    ['', undefined],
  ])('%j is %j bytes', (text, bytes) => expect(wslBytes(text)).toBe(bytes))

  test('are those of the user who started WSL, where PATH tells', async () => {
    const { around } = await build({
      files: { '/mnt/c/Users/one/.wslconfig': '[wsl2]\nmemory=1GB\n', '/mnt/c/Users/two words/.wslconfig': '[wsl2]\nmemory=2GB\n' },
    })
    expect(await readWslConfig(around.files, '/mnt/', '/usr/bin')).toBe('several')
    const path = '/usr/bin:/mnt/c/Windows:/mnt/c/Users/two words/AppData/Local/Microsoft/WindowsApps'
    expect(await readWslConfig(around.files, '/mnt/', path)).toEqual({ settings: new Map([['wsl2.memory', '2GB']]) })
    expect(await readWslConfig(around.files, '/none/', path)).toBeUndefined()
  })
})

test('packages of a driver are told from those of the toolkits', () => {
  const drivers = [
    'nvidia-driver-550',
    'nvidia-dkms-550-open',
    'libnvidia-compute-550',
    'libnvidia-ml1',
    'libcuda1',
    'cuda-drivers',
    'nvidia-smi',
    'linux-modules-nvidia-550-generic',
  ]
  const others = [
    'nvidia-container-toolkit',
    'libnvidia-container1',
    'libnvidia-container-tools',
    'cuda-toolkit-12-8',
    'nvidia-cuda-toolkit',
    'libnvidia-ml-dev',
    'libcudart12',
    'nvidia-settings',
    'nvidia-opencl-dev',
  ]
  const status = [...drivers, ...others].map((name) => `Package: ${name}\nArchitecture: amd64\nStatus: install ok installed\n`).join('\n')
  expect(installedDriverPackages(status)).toEqual(drivers)
})

describe("Windows' own program", () => {
  async function withWindows(version: string, nvml: NvmlError | undefined) {
    const { around, root } = await build({ files: WSL, ...(nvml === undefined ? {} : { nvml }) })
    // Programs are started by their path on this machine, so the drives are said to be in the scene's folder.
    const program = join(root, 'mnt/c/Windows/System32/nvidia-smi.exe')
    mkdirSync(join(program, '..'), { recursive: true })
    writeFileSync(program, `#!/bin/sh\n[ "$1" = --query-gpu=driver_version ] && printf '${version}\\r\\n'\n`)
    chmodSync(program, 0o755)
    writeFileSync(join(root, 'etc/wsl.conf'), `[automount]\nroot = ${root}/mnt\n`)
    return await runCheck(patient(wsl2Driver), around)
  }
  test('tells of a driver whose NVML crashes in WSL', async () => {
    const { status, findings } = await withWindows('555.85', new NvmlError('crash', 'the sampler ended by SIGSEGV'))
    expect(status).toBe('fail')
    expect(findings[0]?.summary).toMatch(/555\.85 of Windows is one of those whose NVML crashes/)
  })
  test('tells that the driver is well, and something else is not', async () => {
    const { status, findings } = await withWindows('566.36', undefined)
    expect(status).toBe('pass')
    expect(findings[0]?.summary).toMatch(/566\.36; why WSL does not see it/)
  })
  test('tells of one that is too old', async () => expect((await withWindows('472.12', undefined)).status).toBe('warn'))
})

describe('a whole run', () => {
  const laptop = nvmlFacts({
    driverVersion: '566.36',
    gpus: [gpuFacts({ name: 'NVIDIA GeForce RTX 4070 Laptop GPU', values: { memory_total_bytes: 8 * 2 ** 30 } })],
  })
  const guest: Scene = {
    files: {
      ...WSL,
      '/proc/1/root': { link: '/' },
      '/proc/uptime': '1000.00 900.00\n',
      '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
      '/run/systemd/container': 'wsl\n',
      '/proc/meminfo': 'MemTotal:       16225508 kB\nSwapTotal:       4194304 kB\n',
      '/mnt/c/Users/someone/.wslconfig': '[wsl2]\r\nmemory=16GB\r\n',
      '/mnt/c/Windows/System32/nvidia-smi.exe': 'MZ',
    },
    env: { HOME: '/home/someone' },
    space: {
      '/': { totalBytes: 1_007 * 2 ** 30, availableBytes: 900 * 2 ** 30, type: 1 },
      '/mnt/c': { totalBytes: 475 * 2 ** 30, availableBytes: 200 * 2 ** 30, type: 2 },
    },
  }
  const wsl2 = (report: Awaited<ReturnType<typeof run>>) => report.checks.filter(({ group }) => group === 'wsl2')

  test.each<readonly [string, Scene]>([
    ['a guest with a GPU and Docker Desktop', { ...guest, nvml: laptop, engine: engineFacts({ operatingSystem: 'Docker Desktop' }) }],
    ['a guest with a GPU, without an engine', { ...guest, nvml: laptop }],
    [
      'a guest without a GPU',
      {
        files: {
          '/proc/sys/kernel/osrelease': '6.6.87.2-microsoft-standard-WSL2\n',
          '/proc/1/root': { link: '/' },
          '/sys/fs/cgroup/cgroup.controllers': 'cpu\n',
        },
      },
    ],
    ['a container of a guest', { files: { ...guest.files, '/run/systemd/container': 'docker\n', ...IN_CONTAINER, '/dev/kmsg': '' } }],
  ])('over %s: no complaint', async (_, scene) => {
    const report = await run(scene)
    expect(
      report.checks.flatMap(({ id, findings }) => findings.filter(({ status }) => status === 'fail' || status === 'warn').map((finding) => [id, finding])),
    ).toEqual([])
    expect(wsl2(report).find(({ id }) => id === 'wsl2-version')?.status).toBe('pass')
  })
  test('over a guest with a GPU: every part of the group looks', async () => {
    const report = await run({ ...guest, nvml: laptop, engine: engineFacts({ operatingSystem: 'Docker Desktop' }) })
    expect(wsl2(report).length).toBeGreaterThan(7)
    expect(wsl2(report).filter(({ status }) => status !== 'pass')).toEqual([])
  })
  test('elsewhere: one line for the whole group', async () => {
    const report = await run({ files: NO_GPU })
    expect(wsl2(report).every(({ status }) => status === 'skipped')).toBe(true)
    const lines = reportText(report, { verbose: false })
      .split('\n')
      .filter((line) => line.includes('wsl2'))
    expect(lines).toEqual([expect.stringMatching(/^skip {2}wsl2: (?=.*\bwsl2-version\b).*\(this is not WSL\)$/)])
  })
  test('names of people in Windows are not told', async () => {
    const report = await run({ ...guest, files: { ...guest.files, '/mnt/c/Users/someone/.wslconfig': '[wsl2]\nmemory=64GB\n' } })
    expect(wsl2(report).find(({ id }) => id === 'wsl2-memory')?.status).toBe('warn')
    expect(JSON.stringify(wsl2(report).filter(({ id }) => id !== 'wsl2-model-cache'))).not.toContain('someone')
  })
})
