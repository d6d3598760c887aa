// install.sh on real file systems: as an ordinary user without systemd, and as root on a host with one.
// Long: about 60 s.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { VERSION } from '../../agent/lib/version.ts'
import { SHORT_PAST } from '../setup/agent.ts'
import { archiveOf, asVersion, packBundle, writeSums } from '../setup/packed.ts'
import { poll } from '../setup/poll.ts'
import { startSystemdHost, systemdMissing, type SystemdHost } from '../setup/systemd-host.ts'

const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64'
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-install-'))
/** Archive, sums and script, as `npm run bundle` leaves them. */
const whole = join(folder, 'whole')
/** The same with a script in the place of Node, which calls the one copy of it: what is copied, summed and checked two dozen times is 2 MB instead of 130. */
const carried = join(folder, 'carried')
const title = `warpwatch-${VERSION}-linux-x64`
const [real, light] = [join(folder, title), join(folder, 'light', title)]
const unpacked = (version: string): string => join(folder, `unpacked-${version}`)
const LATER = ['9.8.0', '9.9.0'] as const

beforeAll(async () => {
  if (!isLinuxX64) return
  await packBundle(whole)
  execFileSync('tar', ['-C', folder, '-xzf', join(whole, archiveOf(VERSION))])
  const bare = join(folder, 'bare')
  cpSync(real, bare, { recursive: true, filter: (path) => path !== join(real, 'bin/node') })
  writeFileSync(join(bare, 'bin/node'), `#!/bin/sh\nexec ${join(real, 'bin/node')} "$@"\n`, { mode: 0o755 })
  asVersion(bare, VERSION, light)
  mkdirSync(carried)
  execFileSync('tar', ['-C', join(folder, 'light'), '-czf', join(carried, archiveOf(VERSION)), title])
  copyFileSync(join(whole, 'install.sh'), join(carried, 'install.sh'))
  writeSums(carried, [archiveOf(VERSION), 'install.sh'])
  for (const version of [VERSION, ...LATER]) asVersion(bare, version, unpacked(version))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(!isLinuxX64)('an ordinary user, without systemd', () => {
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  let home = ''
  beforeEach(() => {
    home = mkdtempSync(join(folder, 'home-'))
    if (uid !== undefined) chownSync(home, uid, uid)
    return () => rmSync(home, { recursive: true, force: true })
  })
  const env = (): NodeJS.ProcessEnv => ({ HOME: home, PATH: `/usr/bin:/bin:${home}/.local/bin` })
  const as = uid === undefined ? {} : { uid, gid: uid }
  const run = (command: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: home, env: env(), encoding: 'utf8', ...as })
    return { status, stdout, stderr }
  }
  const install = (script: string, ...args: readonly string[]) => run('sh', script, ...args)
  const at = (...parts: readonly string[]): string => join(home, ...parts)
  const current = (): string => readlinkSync(at('.local/lib/warpwatch/current'))
  const versions = (): readonly string[] =>
    readdirSync(at('.local/lib/warpwatch/versions'))
      .map((name) => name.replace(/-[0-9a-f]{12}$/, ''))
      .toSorted()
  const installed = (): string => run('warpwatch', '--version').stdout.trim()

  test('installs from the archive beside the script, and says what there is', () => {
    const { status, stdout, stderr } = install(join(whole, 'install.sh'))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(`${VERSION} is in ${at('.local/lib/warpwatch/current')}`)
    expect(stdout).toContain('systemd does not run here')
    expect(installed()).toBe(VERSION)
    expect(run('warpwatch', 'config', '--check', '--config', at('.config/warpwatch/warpwatch.yaml')).status).toBe(0)
    expect(existsSync(at('.local/lib/warpwatch/current/probe/python/sitecustomize/sitecustomize.py'))).toBe(true)
  })

  test('once more changes nothing, and mends what is broken', () => {
    install(join(carried, 'install.sh'))
    const [place, inode] = [current(), statSync(at('.local/lib/warpwatch/current/')).ino]
    writeFileSync(at('.config/warpwatch/warpwatch.yaml'), 'host_name: mine\n')
    expect(install(join(carried, 'install.sh')).status).toBe(0)
    expect([current(), statSync(at('.local/lib/warpwatch/current/')).ino]).toEqual([place, inode])
    expect(readFileSync(at('.config/warpwatch/warpwatch.yaml'), 'utf8')).toBe('host_name: mine\n')
    rmSync(at('.local/lib/warpwatch/current/dist/main.js'))
    expect(install(join(carried, 'install.sh')).status).toBe(0)
    expect(installed()).toBe(VERSION)
  })

  test('an upgrade leaves the running agent whole and the version before for the way back', async () => {
    install(join(carried, 'install.sh'))
    const agent = spawn(at('.local/bin/warpwatch'), ['--simulate', '--listen', '127.0.0.1:0'], {
      env: { ...env(), ...SHORT_PAST },
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...as,
    })
    let said = ''
    agent.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    try {
      const url = await poll(() => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0], { what: () => `the agent; it said ${said}`, deadlineMs: 20_000 })
      expect(install(join(unpacked('9.8.0'), 'install.sh')).status).toBe(0)
      expect(installed()).toBe('9.8.0')
      expect(versions()).toEqual([VERSION, '9.8.0'])
      // A file that is only read when someone asks.
      expect(await (await fetch(`${url}/runbooks/cuda_oom`)).text()).toContain('memory')
    } finally {
      agent.kill('SIGKILL')
      await once(agent, 'exit')
    }
    install(join(unpacked('9.9.0'), 'install.sh'))
    expect(versions()).toEqual(['9.8.0', '9.9.0'])
    expect(install(join(unpacked('9.8.0'), 'install.sh')).status).toBe(0)
    expect([installed(), versions()]).toEqual(['9.8.0', ['9.8.0', '9.9.0']])
  })

  describe('refuses, and leaves what was there', () => {
    const copied = (): string => {
      const copy = at('copy')
      cpSync(carried, copy, { recursive: true })
      return copy
    }
    /** What the attempt said, and what it left. */
    const attempt = (script: string, ...args: readonly string[]) => {
      const { status, stderr } = install(script, ...args)
      return { status, stderr, left: [...readdirSync(at('.local/lib/warpwatch')), ...versions()], linked: existsSync(at('.local/bin/warpwatch')) }
    }
    const refused = (...words: readonly string[]) => ({ status: 1, stderr: expect.stringMatching(words.join('.*')), left: ['versions'], linked: false })

    test('an archive that does not match its sum', () => {
      appendFileSync(join(copied(), archiveOf(VERSION)), '\n')
      expect(attempt(at('copy/install.sh'))).toEqual(refused(archiveOf(VERSION), 'do not match SHA256SUMS'))
    })
    test('an archive without sums, or that they do not name', () => {
      rmSync(join(copied(), 'SHA256SUMS'))
      expect(attempt(at('copy/install.sh'))).toEqual(refused('expected the sums of the archive beside it, found none'))
      writeFileSync(at('copy/SHA256SUMS'), `${'0'.repeat(64)}  other.tar.gz\n`)
      expect(attempt(at('copy/install.sh'), at('copy', archiveOf(VERSION)))).toEqual(refused(`expected a line for ${archiveOf(VERSION)}`))
    })
    test('an unpacked bundle in which a file was changed or is gone', () => {
      cpSync(unpacked(VERSION), at('bundle'), { recursive: true })
      appendFileSync(at('bundle/dist/main.js'), '\n// changed\n')
      expect(attempt(at('bundle/install.sh'))).toEqual(refused('these differ: dist/main.js', 'nothing was installed'))
      rmSync(at('bundle/dist/main.js'))
      expect(attempt(at('bundle/install.sh'))).toEqual(refused('these differ: dist/main.js'))
    })
    test('several archives, of which one would be a guess', () => {
      copyFileSync(join(copied(), archiveOf(VERSION)), at('copy', archiveOf('9.8.0')))
      expect(install(at('copy/install.sh'))).toMatchObject({ status: 1, stderr: expect.stringContaining('found 2; name the one') })
      expect(install(at('copy/install.sh'), at('copy', archiveOf(VERSION))).status).toBe(0)
    })
    test('flags that it does not know or that make no sense', () => {
      for (const [flags, word] of [
        [['--prefx', '/x'], '--prefx'],
        [['--purge'], '--uninstall'],
        [['--prefix', 'here'], 'absolute path'],
        [['--prefix', '/a b'], '/a b'],
        [['--bin'], '--bin'],
      ] as const)
        expect(install(join(carried, 'install.sh'), ...flags)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(word) })
    })
  })

  test('puts it where it is told, and leaves a stranger’s command alone', () => {
    mkdirSync(at('tools'))
    writeFileSync(at('tools/warpwatch'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
    const reported = install(join(carried, 'install.sh'), '--prefix', at('apps/ww'), '--bin', at('tools'))
    expect(reported).toMatchObject({ status: 0, stdout: expect.stringContaining('is not ours and stays') })
    expect(run(at('apps/ww/current/warpwatch'), '--version').stdout).toBe(`${VERSION}\n`)
    expect(install(at('apps/ww/current/install.sh'), '--uninstall', '--bin', at('tools')).status).toBe(0)
    expect([existsSync(at('apps/ww')), readFileSync(at('tools/warpwatch'), 'utf8')]).toEqual([false, '#!/bin/sh\necho mine\n'])
  })

  test('goes, by its own copy of the script, without history and configuration or with them', () => {
    install(join(carried, 'install.sh'))
    run('mkdir', '-p', at('.local/state/warpwatch'))
    const gone = install(at('.local/lib/warpwatch/current/install.sh'), '--uninstall')
    expect(gone).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(`${at('.local/state/warpwatch')} stays`) })
    expect([existsSync(at('.local/lib/warpwatch')), existsSync(at('.local/bin/warpwatch'))]).toEqual([false, false])
    expect(existsSync(at('.config/warpwatch/warpwatch.yaml'))).toBe(true)
    expect(install(join(carried, 'install.sh'), '--uninstall', '--purge').stdout).toContain('nothing is installed')
    expect([existsSync(at('.local/state/warpwatch')), existsSync(at('.config/warpwatch'))]).toEqual([false, false])
  })
})

