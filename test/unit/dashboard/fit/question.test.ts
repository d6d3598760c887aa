// The form of the fit against the agent's own settings: names, values, defaults; and that a suggestion, once taken, gives what it promised.
import { describe, expect, test } from 'vitest'
import { modelOf, parseParameters } from '../../../../agent/fit/model.ts'
import { fitReport } from '../../../../agent/fit/report.ts'
import { parseSettings, SETTINGS } from '../../../../agent/fit/settings.ts'
import type { FitReport } from '../../../../agent/model/fit.ts'
import { FIELDS, fieldsFor, usualOf, WORK, type Words } from '../../../../dashboard/src/features/fit/fields.ts'
import { commandOf, HELD, questionOf, suggestedChanges, workChanges } from '../../../../dashboard/src/features/fit/question.ts'
import { GIB } from '../helpers.ts'

const wordsOf = (words: Readonly<Record<string, string | undefined>>): Words =>
  new Map(Object.entries(words).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))
const queryOf = (words: Words): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(questionOf(words, undefined)?.query))
const ROOM = { name: 'card', index: 0, uuid: 'GPU-0', capacity_bytes: 22 * GIB, free_bytes: 20 * GIB }

/** What the agent answers to the address. */
function answer(words: Words): FitReport {
  const query = queryOf(words)
  const parsed = parseSettings(query)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const model = modelOf({ name: 'model', params: parseParameters(query['params'] ?? '') })
  return fitReport(
    model,
    parsed.settings,
    [0, 1, 2, 3].map((index) => ({ ...ROOM, index, uuid: `GPU-${index}` })),
  )
}

describe('the fields', () => {
  test('are the agent’s settings, all of them, with its values and limits', () => {
    expect([...FIELDS.map(({ name }) => name), 'train'].toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
    const works = WORK.map(({ value }) => wordsOf({ train: value || undefined, gpus: '2', engine: 'vllm' }))
    const offered = Object.fromEntries(
      FIELDS.map((field) => [
        field.name,
        field.kind === 'number' ? field.most : [...new Set(works.flatMap((words) => field.choices(words).map(({ value }) => value)))].toSorted(),
      ]),
    )
    const taken = Object.fromEntries(
      FIELDS.map(({ name }) => {
        const spec = SETTINGS[name]
        return [name, spec?.kind === 'choice' ? spec.values.toSorted() : spec?.kind === 'count' ? spec.most : 1]
      }),
    )
    expect(offered).toEqual(taken)
    expect(WORK.map(({ value }) => value).slice(1)).toEqual(SETTINGS['train']?.kind === 'choice' ? SETTINGS['train'].values : [])
  })

  test('say what holds while they are empty, as the agent takes it', () => {
    for (const words of [{}, { train: 'full' }, { train: 'lora' }, { train: 'qlora' }].map(wordsOf)) {
      const parsed = parseSettings(Object.fromEntries(words))
      if ('problem' in parsed) throw new Error(parsed.problem)
      for (const field of fieldsFor(words).filter(({ usual }) => usual !== 'prompt'))
        expect([field.name, usualOf(field, words, undefined)]).toEqual([field.name, String(parsed.settings[field.usual])])
    }
    const dtype = FIELDS.find(({ name }) => name === 'dtype')
    const report = answer(wordsOf({ params: '8b', dtype: 'fp16' }))
    expect(dtype && usualOf(dtype, wordsOf({}), report)).toBe('fp16')
    expect(dtype && usualOf(dtype, wordsOf({ dtype: 'int8' }), report)).toBe('bf16')
  })

  test('every value that is offered for a kind of work is taken for it', () => {
    const problems = WORK.flatMap(({ value: train }) => {
      const work = { ...(train !== '' && { train }), gpus: '2', params: '8b' }
      return fieldsFor(wordsOf(work)).flatMap((field) =>
        field.kind === 'number'
          ? []
          : field.choices(wordsOf(work)).flatMap(({ value }) => {
              const parsed = parseSettings(queryOf(wordsOf({ ...work, [field.name]: value })))
              return 'problem' in parsed ? [parsed.problem] : []
            }),
      )
    })
    expect(problems).toEqual([])
  })
})

describe('the question', () => {
  test('leaves out what does not matter for the kind of work, so that another kind can be chosen at any time', () => {
    const words = wordsOf({ params: '8b', train: 'full', engine: 'vllm', utilization: '0.5', 'kv-cache': 'fp8', rank: '8', shard: 'zero3', nonsense: '1' })
    expect(queryOf(words)).toEqual({ params: '8b', train: 'full' })
    expect(queryOf(wordsOf({ params: '8b', engine: 'vllm', utilization: '0.5' }))).toEqual({ params: '8b', engine: 'vllm', utilization: '0.5' })
  })

  test('is none while nothing says how big the model is, or while its config is missing', () => {
    expect(questionOf(wordsOf({ batch: '2' }), undefined)).toBeUndefined()
    expect(questionOf(wordsOf({ config: HELD, params: '8b' }), undefined)).toBeUndefined()
    expect(questionOf(wordsOf({ config: HELD, batch: '2' }), '{}')).toEqual({ query: 'batch=2', config: '{}' })
    expect(questionOf(wordsOf({ config: '{"a":1}' }), '{}')?.config).toBe('{"a":1}')
  })

  test('another kind of work takes away a dtype that it does not know, and no other', () => {
    expect(workChanges('full', wordsOf({ train: 'qlora', dtype: 'nf4' }))).toEqual({ train: 'full', dtype: undefined })
    expect(workChanges('full', wordsOf({ dtype: 'fp16' }))).toEqual({ train: 'full' })
    expect(workChanges('', wordsOf({ train: 'qlora', dtype: 'nf4' }))).toEqual({ train: undefined })
  })

  test('reads the same as a command, quoted for a shell', () => {
    const question = questionOf(wordsOf({ params: '8b', train: 'lora', rank: '8', gpu: 'A100 80GB, T4' }), undefined)
    expect(question && commandOf(question)).toBe("warpwatch fit --params 8b --train lora --gpu 'A100 80GB, T4' --rank 8")
    const evil = questionOf(wordsOf({ params: "8b'; rm -rf /" }), undefined)
    expect(evil && commandOf(evil)).toBe(String.raw`warpwatch fit --params '8b'\''; rm -rf /'`)
    expect(commandOf({ query: 'batch=2', config: '{}' })).toBe('warpwatch fit --config config.json --batch 2')
  })
})

test.each([
  { params: '8b', train: 'full' },
  { params: '8b', train: 'full', dtype: 'fp32', precision: 'amp', batch: '8' },
  { params: '13b', train: 'lora', dtype: 'bf16', batch: '4', context: '4096', attention: 'eager' },
  { params: '32b', context: '32768', batch: '8' },
  { params: '70b', dtype: 'fp32' },
  { params: '8b', engine: 'vllm', utilization: '0.98' },
])('a suggestion for %o, once taken, is what was promised', (asked) => {
  const words = wordsOf(asked)
  const { suggestions } = answer(words).gpus[0] ?? { suggestions: [] }
  expect(suggestions).not.toEqual([])
  for (const { changes, total } of suggestions) {
    const taken = answer(wordsOf({ ...asked, ...suggestedChanges(changes, words) }))
    expect([changes, taken.estimate.total]).toEqual([changes, total])
    expect([changes, taken.gpus[0]?.verdict]).toEqual([changes, expect.stringMatching(/^fits(_not_at_peak)?$/)])
  }
})
