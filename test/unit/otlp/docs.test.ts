// The page about OTLP names every metric, and of its keys, variables and metrics only those that there are.
import { expect, test } from 'vitest'
import { catalogue } from '../../../agent/catalogue.ts'
import { openTelemetrySettings } from '../../../agent/config/opentelemetry.ts'
import { otlp } from '../../../agent/config/sections/otlp.ts'
import { committed } from '../../../scripts/generators/generator.ts'

const page = committed('docs/otlp.md')

test('docs/otlp.md names every metric', () => {
  expect(catalogue.filter(({ name }) => !page.includes(`\`${name}`))).toEqual([])
})

test('each key is told, and each variable that is read', () => {
  expect(Object.keys(otlp.fields).filter((key) => !/^(?:metrics|logs)_/.test(key) && !new RegExp(`\`${key}[\`:]`).test(page))).toEqual([])
  const variables = Array.from(page.matchAll(/`(OTEL_[A-Z_]+)`/g), (match) => match[1] ?? '')
  const read = openTelemetrySettings(Object.fromEntries(variables.map((name) => [name, '1'])), []).map(({ where }) => where)
  expect(read.length).toBeGreaterThan(5)
  expect(variables.toSorted()).toEqual(read.toSorted())
})
