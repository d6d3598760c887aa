// `detectors` in the configuration: known names and options only, within their bounds, each problem with its place; thresholds of the user's own.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DETECTOR_LIST, judgeDetectors } from '../../../agent/cli/config/detector-settings.ts'
import { loadConfig, type LoadOptions } from '../../../agent/config/load.ts'
import { printable, printYaml } from '../../../agent/config/print.ts'
import { ConfigError } from '../../../agent/config/problem.ts'

async function load(yaml: string, env: LoadOptions['env'] = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-config-'))
  writeFileSync(join(cwd, 'warpwatch.yaml'), yaml)
  return loadConfig({ cwd, env, judges: { detectors: judgeDetectors } })
}
async function problems(yaml: string, env: LoadOptions['env'] = {}): Promise<readonly string[]> {
  const error: unknown = await load(yaml, env).catch((caught: unknown) => caught)
  if (!(error instanceof ConfigError)) throw new Error('must be a ConfigError, not something else', { cause: error })
  return error.problems.map(({ where, text }) => `${where}: ${text}`)
}

const HOT = '{name: hot, metric: gpu_temperature_celsius, comparison: ">", value: 85, for: 5m, severity: warning}'
const custom = (entry: string): string => `detectors:\n  custom:\n    - ${HOT}\n    - ${entry}\n`

describe('options of detectors', () => {
  test('unset ones have their defaults, set ones what was set', async () => {
    const { config, origins } = await load('detectors:\n  throttling:\n    load_ratio: 0.5\n  memory-leak:\n    enabled: false\n  power-brake:\n')
    const { settings } = config.detectors
    expect(Object.keys(settings)).toEqual(DETECTOR_LIST.map(({ id }) => id))
    expect(settings['throttling']?.options).toMatchObject({ load_ratio: 0.5, for_seconds: 1 })
    expect([settings['memory-leak']?.enabled, settings['throttling']?.enabled]).toEqual([false, true])
    expect(Object.fromEntries(origins)).toMatchObject({
      'detectors.throttling.load_ratio': 'warpwatch.yaml:3',
      'detectors.memory-leak.enabled': 'warpwatch.yaml:5',
    })
  })

  test('variables go before the file: one option, or all of it', async () => {
    const yaml = 'detectors:\n  throttling:\n    load_ratio: 0.5\n    for_seconds: 7\n'
    const one = await load(yaml, { WARPWATCH_DETECTORS__THROTTLING__LOAD_RATIO: '0.3', WARPWATCH_DETECTORS__MEMORY_LEAK__ENABLED: 'false' })
    expect(one.config.detectors.settings['throttling']?.options).toMatchObject({ load_ratio: 0.3, for_seconds: 7 })
    expect(one.config.detectors.settings['memory-leak']?.enabled).toBe(false)
    const all = await load(yaml, { WARPWATCH_DETECTORS: `{throttling: {load_ratio: 0.4}, custom: [${HOT}]}` })
    expect(all.config.detectors.settings['throttling']?.options).toMatchObject({ load_ratio: 0.4, for_seconds: 7 })
    expect(all.config.detectors.custom).toHaveLength(1)
  })

  test.each([
    ['detectors:\n  throtling:\n    load_ratio: 0.5\n', 'warpwatch.yaml:3: unknown key detectors.throtling; the nearest valid one is detectors.throttling'],
    ['detectors:\n  throtling:\n', 'warpwatch.yaml:2: unknown key detectors.throtling; the nearest valid one is detectors.throttling'],
    ['detectors:\n  memory_leak:\n    enabled: false\n', 'warpwatch.yaml:3: unknown key detectors.memory_leak; the nearest valid one is detectors.memory-leak'],
    [
      'detectors:\n  throttling:\n    load_ration: 0.5\n',
      'warpwatch.yaml:3: unknown key detectors.throttling.load_ration; the nearest valid one is detectors.throttling.load_ratio',
    ],
    ['detectors:\n  throttling:\n    load_ratio: 2\n', 'warpwatch.yaml:3: detectors.throttling.load_ratio: must be a number from 0.01 to 1, not 2 (number)'],
    [
      'detectors:\n  throttling:\n    load_ratio: .nan\n',
      'warpwatch.yaml:3: detectors.throttling.load_ratio: must be a number from 0.01 to 1, not NaN (number)',
    ],
    [
      'detectors:\n  throttling:\n    load_ratio: high\n',
      'warpwatch.yaml:3: detectors.throttling.load_ratio: must be a number from 0.01 to 1, not "high" (text)',
    ],
    ['detectors:\n  throttling:\n    enabled: 0\n', 'warpwatch.yaml:3: detectors.throttling.enabled: must be true or false, not 0 (number)'],
    [
      'detectors:\n  throttling:\n    constructor: 1\n',
      'warpwatch.yaml:3: unknown key detectors.throttling.constructor; the nearest valid one is detectors.throttling.load_ratio',
    ],
    ['detectors:\n  throttling: false\n', 'warpwatch.yaml:2: detectors.throttling: must have keys below it, not false (true or false)'],
    ['detectors: off\n', 'warpwatch.yaml:1: detectors: must have keys below it, not "off" (text)'],
  ])('%j', async (yaml, expected) => {
    expect(await problems(yaml)).toEqual([expected])
  })

  test('what is wrong in a variable is told with its name, beside all else', async () => {
    const reported = await problems('http:\n  lisen: x\n', { WARPWATCH_DETECTORS__THROTTLING__LOAD_RATIO: '7' })
    expect(reported.toSorted()).toEqual([
      'WARPWATCH_DETECTORS__THROTTLING__LOAD_RATIO: detectors.throttling.load_ratio: must be a number from 0.01 to 1, not 7 (number)',
      'warpwatch.yaml:2: unknown key http.lisen; the nearest valid one is http.listen',
    ])
  })
})

