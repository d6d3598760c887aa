// Every field is a series that a collector declares: the fall-back must not have names of its own.
import { expect, test } from 'vitest'
import * as collectors from '../../../agent/collectors/index.ts'
import { FIELDS, MIG_FIELDS } from '../../../agent/sources/nvidia-smi/fields.ts'
import { INFO, MEASURES, THROTTLE_MASK } from '../../../agent/sources/nvidia-smi/measures.ts'

const declared = new Map(Object.values(collectors).flatMap(({ metrics }) => metrics.map((metric) => [metric.name, metric])))

test.each(Object.entries(MEASURES))('%s', (_, { metric, labels }) => {
  const labelNames: readonly string[] | undefined = declared.get(metric)?.labels
  expect(labelNames).toBeDefined()
  expect(Object.keys(labels).filter((name) => labelNames?.includes(name) !== true)).toEqual([])
})

test('identity and throttle mask are declared', () => {
  expect([declared.has(INFO), declared.has(THROTTLE_MASK)]).toEqual([true, true])
})

test('every measure has a place in the outputs', () => {
  expect(new Set([...FIELDS, ...MIG_FIELDS].map(({ id }) => id))).toEqual(new Set(Object.keys(MEASURES)))
})
