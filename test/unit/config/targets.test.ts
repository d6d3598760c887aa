// `targets` in the configuration: what may be there, and that its secrets are shown nowhere.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, type LoadOptions } from '../../../agent/config/load.ts'
import { printable, printYaml } from '../../../agent/config/print.ts'
import { ConfigError } from '../../../agent/config/problem.ts'
import { shownUrl } from '../../../agent/lib/shown-url.ts'

async function load(yaml: string, env: LoadOptions['env'] = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-config-'))
  writeFileSync(join(cwd, 'warpwatch.yaml'), yaml)
  return loadConfig({ cwd, env })
}
async function problems(yaml: string): Promise<readonly string[]> {
  const error: unknown = await load(yaml).catch((caught: unknown) => caught)
  if (!(error instanceof ConfigError)) throw new Error('must be a ConfigError, not something else', { cause: error })
  return error.problems.map(({ where, text }) => `${where}: ${text}`)
}

test('a target has its defaults', async () => {
  const yaml = `targets:
  - name: ui
    url: http://127.0.0.1:7860/api/health
  - {name: api, url: "https://gpu.example/health", interval_ms: 2000, expect_status: 204, container: trainer, headers: {X-Level: 3}}
`
  expect((await load(yaml)).config.targets).toEqual([
    { name: 'ui', url: 'http://127.0.0.1:7860/api/health', interval_ms: 10_000, timeout_ms: 5_000, headers: {} },
    // No longer than its interval.
    {
      name: 'api',
      url: 'https://gpu.example/health',
      interval_ms: 2_000,
      timeout_ms: 2_000,
      expect_status: 204,
      container: 'trainer',
      headers: { 'X-Level': '3' },
    },
  ])
  expect((await load('')).config.targets).toEqual([])
  expect((await load('', { WARPWATCH_TARGETS: '[{name: a, url: "http://a/"}]' })).config.targets).toMatchObject([{ name: 'a', url: 'http://a/' }])
})

describe('what is wrong', () => {
  const first = '  - {name: ui, url: "http://127.0.0.1/"}\n'
  test.each([
    ['{url: "http://a/"}', 'targets[1].name: missing: give a name of at most 63 letters, digits and - _ . : / between them'],
    ['{name: b}', 'targets[1].url: missing: give a URL such as http://127.0.0.1:7860/api/health'],
    ['{name: b, url: "ftp://ann:s3cret@a/"}', 'targets[1].url: must be a URL such as http://127.0.0.1:7860/api/health, not a value of another kind (hidden)'],
    ['{name: b, url: 7860}', 'targets[1].url: must be a URL such as http://127.0.0.1:7860/api/health, not a value of another kind (hidden)'],
    ['{name: b, url: "http://a/", intervall_ms: 9}', 'targets[1].intervall_ms: unknown key; the nearest valid one is interval_ms'],
    ['{name: b, url: "http://a/", interval_ms: 9}', 'targets[1].interval_ms: must be a whole number from 1000 to 3600000, not 9 (number)'],
    ['{name: b, url: "http://a/", timeout_ms: 20000}', 'targets[1].timeout_ms: must be at most interval_ms (10000), not 20000'],
    [
      '{name: b, url: "http://a/", headers: {"X Y": s3cret}}',
      'targets[1].headers: must be header names and their values, not a value of another kind (hidden)',
    ],
    [
      '{name: b, url: "http://a/", headers: {X: "s3cret\\n"}}',
      'targets[1].headers: must be header names and their values, not a value of another kind (hidden)',
    ],
    ['{name: ui, url: "http://a/"}', 'targets[1].name: another target is also called "ui"; choose another name'],
    [
      '{name: "$(reboot)", url: "http://a/"}',
      'targets[1].name: must be a name of at most 63 letters, digits and - _ . : / between them, not "$(reboot)" (text)',
    ],
    ['http://ann:s3cret@a/', 'targets[1]: must be a group of keys with name, url, not a value of another kind (hidden)'],
  ])('%s', async (entry, expected) => {
    expect(await problems(`targets:\n${first}  - ${entry}\n`)).toEqual([`warpwatch.yaml:3: ${expected}`])
  })

  test('a value in the place of the list', async () => {
    expect(await problems('targets: http://ann:s3cret@a/\n')).toEqual([
      'warpwatch.yaml:1: targets: must be a list of targets, at most 64, not a value of another kind (hidden)',
    ])
  })

  test('each problem has its line', async () => {
    expect(await problems('targets:\n  - name: a\n    url: http://a/\n    timeout_ms: soon\n  -\n    nam: b\n    url: http://b/\n')).toEqual([
      'warpwatch.yaml:4: targets[0].timeout_ms: must be a whole number from 100 to 60000, not "soon" (text)',
      'warpwatch.yaml:6: targets[1].nam: unknown key; the nearest valid one is name',
      expect.stringMatching(/^warpwatch\.yaml:6: targets\[1\]\.name: missing: give a name/),
    ])
  })
})

test('what is printed hides credentials, query and header values, and can be read back', async () => {
  const { config, origins } = await load(
    'targets:\n  - {name: a, url: "https://ann:s3cret@host:8443/p/h?token=s3cret", headers: {Authorization: Bearer s3cret}, container: c}\n',
  )
  const yaml = printYaml(config, origins)
  expect(yaml + JSON.stringify(printable(config))).not.toContain('s3cret')
  expect(yaml).toContain('https://(hidden)@host:8443/p/h?(hidden)')
  expect(yaml).toContain('Authorization: "(hidden)"')
  const again = (await load(yaml)).config.targets
  expect(again).toEqual(config.targets.map((target) => ({ ...target, url: shownUrl(target.url), headers: { Authorization: '(hidden)' } })))
})

test.each([
  ['http://a/b', 'http://a/b'],
  ['http://tok3n@a/b#c', 'http://(hidden)@a/b'],
  ['http://[::1]:80/?q', 'http://[::1]/?(hidden)'],
  ['no url with s3cret', '(hidden)'],
])('%s is shown as %s', (url, shown) => expect(shownUrl(url)).toBe(shown))