describe.skipIf(systemdMissing !== undefined)(`root, with systemd${systemdMissing === undefined ? '' : `; ${systemdMissing}`}`, () => {
  let host: SystemdHost
  const URL = 'http://127.0.0.1:9839'
  /** Of the Node that runs, once it serves. */
  const version = async (): Promise<string | undefined> => {
    const pid = (await host.must('systemctl', 'show', '--value', '--property=MainPID', 'warpwatch')).trim()
    const program = (await host.run('readlink', `/proc/${pid}/exe`)).stdout
    return (await host.get(`${URL}/readyz`))?.includes('"ready"') === true ? /versions\/(.+)-[0-9a-f]{12}\//.exec(program)?.[1] : undefined
  }
  const state = async (what: string): Promise<string> => (await host.run('systemctl', what, 'warpwatch')).stdout.trim()
  beforeAll(async () => {
    host = await startSystemdHost()
    cpSync(real, host.path(`/srv/${VERSION}`), { recursive: true })
    for (const each of LATER) asVersion(real, each, host.path(`/srv/${each}`))
  })
  afterAll(async () => host?.close())

  test('is a service from the first command, and of the new version after the next', async () => {
    await host.must('sh', `/srv/${VERSION}/install.sh`)
    expect([await state('is-enabled'), await state('is-active')]).toEqual(['enabled', 'active'])
    await poll(async () => (await version()) === VERSION, { what: 'the first version to serve', deadlineMs: 20_000, everyMs: 200 })
    writeFileSync(host.path('/etc/warpwatch/warpwatch.yaml'), 'host_name: renamed\n')
    await host.must('sh', '/srv/9.8.0/install.sh')
    await poll(async () => (await version()) === '9.8.0', { what: 'the second version to serve', deadlineMs: 20_000, everyMs: 200 })
    expect(await host.get(`${URL}/api/v1/host`)).toContain('renamed')
  })

  test('what was stopped and disabled stays so over an upgrade', async () => {
    await host.must('systemctl', 'disable', '--now', 'warpwatch')
    expect(await host.must('sh', '/srv/9.9.0/install.sh')).toContain('stopped, as it was')
    expect([await state('is-enabled'), await state('is-active')]).toEqual(['disabled', 'inactive'])
    await host.must('systemctl', 'enable', '--now', 'warpwatch')
    await poll(async () => (await version()) === '9.9.0', { what: 'the third version to serve', deadlineMs: 20_000, everyMs: 200 })
  })

  test('goes with its unit; history and configuration only when that is asked for', async () => {
    const said = await host.must('sh', '/opt/warpwatch/current/install.sh', '--uninstall')
    expect(said).toContain('/var/lib/warpwatch stays')
    expect(await state('is-active')).toBe('inactive')
    const there = (): readonly string[] =>
      [
        '/opt/warpwatch',
        '/usr/local/bin/warpwatch',
        '/etc/systemd/system/warpwatch.service',
        '/run/warpwatch',
        '/var/lib/warpwatch/history.db',
        '/etc/warpwatch/warpwatch.yaml',
      ].filter((path) => existsSync(host.path(path)))
    expect(there()).toEqual(['/var/lib/warpwatch/history.db', '/etc/warpwatch/warpwatch.yaml'])
    await host.must('sh', `/srv/${VERSION}/install.sh`, '--uninstall', '--purge')
    expect(there()).toEqual([])
  })

  test('an ordinary user has a service of its own, with its own configuration', async () => {
    await host.must('useradd', '--create-home', 'tester')
    const uid = (await host.must('id', '-u', 'tester')).trim()
    await host.must('install', '-d', '-o', 'tester', '-m', '700', `/run/user/${uid}`)
    await host.must('systemctl', 'start', `user@${uid}`)
    const as = ['--reuid=tester', '--regid=tester', '--init-groups', 'env', 'HOME=/home/tester', `XDG_RUNTIME_DIR=/run/user/${uid}`]
    const said = await host.must('setpriv', ...as, 'sh', `/srv/${VERSION}/install.sh`)
    expect(said).toContain('systemctl --user status warpwatch')
    writeFileSync(host.path('/home/tester/.config/warpwatch/warpwatch.yaml'), 'host_name: from-home\n')
    await host.must('setpriv', ...as, 'systemctl', '--user', 'restart', 'warpwatch')
    await poll(async () => (await host.get(`${URL}/api/v1/host`))?.includes('from-home'), { what: 'the service of a user', deadlineMs: 20_000, everyMs: 200 })
    await host.must('setpriv', ...as, 'sh', '/home/tester/.local/lib/warpwatch/current/install.sh', '--uninstall')
    expect((await host.run('setpriv', ...as, 'systemctl', '--user', 'is-active', 'warpwatch')).stdout).toBe('inactive\n')
    const left = await host.must('find', '/home/tester/.local', '/home/tester/.config', '-name', '*warpwatch*')
    expect(left.trim().split('\n').toSorted()).toEqual([
      '/home/tester/.config/warpwatch',
      '/home/tester/.config/warpwatch/warpwatch.yaml',
      '/home/tester/.local/state/warpwatch',
    ])
  })
})
