// The configuration: where values come from, in which order, and how what is wrong is reported.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigFileError, loadConfig, type LoadOptions } from '../../../agent/config/load.ts'
import { printable, printYaml } from '../../../agent/config/print.ts'
import { ConfigError } from '../../../agent/config/problem.ts'
import { readFileSettings } from '../../../agent/config/file.ts'
import type { Setting } from '../../../agent/config/setting.ts'

const folder = (yaml?: string): string => {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-config-'))
  if (yaml !== undefined) writeFileSync(join(cwd, 'warpwatch.yaml'), yaml)
  return cwd
}
const load = async (yaml: string | undefined, env: LoadOptions['env'] = {}, flags: readonly Setting[] = []) => loadConfig({ cwd: folder(yaml), env, flags })
const problems = async (yaml: string, env: LoadOptions['env'] = {}, flags: readonly Setting[] = []): Promise<readonly string[]> => {
  const error: unknown = await load(yaml, env, flags).catch((error: unknown) => error)
  if (!(error instanceof ConfigError)) throw new Error('must be a ConfigError, not something else', { cause: error })
  return error.problems.map(({ where, text }) => `${where}: ${text}`)
}

describe('order', () => {
  test('defaults alone are a whole configuration', async () => {
    const { config, file, origins } = await load(undefined)
    expect(config.http.listen).toBe('127.0.0.1:9839')
    expect(config.metrics.dcgm).toBe('classic')
    expect(config.host_name).toBe(hostname())
    expect(config.gpu.expected_gpus).toBeUndefined()
    expect(file).toBeUndefined()
    expect(origins.size).toBe(0)
  })

  test('the environment goes before the file, flags before both', async () => {
    const yaml = 'http:\n  listen: 127.0.0.1:1\n  max_readers: 5\ngpu:\n  peak_hz: 20\n'
    const env = { WARPWATCH_HTTP__LISTEN: '127.0.0.1:2', WARPWATCH_HTTP__MAX_READERS: '6' }
    const { config, origins } = await load(yaml, env, [{ path: 'http.listen', value: '127.0.0.1:3', where: '--listen' }])
    expect([config.http.listen, config.http.max_readers, config.gpu.peak_hz]).toEqual(['127.0.0.1:3', 6, 20])
    expect(Object.fromEntries(origins)).toEqual({
      'http.listen': '--listen',
      'http.max_readers': 'WARPWATCH_HTTP__MAX_READERS',
      'gpu.peak_hz': 'warpwatch.yaml:5',
    })
  })

  test('a named file must exist', async () => {
    await expect(loadConfig({ cwd: folder(), env: {}, file: 'nowhere.yaml' })).rejects.toBeInstanceOf(ConfigFileError)
  })

  test('simulated readings lie apart from those of the real host, unless a place is named', async () => {
    const env = { STATE_DIRECTORY: '/srv/state' }
    expect((await load(undefined, env)).config.data_dir).toBe('/srv/state')
    expect((await load('simulate:\n  scenario: xid\n', env)).config.data_dir).toBe('/srv/state/simulated')
    expect((await load('data_dir: /srv/here\nsimulate:\n  scenario: xid\n', env)).config.data_dir).toBe('/srv/here')
  })
})

describe('values from the environment', () => {
  test('are read as what the key wants', async () => {
    const env = {
      WARPWATCH_HOST_NAME: '42',
      WARPWATCH_HTTP__TOKEN: '0123',
      WARPWATCH_HTTP__ALLOWED_ORIGINS: 'https://a.example, https://b.example',
      WARPWATCH_CONTAINERS__ENGINES: '["/a.sock"]',
      WARPWATCH_HISTORY__ENABLED: 'false',
      WARPWATCH_METRICS__DCGM: '4.9',
      WARPWATCH_HISTORY__RAW_HOURS: '0x18',
    }
    const { config } = await load(undefined, env)
    expect(config.host_name).toBe('42')
    expect(config.http.token).toBe('0123')
    expect(config.http.allowed_origins).toEqual(['https://a.example', 'https://b.example'])
    expect(config.containers.engines).toEqual(['/a.sock'])
    expect(config.history.enabled).toBe(false)
    expect(config.metrics.dcgm).toBe('4.9')
    expect(config.history.raw_hours).toBe(24)
  })

  test('what Kubernetes sets for a service called warpwatch is not ours', async () => {
    const env = {
      WARPWATCH_PORT: 'tcp://10.0.0.1:9839',
      WARPWATCH_SERVICE_HOST: '10.0.0.1',
      WARPWATCH_SERVICE_PORT_HTTP: '9839',
      WARPWATCH_PORT_9839_TCP_ADDR: '10.0.0.1',
    }
    expect((await load(undefined, env)).origins.size).toBe(0)
  })

  test('an unknown variable names the nearest valid one', async () => {
    expect(await problems('', { WARPWATCH_HTTP__LISEN: 'x' })).toEqual([
      'WARPWATCH_HTTP__LISEN: unknown key http.lisen; the nearest valid one is WARPWATCH_HTTP__LISTEN',
    ])
    expect(await problems('', { WARPWATCH_DATADIR: 'x' })).toEqual(['WARPWATCH_DATADIR: unknown key datadir; the nearest valid one is WARPWATCH_DATA_DIR'])
  })
})

