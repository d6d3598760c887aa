// Scores the families on our own examples: every kind has several, quiet ones included; what is listed must be found, and nothing else.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { END_KINDS } from '../../../agent/diagnosis/ends/classify.ts'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { FAMILIES, logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import { factsOf, LOG_KINDS, type LogKind } from '../../../agent/model/kinds.ts'
import type { Severity } from '../../../agent/model/severity.ts'

type Example = { readonly name: string; readonly text: string; readonly kinds: readonly LogKind[]; readonly facts?: Facts; readonly severity?: Severity }
const folder = join(import.meta.dirname, 'examples')
const tables = await Promise.all(
  readdirSync(folder).map(async (file) => {
    const loaded: { readonly examples: readonly Example[] } = await import(join(folder, file))
    return { kind: file.replace(/\.ts$/, ''), examples: loaded.examples }
  }),
)
/** Figures that messages round to two digits. */
const ROUNDING_BYTES = 0.006 * 2 ** 30

/** The wanted facts, with those bytes replaced by what was found that are equal within rounding. */
const within = (wanted: Facts, got: Facts): Facts =>
  Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => {
      const found = Object.entries(got).find(([name]) => name === key)?.[1]
      const rounded = typeof value === 'number' && typeof found === 'number' && key.endsWith('_bytes') && Math.abs(found - value) <= ROUNDING_BYTES
      return [key, rounded ? found : value]
    }),
  )

describe.each(tables)('$kind', ({ kind, examples }) => {
  test.each(examples)('$name', ({ text, kinds, facts, severity }) => {
    const faults = explainText(logScanner(), text)
    expect(faults.map((fault) => fault.kind)).toEqual(kinds)
    const root = faults[0]?.facts ?? {}
    expect(root).toMatchObject(within(facts ?? {}, root))
    expect(faults[0]?.severity).toBe(severity ?? faults[0]?.severity)
    for (const fault of faults) {
      expect(fault.verdict.length).toBeGreaterThan(20)
      expect(fault.remedies.length).toBeGreaterThan(0)
      expect(fault.evidence.length).toBeGreaterThan(0)
      expect(Object.keys(fault.facts).filter((name) => !factsOf(fault.kind).has(name))).toEqual([])
    }
  })
  test('has several examples, and quiet ones', () => {
    expect(examples.filter(({ kinds }) => kinds.some((found) => found === kind)).length).toBeGreaterThanOrEqual(3)
    expect(examples.filter(({ kinds }) => kinds.length === 0).length).toBeGreaterThanOrEqual(1)
  })
})

test('every kind has its examples, and a family or an end', () => {
  const known: ReadonlySet<string> = new Set(LOG_KINDS)
  const [withExamples, withFamily] = [
    new Set(tables.map(({ kind }) => kind)),
    new Set<string>([...FAMILIES.flatMap((family) => family.kinds), ...END_KINDS.map(({ kind }) => kind)]),
  ]
  expect(LOG_KINDS.filter((kind) => !withExamples.has(kind)).map((kind) => `${kind} has no examples: test/unit/diagnosis/examples/${kind}.ts`)).toEqual([])
  expect(LOG_KINDS.filter((kind) => !withFamily.has(kind)).map((kind) => `${kind} has no fault family and is no end`)).toEqual([])
  expect([...withExamples, ...withFamily].filter((kind) => !known.has(kind))).toEqual([])
})
