// The Debian package: its form, and its whole life on a host with systemd: installed, upgraded, removed, purged.
// Long: about 60 s.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { VERSION } from '../../agent/lib/version.ts'
import { pack } from '../setup/packed.ts'
import { poll } from '../setup/poll.ts'
import { startSystemdHost, systemdMissing, type SystemdHost } from '../setup/systemd-host.ts'

const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
const missing = process.platform !== 'linux' || process.arch !== 'x64' ? 'needs linux-x64' : has('dpkg-deb') ? undefined : 'needs dpkg-deb'
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-deb-test-'))
const made = join(folder, `warpwatch_${VERSION}_amd64.deb`)
const NEWER = '9.9.0'
const newer = join(folder, `warpwatch_${NEWER}_amd64.deb`)
const AT = '1700000000'

beforeAll(() => {
  if (missing === undefined) pack('deb', folder, { SOURCE_DATE_EPOCH: AT })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(missing !== undefined)(`the Debian package${missing === undefined ? '' : `; ${missing}`}`, () => {
  const ask = (...args: readonly string[]): string => execFileSync('dpkg-deb', args, { encoding: 'utf8' })

  test('says what it is and where its files go, all of root', () => {
    expect(ask('--field', made, 'Package', 'Version', 'Architecture', 'Depends')).toBe(
      `Package: warpwatch\nVersion: ${VERSION}\nArchitecture: amd64\nDepends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11)\n`,
    )
    // Nobody's name is made up while the owner has not given one.
    const { maintainer, homepage } = z
      .record(z.string(), z.string())
      .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../deploy/owner.json'), 'utf8')))
    const given = (value: string | undefined): string | undefined => (value?.startsWith('FILL IN') ? undefined : value)
    expect(ask('--field', made, 'Maintainer')).toBe(`${given(maintainer) ?? 'Local build <nobody@local-build.invalid>'}\n`)
    expect(ask('--field', made, 'Homepage')).toBe(`${given(homepage) ?? ''}\n`)
    const listed = ask('--contents', made).trim().split('\n')
    expect(listed.filter((line) => !line.includes(' root/root '))).toEqual([])
    const paths = listed.map((line) => line.split(/\s+/).slice(5).join(' '))
    for (const path of [
      './usr/bin/warpwatch -> ../lib/warpwatch/warpwatch',
      './usr/lib/warpwatch/bin/node',
      './usr/lib/warpwatch/probe/python/sitecustomize/sitecustomize.py',
      './lib/systemd/system/warpwatch.service',
      './etc/warpwatch/warpwatch.yaml',
      './usr/share/man/man1/warpwatch.1.gz',
      './usr/share/man/man1/warpwatch-explain.1.gz',
      './usr/share/bash-completion/completions/warpwatch',
      './usr/share/zsh/vendor-completions/_warpwatch',
      './usr/share/fish/vendor_completions.d/warpwatch.fish',
      './usr/share/doc/warpwatch/copyright',
      './usr/share/doc/warpwatch/docs/install.md',
    ])
      expect(paths).toContain(path)
    expect(ask('--info', made, 'conffiles')).toBe('/etc/warpwatch/warpwatch.yaml\n')
    execFileSync('dpkg-deb', ['--raw-extract', made, join(folder, 'raw')])
    expect(spawnSync('md5sum', ['--check', '--quiet', 'DEBIAN/md5sums'], { cwd: join(folder, 'raw'), encoding: 'utf8' })).toMatchObject({ status: 0 })
  })

  test('does not depend on who packs it, or when', () => {
    const sums = (file: string): string => ask('--info', file, 'md5sums')
    const packed = (): string => {
      const out = mkdtempSync(join(folder, 'again-'))
      pack('deb', out, { SOURCE_DATE_EPOCH: AT })
      return join(out, `warpwatch_${VERSION}_amd64.deb`)
    }
    // Someone may have changed a source meanwhile: then two that were made one after the other are compared.
    let [one, other] = [made, packed()]
    for (let again = 0; again < 2 && sums(one) !== sums(other); again++) [one, other] = [other, packed()]
    expect(readFileSync(other).equals(readFileSync(one)), `${one} and ${other}`).toBe(true)
  })

  test.skipIf(!has('lintian'))('lintian finds no error and nothing to warn of (needs lintian)', () => {
    // It warns of packages that are not compressed, as those for tests are.
    const packed = join(folder, 'packed.deb')
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Zgzip', '-z1', join(folder, 'raw'), packed], { stdio: 'ignore' })
    const judged = spawnSync('lintian', ['--fail-on', 'error,warning', packed], { encoding: 'utf8' })
    expect(judged.stdout).toBe('')
    expect(judged.status).toBe(0)
  })

  test.skipIf(!has('man'))('its manual page is one (needs man)', () => {
    const page = spawnSync('man', ['--local-file', '--warnings', join(folder, 'raw/usr/share/man/man1/warpwatch.1.gz')], { encoding: 'utf8' })
    expect(page.stderr).toBe('')
    expect(page.stdout).toMatch(/^NAME\n\s+warpwatch\s+-\s+flight/m)
    expect(page.stdout).toContain('--listen ADDRESS:PORT')
  })
})

const notHere = missing ?? systemdMissing
describe.skipIf(notHere !== undefined)(`its life${notHere === undefined ? '' : `; ${notHere}`}`, () => {
  let host: SystemdHost
  const URL = 'http://127.0.0.1:9839'
  const dpkg = async (...args: readonly string[]): Promise<string> => host.must('dpkg', ...args)
  const state = async (what: string): Promise<string> => (await host.run('systemctl', what, 'warpwatch')).stdout.trim()
  const pid = async (): Promise<string> => (await host.must('systemctl', 'show', '--value', '--property=MainPID', 'warpwatch')).trim()
  const ready = async (): Promise<unknown> =>
    poll(async () => (await host.get(`${URL}/readyz`))?.includes('"ready"'), { what: 'the service to be ready', deadlineMs: 20_000, everyMs: 200 })
  const exists = (path: string): boolean => existsSync(host.path(path))
  const CONFIG = '/etc/warpwatch/warpwatch.yaml'

  beforeAll(async () => {
    // The same with a higher version and another example: what a release brings.
    const raw = join(folder, 'newer')
    execFileSync('dpkg-deb', ['--raw-extract', made, raw])
    for (const file of ['DEBIAN/control', 'etc/warpwatch/warpwatch.yaml'])
      writeFileSync(
        join(raw, file),
        readFileSync(join(raw, file), 'utf8')
          .replace(`Version: ${VERSION}`, `Version: ${NEWER}`)
          .replace(/^# Warpwatch's/, "# The new Warpwatch's"),
      )
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Znone', raw, newer], { stdio: 'ignore' })
    host = await startSystemdHost()
    for (const file of [made, newer]) copyFileSync(file, host.path(`/srv/${file.slice(folder.length + 1)}`))
  })
  afterAll(async () => host?.close())
  const [old, next] = [`/srv/warpwatch_${VERSION}_amd64.deb`, `/srv/warpwatch_${NEWER}_amd64.deb`]

  test('it does not come beside a bundle, and says how that goes', async () => {
    const unit = '/etc/systemd/system/warpwatch.service'
    writeFileSync(host.path(unit), '[Service]\nExecStart=/opt/warpwatch/current/warpwatch run\n')
    const refused = await host.run('dpkg', '--install', old)
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain('  sh /opt/warpwatch/current/install.sh --uninstall\n')
    expect(exists('/usr/lib/warpwatch')).toBe(false)
    rmSync(host.path(unit))
  })

  test('installed, it is a service that runs', async () => {
    await dpkg('--install', old)
    await ready()
    expect([await state('is-enabled'), await state('is-active')]).toEqual(['enabled', 'active'])
    expect(await host.must('warpwatch', '--version')).toBe(`${VERSION}\n`)
    expect(await host.must('warpwatch', 'config', '--check')).toBeDefined()
    expect((await host.must('systemctl', 'show', '--value', '--property=ProtectSystem', 'warpwatch')).trim()).toBe('strict')
  })

  test('an upgrade runs the new one, and keeps history and what was changed in the configuration', async () => {
    writeFileSync(host.path(CONFIG), 'host_name: renamed\n')
    await poll(async () => (await host.get(`${URL}/api/v1/series?metric=host_memory_available_bytes&from=0&points=1`))?.includes('"mean":['), {
      what: 'some history',
      everyMs: 200,
    })
    const before = await pid()
    const since = Date.now()
    await dpkg('--install', '--force-confold', next)
    await ready()
    expect(await pid()).not.toBe(before)
    expect(await host.must('dpkg-query', '--show', '--showformat=${Version}', 'warpwatch')).toBe(NEWER)
    expect(readFileSync(host.path(CONFIG), 'utf8')).toBe('host_name: renamed\n')
    expect(await host.get(`${URL}/api/v1/host`)).toContain('renamed')
    const earlier = (await host.get(`${URL}/api/v1/series?metric=host_memory_available_bytes&from=0&to=${since}&points=1`)) ?? ''
    expect(earlier).toMatch(/"mean":\[\d/)
  })

  test('who disabled it finds it disabled and stopped after an upgrade', async () => {
    await host.must('systemctl', 'disable', '--now', 'warpwatch')
    await dpkg('--install', '--force-confold', '--force-downgrade', old)
    expect([await state('is-enabled'), await state('is-active')]).toEqual(['disabled', 'inactive'])
    await host.must('systemctl', 'enable', '--now', 'warpwatch')
    await ready()
  })

  test('removed, it leaves history and configuration, and nothing else', async () => {
    await dpkg('--remove', 'warpwatch')
    expect(await state('is-active')).not.toBe('active')
    expect(['/usr/lib/warpwatch', '/usr/bin/warpwatch', '/lib/systemd/system/warpwatch.service', '/run/warpwatch'].filter(exists)).toEqual([])
    expect(readFileSync(host.path(CONFIG), 'utf8')).toBe('host_name: renamed\n')
    expect(exists('/var/lib/warpwatch/history.db')).toBe(true)
  })

  test('installed where systemd does not run, it starts nothing and will start at the next boot', async () => {
    await host.must('unshare', '--mount', 'sh', '-c', `mount -t tmpfs tmpfs /run/systemd && dpkg --install ${old}`)
    await host.must('systemctl', 'daemon-reload')
    expect([await state('is-enabled'), await state('is-active')]).toEqual(['enabled', 'inactive'])
  })

  test('purged, it takes history and configuration along', async () => {
    await host.must('systemctl', 'start', 'warpwatch')
    await ready()
    await dpkg('--purge', 'warpwatch')
    expect(['/var/lib/warpwatch', '/etc/warpwatch', '/run/warpwatch', '/usr/lib/warpwatch', '/usr/share/doc/warpwatch'].filter(exists)).toEqual([])
    expect(await host.must('sh', '-c', 'find /etc/systemd /var/lib/systemd -name "*warpwatch*"')).toBe('')
    expect((await host.run('dpkg-query', '--status', 'warpwatch')).status).toBe(1)
  })
})
