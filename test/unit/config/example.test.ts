// The example configuration is valid and sets nothing.
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { judgeNotifiers } from '../../../agent/cli/config/alert-settings.ts'
import { DETECTOR_LIST, judgeDetectors } from '../../../agent/cli/config/detector-settings.ts'
import { exampleYaml } from '../../../agent/config/example.ts'
import { readFileSettings } from '../../../agent/config/file.ts'
import { KEYS, LISTS } from '../../../agent/config/schema.ts'
import { judge } from '../../../agent/config/setting.ts'
import { SCENARIO_CHOICES } from '../../../agent/config/sections/simulate.ts'
import { SCENARIOS } from '../../../agent/sources/simulated.ts'

const example = exampleYaml(DETECTOR_LIST)

test('as it stands it sets nothing', () => {
  const { settings, problems } = readFileSettings(example, 'example')
  expect(problems).toEqual([])
  // A detector whose options are all commented out is there without any.
  expect(settings.filter(({ value }) => value !== null)).toEqual([])
  expect(judgeDetectors(settings)).toEqual(judgeDetectors([]))
})

const whole = readFileSettings(example.replace(/^( *)#(\w+: )/gm, '$1$2'), 'example')

test('with every "#" before a key taken away it names each key once, with a valid value: its default', () => {
  const settings = whole.settings.filter(({ path }) => !path.startsWith('detectors.'))
  expect(whole.problems).toEqual([])
  expect([...settings.map(({ path }) => path), 'detectors'].sort()).toEqual([...KEYS.keys()].sort())
  const judged = settings.map(judge).map((found) => ('problems' in found ? found : { path: found.key.path, value: found.value }))
  // A key without a default is there with an example.
  const expected = settings.map(({ path, value }) => ({ path, value: KEYS.get(path)?.field.default ?? value }))
  expect(judged).toEqual(expected)
})

test('and every option of every detector, with its default', () => {
  const settings = whole.settings.filter(({ path }) => path.startsWith('detectors.'))
  const options = DETECTOR_LIST.flatMap(({ id, options: its }) => ['enabled', ...Object.keys(its)].map((name) => `detectors.${id}.${name}`))
  expect(settings.map(({ path }) => path).sort()).toEqual([...options, 'detectors.custom'].sort())
  expect(judgeDetectors(settings)).toEqual(judgeDetectors([]))
})

const SLACK_URL = 'https://hooks.slack.com/services/T0/B0/x'

test('the entries that it shows as examples are valid', async () => {
  const shown = Array.from(example.matchAll(/^ *# - (\{.*\})$/gm), (match): unknown => parse(match[1] ?? ''))
  const [notifier, route, runRoute, wasteRoute, signalAction, commandAction, target, host, sshHost, threshold, ...others] = shown
  expect(others).toEqual([])
  expect(LISTS.hosts.read?.([host, sshHost])).toMatchObject({
    value: [
      { name: 'gpu-07', token: 'TOKEN' },
      { name: 'gpu-08', token: '' },
    ],
  })
  expect(await judgeNotifiers([{ path: 'notifiers', value: [notifier], where: 'example' }], { env: { SLACK_URL }, cwd: '/' })).toMatchObject({
    value: [{ name: 'team', type: 'slack', options: { url: SLACK_URL } }],
    problems: [],
  })
  expect(judge({ path: 'routes', value: [route], where: 'example' })).toMatchObject({ value: [{ to: ['team'], waitMs: 200, repeatMs: 14_400_000 }] })
  expect(judge({ path: 'routes', value: [runRoute], where: 'example' })).toMatchObject({
    value: [{ match: { outcome: ['failed', 'out_of_memory', 'completed'] } }],
  })
  expect(judge({ path: 'routes', value: [wasteRoute], where: 'example' })).toMatchObject({ value: [{ match: { waste: ['weekly'] } }] })
  expect(judge({ path: 'actions', value: [signalAction, commandAction], where: 'example' })).toMatchObject({
    value: [
      { name: 'checkpoint', signal: 'SIGUSR1', cooldownMs: 900_000 },
      { name: 'drain', dryRun: true },
    ],
  })
  expect(judge({ path: 'targets', value: [target], where: 'example' })).toMatchObject({ value: [{ name: 'ui', container: 'trainer' }] })
  expect(judgeDetectors([{ path: 'detectors.custom', value: [threshold], where: 'example' }])).toMatchObject({
    value: { custom: [{ name: 'hot', metric: 'warpwatch_gpu_temperature_celsius', forMs: 300_000, clearMs: 60_000 }] },
    problems: [],
  })
})

test('the scenarios that may be configured are those that exist', () => {
  expect([...SCENARIO_CHOICES].filter((name) => name !== 'off').sort()).toEqual([...SCENARIOS.keys()].sort())
})
