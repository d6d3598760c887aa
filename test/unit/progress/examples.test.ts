// How well the reader does on formats of some 500 trainers and tools and loops, in our own words and figures, and that it finds nothing where nothing is.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const example = z.object({
  name: z.string(),
  text: z.string(),
  /** Absent: no progress. */
  wanted: z
    .object({
      step: z.number(),
      total: z.number(),
      epoch: z.number(),
      loss: z.union([z.number(), z.literal('nan')]),
      etaSeconds: z.number(),
      rate: z.tuple([z.number(), z.string()]),
    })
    .partial()
    .optional(),
})
type Example = z.infer<typeof example>
type Wanted = NonNullable<Example['wanted']>

const examplesOf = (set: string): readonly Example[] =>
  readFileSync(join(import.meta.dirname, 'examples', `${set}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => example.parse(JSON.parse(line)))
function read(text: string): Progress | undefined {
  const reader = createProgressReader()
  const feed = createFeed(reader)
  feed.push(text)
  feed.end()
  return reader.progress()
}
const near = (found: number | undefined, wanted: number): boolean => found !== undefined && Math.abs(found - wanted) <= Math.abs(wanted) * 0.015
/** Per step, sample or token: `0.5 s/it` and `2 it/s` are the same. */
function sameRate(rate: Progress['rate'], [value, unit]: readonly [number, string]): boolean {
  const of = unit.startsWith('tok') ? 'token' : unit.startsWith('sam') ? 'sample' : 'step'
  const seconds = unit.startsWith('ms') ? value / 1_000 : unit.startsWith('s/') ? value : 1 / value
  return rate?.of === of && near(rate.secondsEach, seconds)
}
function wrongOf(found: Progress | undefined, wanted: Wanted): readonly string[] {
  const { step, total, epoch, loss, etaSeconds, rate } = wanted
  const said: readonly (readonly [string, boolean])[] = [
    ['step', step === undefined || found?.step === step],
    ['total', total === undefined || found?.total === total],
    ['epoch', epoch === undefined || near(found?.epoch, epoch)],
    ['loss', loss === undefined || (loss === 'nan' ? Number.isNaN(found?.loss) : near(found?.loss, loss))],
    ['time left', etaSeconds === undefined || near(found?.etaSeconds, etaSeconds)],
    ['rate', rate === undefined || sameRate(found?.rate, rate)],
  ]
  return said.flatMap(([name, right]) => (right ? [] : [name]))
}

describe.each([
  ['first', 0.94],
  ['second', 0.94],
  ['third', 0.94],
  ['fourth', 0.96],
  ['fifth', 0.96],
  ['sixth', 0.96],
  ['seventh', 0.96],
  ['eighth', 0.96],
  ['ninth', 0.96],
  ['tenth', 0.96],
  ['eleventh', 0.96],
  ['twelfth', 0.96],
  ['thirteenth', 0.96],
  ['fourteenth', 0.96],
  ['fifteenth', 0.96],
  ['sixteenth', 1],
  ['seventeenth', 1],
])('the %s set', (set, share) => {
  const examples = examplesOf(set)
  test(`all fields are right in ${share * 100} % of them`, () => {
    const judged = examples.flatMap(({ name, text, wanted }) => (wanted === undefined ? [] : [{ name, wrong: wrongOf(read(text), wanted) }]))
    const wrong = judged.filter((each) => each.wrong.length > 0)
    expect(wrong.length / judged.length <= 1 - share ? [] : wrong).toEqual([])
  })
  test('no progress where none is', () => {
    expect(examples.flatMap(({ name, text, wanted }) => (wanted === undefined && read(text) !== undefined ? [name] : []))).toEqual([])
  })
})
