// The unit: valid, tight, and under a running systemd an agent in its sandbox that sees all that an unbounded root sees.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { h100, scenarioText } from '../fakes/nvml/scenario.ts'
import { readPage } from '../setup/agent.ts'
import { packBundle } from '../setup/packed.ts'
import { poll } from '../setup/poll.ts'
import { startSystemdHost, systemdMissing, type SystemdHost } from '../setup/systemd-host.ts'

const root = join(import.meta.dirname, '../..')
const UNITS = [join(root, 'deploy/systemd/warpwatch.service'), join(root, 'deploy/systemd/user/warpwatch.service')]
const noAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0 ? undefined : 'needs systemd-analyze'

describe.skipIf(noAnalyze !== undefined)(`the units${noAnalyze === undefined ? '' : `; ${noAnalyze}`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-units-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  /** As installed, but with a program that is there. */
  const copied = (unit: string): string => {
    const copy = join(folder, basename(unit))
    writeFileSync(copy, readFileSync(unit, 'utf8').replace(/^ExecStart=\S+/m, 'ExecStart=/bin/sh'))
    return copy
  }

  test.each(UNITS)('systemd finds nothing to say about %s', (unit) => {
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', copied(unit)], { encoding: 'utf8' })
    expect({ status: verified.status, said: verified.stdout + verified.stderr }).toEqual({ status: 0, said: '' })
  })

  test('the sandbox stays as tight as it is: an exposure of 3.0 of 10 by systemd’s own count', () => {
    const judged = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=30', copied(UNITS[0] ?? '')], { encoding: 'utf8' })
    expect({ status: judged.status, said: judged.stdout.trim().split('\n').at(-1) }).toEqual({ status: 0, said: expect.stringContaining('Overall exposure') })
  })
})

const UUID = 'GPU-00000000-1111-2222-3333-000000000000' // what the stand-in for torch says that its device is
const library = fakeLibrary('full')
const missing =
  systemdMissing ?? (library === undefined ? 'needs a C compiler for the fake NVML' : existsSync('/usr/bin/python3') ? undefined : 'needs python3')
const SANDBOXED = 'http://127.0.0.1:9839'
const BARE = 'http://127.0.0.1:9840'

describe.skipIf(missing !== undefined)(`the service under systemd${missing === undefined ? '' : `; ${missing}`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-service-'))
  let host: SystemdHost
  let job = 0

  beforeAll(async () => {
    await packBundle(folder)
    host = await startSystemdHost()
    cpSync(folder, host.path('/srv/bundle'), { recursive: true })
    for (const part of ['probe/python', 'test/probe/standin']) cpSync(join(root, part), host.path(`/srv/job/${part}`), { recursive: true })
    copyFileSync(join(root, 'test/integration/probe-job.py'), host.path('/srv/job/job.py'))
    mkdirSync(host.path('/srv/job/asked'))
    chmodSync(host.path('/srv/job/asked'), 0o777)
    copyFileSync(library ?? '', host.path('/opt/libnvidia-ml.so.1'))
    // Another user's program with a /tmp of its own, which cannot reach the agent's socket: the agent must go to it.
    const paths = ['probe/python/sitecustomize', 'probe/python', 'test/probe/standin'].map((part) => `/srv/job/${part}`).join(':')
    const environment = [`PYTHONPATH=${paths}`, 'PYTHONDONTWRITEBYTECODE=1', 'WARPWATCH_PROBE=1'].map((one) => `--setenv=${one}`)
    const own = ['--property=PrivateTmp=yes', '--property=TemporaryFileSystem=/run', '--uid=nobody']
    await host.must('systemd-run', '--unit=trainer', ...own, ...environment, '/usr/bin/python3', '/srv/job/job.py', '/srv/job/asked')
    await poll(() => existsSync(host.path('/srv/job/asked/start-done')), { what: 'the job to start', deadlineMs: 20_000 })
    job = Number((await host.must('systemctl', 'show', '--value', '--property=MainPID', 'trainer')).trim())
    const gpus = [h100(0, { uuid: UUID, mem_used: 20 * 2 ** 30 }, [{ pid: job, bytes: 9 * 2 ** 30, type: 'C' }])]
    writeFileSync(host.path('/opt/scenario'), scenarioText({ values: { driver: '580.95.05' }, gpus }))
    const settings = ['FAKE_NVML_SCENARIO=/opt/scenario', 'WARPWATCH_GPU__LIBRARY=/opt/libnvidia-ml.so.1', 'WARPWATCH_LOGS__JOURNALD=true']
    writeFileSync(host.path('/etc/default/warpwatch'), `${settings.join('\n')}\n`, { mode: 0o600 })
  })
  afterAll(async () => {
    await host?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const show = async (property: string): Promise<string> => (await host.must('systemctl', 'show', '--value', `--property=${property}`, 'warpwatch')).trim()
  const journal = async (): Promise<string> => (await host.run('journalctl', '-u', 'warpwatch', '-n', '30', '--no-pager')).stdout
  /** Which series an agent has, and what it misses; nothing while it does not answer. */
  const seen = async (url: string): Promise<ReadonlySet<string>> => {
    const [page, reported] = [await host.get(`${url}/metrics`), await host.get(`${url}/api/v1/gaps`)]
    if (page === undefined || reported === undefined) return new Set()
    const gaps: unknown = JSON.parse(reported)
    // Counters of the agent's own and incidents tell what happened meanwhile, as other tests write to the kernel's log; not what can be seen.
    const samples = readPage(page).samples.filter(({ name }) => !/^warpwatch_(agent_(?!source_up)|incident)/.test(name))
    const series = samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
    return new Set([...series, ...(Array.isArray(gaps) ? gaps.map(({ metric, reason, source }) => `gap ${source} ${metric} ${reason}`) : [])])
  }
  const hears = (all: ReadonlySet<string>): boolean => [...all].some((series) => series.startsWith('warpwatch_allocator_allocated_bytes '))

  test('installs and runs', async () => {
    const said = await host.must('sh', '/srv/bundle/install.sh')
    expect(said).toContain('the service runs')
    await poll(async () => (await host.get(`${SANDBOXED}/readyz`))?.includes('"ready"'), { what: 'the service to be ready', deadlineMs: 20_000 })
    expect(await show('UnitFileState')).toBe('enabled')
  })

  test('sees as much as a root without a sandbox: GPU, processes of others, their probes, kernel log, journal', async () => {
    let sandboxed = new Set<string>() as ReadonlySet<string>
    await poll(async () => hears((sandboxed = await seen(SANDBOXED))), { what: 'the probe in the sandbox', deadlineMs: 40_000, everyMs: 500 })
    await host.must('systemctl', 'stop', 'warpwatch')
    const command = ['/usr/local/bin/warpwatch', 'run', '--listen', '127.0.0.1:9840', '--data-dir', '/srv/bare']
    await host.must('systemd-run', '--unit=bare', '--property=EnvironmentFile=/etc/default/warpwatch', ...command)
    let bare = new Set<string>() as ReadonlySet<string>
    await poll(async () => hears((bare = await seen(BARE))), { what: 'the probe without a sandbox', deadlineMs: 40_000, everyMs: 500 })
    const missed = (): readonly string[] => [...sandboxed].filter((one) => !bare.has(one))
    const lost = (): readonly string[] => [...bare].filter((one) => !sandboxed.has(one))
    const difference = (): string => `only in the sandbox: ${missed().join(', ')}; only without one: ${lost().join(', ')}`
    // What needs two readings, such as a rate, comes a moment later.
    const complete = async (): Promise<boolean> => {
      bare = await seen(BARE)
      return missed().length === 0
    }
    await poll(complete, { what: () => `the agent without a sandbox to see as much; ${difference()}`, deadlineMs: 30_000, everyMs: 500 })
    await host.must('systemctl', 'stop', 'bare')
    await host.must('systemctl', 'start', 'warpwatch')
    const nothingLost = async (): Promise<boolean> => {
      sandboxed = await seen(SANDBOXED)
      return lost().length === 0
    }
    await poll(nothingLost, { what: () => `the sandbox to hide nothing; ${difference()}`, deadlineMs: 40_000, everyMs: 500 })
    const kinds = [`"process":"python3`, `"unit":"trainer`, 'warpwatch_host_disk']
    expect(kinds.filter((part) => ![...sandboxed].some((series) => series.includes(part)))).toEqual([])
    expect([...sandboxed].filter((one) => /^gap (kernel|journal|allocator|containers)/.test(one))).toEqual([])
  })

  test('has no rights but those of its unit, and writes to its own folders only', async () => {
    const pid = await show('MainPID')
    const status = await host.must('cat', `/proc/${pid}/status`)
    // CAP_DAC_OVERRIDE 1, CAP_SYS_PTRACE 19, CAP_SYSLOG 34 of capability.h.
    expect(BigInt(`0x${/^CapEff:\s+(\w+)$/m.exec(status)?.[1] ?? ''}`)).toBe((1n << 1n) | (1n << 19n) | (1n << 34n))
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(status).toMatch(/^Seccomp:\s+2$/m)
    const touch = (path: string) => host.run('nsenter', `--target=${pid}`, '--mount', 'touch', path)
    for (const path of ['/etc/passwd', '/usr/bin/warpwatch', '/root/file', '/opt/warpwatch/file'])
      expect((await touch(path)).stderr).toContain('Read-only file system')
    expect((await touch('/var/lib/warpwatch/file')).status).toBe(0)
  })

  test('comes back after a kill, with its history', async () => {
    const before = await show('MainPID')
    await host.must('systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'warpwatch')
    await poll(async () => (await show('MainPID')) !== before && (await host.get(`${SANDBOXED}/readyz`))?.includes('"ready"'), {
      what: 'the service to come back',
      deadlineMs: 30_000,
      everyMs: 200,
    })
    const series = (await host.get(`${SANDBOXED}/api/v1/series?metric=gpu_memory_used_bytes&from=0&points=10`)) ?? ''
    expect(series).toContain(UUID)
  })

  test('keeps its folder private, and reads its configuration again on systemctl reload', async () => {
    expect((await host.must('sh', '-c', 'stat -c %a /var/lib/warpwatch; find /var/lib/warpwatch -name "*.db*" -perm /077')).trim()).toBe('700')
    const before = await show('MainPID')
    writeFileSync(host.path('/etc/warpwatch/warpwatch.yaml'), 'log: {level: debug}\n')
    await host.must('systemctl', 'reload', 'warpwatch')
    await poll(async () => (await journal()).includes('log.level changed'), { what: 'the reload in the journal' })
    expect([await show('MainPID'), await show('ActiveState')]).toEqual([before, 'active'])
  })

  test('ends with what is wrong in its configuration, and is not started again and again', async () => {
    writeFileSync(host.path('/etc/warpwatch/warpwatch.yaml'), 'http:\n  lisen: 127.0.0.1:1\n')
    await host.run('systemctl', 'restart', 'warpwatch')
    await poll(async () => (await show('ActiveState')) === 'failed', { what: 'the service to fail' })
    expect(await show('ExecMainStatus')).toBe('2')
    expect(await show('NRestarts')).toBe('0')
    // The journal is written behind the service's back.
    await poll(async () => (await journal()).includes('http.listen'), { what: 'the reason in the journal' })
  })
})