test('a doubled letter in any name of a detector or option is told with the right name', () => {
  const doubled = (name: string): readonly string[] => Array.from(name, (_, n) => name.slice(0, n + 1) + name.slice(n))
  const cases = DETECTOR_LIST.flatMap(({ id, options }) => [
    ...doubled(id).map((wrong) => [`detectors.${wrong}.enabled`, `detectors.${id}`] as const),
    ...Object.keys(options).flatMap((name) => doubled(name).map((wrong) => [`detectors.${id}.${wrong}`, `detectors.${id}.${name}`] as const)),
  ])
  expect(cases.length).toBeGreaterThan(500)
  const reported = cases.map(([path]) => judgeDetectors([{ path, value: true, where: 'here' }]).problems.map(({ text }) => text.replace(/.* /, '')))
  expect(reported).toEqual(cases.map(([, nearest]) => [nearest]))
})

describe('thresholds of the user’s own', () => {
  test('are read with full names and times', async () => {
    const entry =
      '{name: cold, metric: warpwatch_gpu_power_watts, labels: {gpu: 0}, comparison: "<", value: 10, for: 90, clear_for: 1h, severity: info, summary: Off}'
    const { config } = await load(custom(entry))
    expect(config.detectors.custom).toEqual([
      {
        name: 'hot',
        metric: 'warpwatch_gpu_temperature_celsius',
        labels: {},
        comparison: '>',
        value: 85,
        forMs: 300_000,
        clearMs: 300_000,
        severity: 'warning',
      },
      {
        name: 'cold',
        metric: 'warpwatch_gpu_power_watts',
        labels: { gpu: '0' },
        comparison: '<',
        value: 10,
        forMs: 90_000,
        clearMs: 3_600_000,
        severity: 'info',
        summary: 'Off',
      },
    ])
  })

  test.each([
    [
      '{name: a, metric: gpu_temprature_celsius, comparison: ">", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].metric: unknown metric gpu_temprature_celsius; the nearest valid one is warpwatch_gpu_temperature_celsius',
    ],
    [
      '{name: a, metric: gpu_temperature_celsius, labels: {uid: x}, comparison: ">", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].labels.uid: warpwatch_gpu_temperature_celsius has no such label; the nearest one is uuid',
    ],
    [
      '{name: a, metric: gpu_power_watts, comparison: "=", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].comparison: must be one of >, >=, <, <=, not "=" (text)',
    ],
    ['{name: a, metric: gpu_power_watts, comparison: ">", value: x, for: 1m, severity: info}', 'detectors.custom[1].value: must be a number, not "x" (text)'],
    [
      '{name: a, metric: gpu_power_watts, comparison: ">", value: 1, for: soon, severity: info}',
      'detectors.custom[1].for: must be a time such as 90s, 5m or 2h, at most 30d, not "soon" (text)',
    ],
    [
      '{name: a, metric: gpu_power_watts, comparison: ">", value: 1, severity: info}',
      'detectors.custom[1].for: missing: give a time such as 90s, 5m or 2h, at most 30d',
    ],
    [
      '{name: hot, metric: gpu_power_watts, comparison: ">", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].name: another threshold is also called "hot"; choose another name',
    ],
    [
      '{name: a, metrics: x, metric: gpu_power_watts, comparison: ">", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].metrics: unknown key; the nearest valid one is metric',
    ],
    [
      '{name: "a\\nb", metric: gpu_power_watts, comparison: ">", value: 1, for: 1m, severity: info}',
      'detectors.custom[1].name: must be a name of at most 63 letters, digits and - _ . : / between them, not "a\\nb" (text)',
    ],
    ['7', 'detectors.custom[1]: must be a group of keys with name, metric, comparison, value, for, severity, not 7 (number)'],
  ])('%s', async (entry, expected) => {
    expect(await problems(custom(entry))).toEqual([`warpwatch.yaml:4: ${expected}`])
  })
})

test('what is printed can be read back, and says where each option was set', async () => {
  const { config, origins } = await load(`${custom(HOT.replace('hot', 'hotter'))}  throttling:\n    load_ratio: 0.5\n`)
  const yaml = printYaml(config, origins)
  expect(yaml).toContain('  throttling:\n    enabled: true\n')
  expect(yaml).toContain('    load_ratio: 0.5 # warpwatch.yaml:6\n')
  expect((await load(yaml)).config).toEqual(config)
  expect(printable(config)['detectors']).toMatchObject({
    throttling: { enabled: true, load_ratio: 0.5 },
    custom: [{ name: 'hot', for: '5m' }, { name: 'hotter' }],
  })
})