describe('what is wrong', () => {
  test.each([
    ['http:\n  lisen: x\n', 'warpwatch.yaml:2: unknown key http.lisen; the nearest valid one is http.listen'],
    ['\nhtpp:\n  listen: x\n', 'warpwatch.yaml:2: unknown key htpp; the nearest valid one is http'],
    ['listen: 127.0.0.1:1\n', 'warpwatch.yaml:1: unknown key listen; the nearest valid one is http.listen'],
    ['gpu:\n  listen: 127.0.0.1:1\n', 'warpwatch.yaml:2: unknown key gpu.listen; the nearest valid one is http.listen'],
    ['http:\n  max_readers: many\n', 'warpwatch.yaml:2: http.max_readers: must be a whole number from 1 to 100000, not "many" (text)'],
    ['http:\n  max_readers: 1.5\n', 'warpwatch.yaml:2: http.max_readers: must be a whole number from 1 to 100000, not 1.5 (number)'],
    ['http:\n  max_readers:\n', 'warpwatch.yaml:2: http.max_readers: missing: give a whole number from 1 to 100000'],
    ['http:\n  allowed_hosts: [1]\n', 'warpwatch.yaml:2: http.allowed_hosts: must be a list of host names, not the list [1]'],
    ['metrics:\n  dcgm: new\n', 'warpwatch.yaml:2: metrics.dcgm: must be one of classic, 4.9, both, off, not "new" (text)'],
    ['host_name: {a: 1}\n', 'warpwatch.yaml:1: host_name: must be text, not a group of keys'],
    ['http: 9839\n', 'warpwatch.yaml:1: http: must have keys below it, not a single value'],
    ['- a\n', 'warpwatch.yaml:1: must have keys such as "http:" at the top, not a list or a single value'],
    [
      'http:\n  listen: 9839\n',
      'warpwatch.yaml:2: http.listen: must be ADDRESS:PORT such as 127.0.0.1:9839 or [::1]:9839 (port 0 takes a free one), not 9839 (number)',
    ],
    [
      'http:\n  listen: 127.0.0.1:70000\n',
      'warpwatch.yaml:2: http.listen: must be ADDRESS:PORT such as 127.0.0.1:9839 or [::1]:9839 (port 0 takes a free one), not "127.0.0.1:70000" (text)',
    ],
    ['constructor: 1\n', 'warpwatch.yaml:1: unknown key constructor; the nearest valid one is costs.kwh'],
  ])('%j', async (yaml, expected) => {
    expect(await problems(yaml)).toEqual([expected])
  })

  test('broken YAML is told with its line', async () => {
    const [first] = await problems('http:\n  listen: "127\n')
    expect(first).toMatch(/^warpwatch\.yaml:\d: not valid YAML: /)
    expect((await problems('gpu:\n  peak_hz: 1\n  peak_hz: 2\n'))[0]).toMatch(/^warpwatch\.yaml:3: not valid YAML: .*unique/)
  })

  test('a file that is no YAML at all is told in a screen, not in as many lines as it has', async () => {
    const all = await problems(`a: 1\n${'[x]\n'.repeat(5_000)}`)
    expect(all).toHaveLength(21)
    expect(all[20]).toMatch(/^warpwatch\.yaml:\d+: not valid YAML: and \d{4} more like these$/)
  })

  test('an alias without its anchor, and aliases that multiply, are told with their line', async () => {
    expect(await problems('http:\n  allowed_hosts: [*hosts]\n')).toEqual(['warpwatch.yaml:2: not valid YAML: the alias *hosts has no anchor &hosts before it'])
    expect(await problems(`targets: &a [1]\nroutes: [${'*a, '.repeat(200)}]\n`)).toContainEqual(
      expect.stringMatching(/^warpwatch\.yaml:2: not valid YAML: Excessive alias count/),
    )
  })
  test('everything is told at once, from the file, the environment and flags', async () => {
    const all = await problems('http:\n  lisen: x\nlog:\n  level: loud\n', { WARPWATCH_GPU__PEAK_HZ: 'fast' }, [
      { path: 'simulate.scenario', value: 'oom', where: '--simulate' },
    ])
    expect(all.map((line) => line.slice(0, line.indexOf(': '))).sort()).toEqual([
      '--simulate',
      'WARPWATCH_GPU__PEAK_HZ',
      'warpwatch.yaml:2',
      'warpwatch.yaml:4',
    ])
  })

  test('an address open to others needs a token or the word insecure', async () => {
    for (const listen of ['0.0.0.0:9839', '[::]:9839', ':9839', '10.1.2.3:1', 'gpu-01:9839'])
      expect(await problems(`http:\n  listen: "${listen}"\n`)).toEqual([
        `warpwatch.yaml:2: http.listen: ${listen} is open to other hosts: set http.token, or http.insecure: true`,
      ])
    for (const listen of ['127.0.0.1:0', '[::1]:9839', 'localhost:9839', '127.8.9.1:65535'])
      expect((await load(`http:\n  listen: "${listen}"\n`)).config.http.listen).toBe(listen)
    expect((await load('http:\n  listen: 0.0.0.0:1\n  token: secret\n')).config.http.token).toBe('secret')
    expect((await load('http:\n  listen: 0.0.0.0:1\n  insecure: true\n')).config.http.insecure).toBe(true)
  })
})

describe('printing', () => {
  test('hides secrets and can be read back', async () => {
    const { config, origins } = await load('http:\n  token: hunter2\n  allowed_hosts: [a, "b c"]\nmetrics:\n  dcgm: "4.9"\n')
    const yaml = printYaml(config, origins)
    expect(yaml).not.toContain('hunter2')
    expect(JSON.stringify(printable(config))).not.toContain('hunter2')
    expect(yaml).toContain('token: "(hidden)" # warpwatch.yaml:2')
    expect(readFileSettings(yaml, 'printed').problems).toEqual([])
    const again = await load(yaml.replace('"(hidden)"', 'hunter2'))
    expect(again.config).toEqual(config)
  })

  test('a wrong secret is not told either', async () => {
    expect((await problems('http:\n  token: two words\n'))[0]).not.toContain('two words')
  })
})
