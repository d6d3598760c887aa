// The example file is what the declarations say, and valid.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exampleYaml } from '../../../agent/config/example.ts'
import { readFileSettings } from '../../../agent/config/file.ts'
import { KEYS } from '../../../agent/config/schema.ts'
import { judge } from '../../../agent/config/setting.ts'
import { SCENARIO_CHOICES } from '../../../agent/config/sections/simulate.ts'
import { SCENARIOS } from '../../../agent/sources/simulated.ts'

test('warpwatch.example.yaml is the generated one (node agent/config/example.ts > warpwatch.example.yaml)', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../warpwatch.example.yaml'), 'utf8')).toBe(exampleYaml())
})

test('as it stands it sets nothing', () => {
  expect(readFileSettings(exampleYaml(), 'example')).toEqual({ settings: [], problems: [] })
})

test('with every "#" before a key taken away it names each key once, with a valid value: its default', () => {
  const { settings, problems } = readFileSettings(exampleYaml().replace(/^( *)#(\w+: )/gm, '$1$2'), 'example')
  expect(problems).toEqual([])
  expect(settings.map(({ path }) => path).sort()).toEqual([...KEYS.keys()].sort())
  const judged = settings.map(judge).map((found) => ('text' in found ? found : { path: found.key.path, value: found.value }))
  // A key without a default stands there with an example.
  const expected = settings.map(({ path, value }) => ({ path, value: KEYS.get(path)?.field.default ?? value }))
  expect(judged).toEqual(expected)
})

test('the scenarios that may be configured are those that exist', () => {
  expect([...SCENARIO_CHOICES].filter((name) => name !== 'off').sort()).toEqual([...SCENARIOS.keys()].sort())
})
