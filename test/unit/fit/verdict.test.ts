// What each GPU says to an estimate, which settings are proposed, cards by name, and words that are refused.
import { describe, expect, test } from 'vitest'
import { CARD_NAMES, cardsNamed, usualCards } from '../../../agent/fit/cards.ts'
import { estimate } from '../../../agent/fit/estimate.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { ModelError, modelOf, parseParameters } from '../../../agent/fit/model.ts'
import { fitReport } from '../../../agent/fit/report.ts'
import { parseSettings, type SettingWords } from '../../../agent/fit/settings.ts'
import { fitsNow, judge } from '../../../agent/fit/verdict.ts'
import type { FitEstimate, FitSettings, GpuRoom } from '../../../agent/model/fit.ts'
import { CONFIGS, type KnownModel } from './configs.ts'

const GIB = 2 ** 30
const settingsOf = (words: SettingWords): FitSettings => {
  const parsed = parseSettings(words)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.settings
}
const model = (name: KnownModel) => modelOf({ name, config: readConfig(CONFIGS[name]) })
const BASE = estimate(model('Llama 3 8B'), settingsOf({}))
/** Needs ten GiB, from eight to twelve. */
const needs = (rest: Partial<FitEstimate> = {}): FitEstimate => ({
  ...BASE,
  unknown: [],
  total: { low_bytes: 8 * GIB, likely_bytes: 10 * GIB, high_bytes: 12 * GIB },
  ...rest,
})
const room = (capacity: number, rest: Partial<GpuRoom> = {}): GpuRoom => ({ name: 'card', capacity_bytes: capacity * GIB, ...rest })
const holder = (gib: number) => ({ pid: 7, process: 'python3', container: 'notebook', bytes: gib * GIB })

describe('the verdict', () => {
  test.each<readonly [string, GpuRoom, string, boolean]>([
    ['an empty card by name with room', room(24), 'fits', false],
    ['one into which only the likely figure fits', room(11), 'fits', true],
    ['one that is too small, whatever happens', room(6), 'never', false],
    ['one into which only the low figure fits', room(9), 'never', true],
    ['one that has room now', room(24, { free_bytes: 20 * GIB }), 'fits', false],
    ['one that has room now and had it all week', room(24, { free_bytes: 20 * GIB, peak_used_bytes: 11 * GIB }), 'fits', false],
    ['one whose others have used more', room(24, { free_bytes: 20 * GIB, peak_used_bytes: 22 * GIB }), 'fits_not_at_peak', false],
    ['one that somebody idle holds', room(24, { free_bytes: 4 * GIB, idle_holders: [holder(20)], holders: [] }), 'fits_when_idle_leave', false],
    ['one that somebody holds who works', room(24, { free_bytes: 4 * GIB, holders: [holder(20)] }), 'fits_when_empty', false],
    ['one where even the idle leave too little', room(24, { free_bytes: 4 * GIB, idle_holders: [holder(2)], holders: [holder(18)] }), 'fits_when_empty', false],
  ])('of %s', (_, gpu, verdict, tight) => {
    const found = judge(needs(), gpu)
    expect([found.verdict, found.tight]).toEqual([verdict, tight])
    expect(found.headroom.empty_bytes).toBe(gpu.capacity_bytes - 10 * GIB)
  })

  test('names who must leave, and says how much is missing', () => {
    expect(judge(needs(), room(24, { free_bytes: 4 * GIB, idle_holders: [holder(20)] })).why).toContain('notebook (pid 7, 20 GiB)')
    expect(judge(needs(), room(24, { free_bytes: 4 * GIB, holders: [holder(20)] })).why).toContain('6 GiB are missing')
    expect(judge(needs(), room(24, { free_bytes: 20 * GIB, peak_used_bytes: 22 * GIB })).why).toContain('8 GiB would be missing')
  })

  test('is not sure where memory has lain stranded before', () => {
    const plain = room(13, { free_bytes: 13 * GIB })
    expect(judge(needs(), plain).tight).toBe(false)
    expect(judge(needs(), { ...plain, stranded_ratio: 0.4 }).tight).toBe(true)
  })

  test('of a lower bound is a no or nothing', () => {
    const bound = needs({ unknown: ['activations: its shape is not known'] })
    expect([judge(bound, room(24)).verdict, judge(bound, room(6)).verdict]).toEqual(['unknown', 'never'])
  })

  test('of vLLM goes by the share that it takes', () => {
    const vllm = needs({ settings: settingsOf({ engine: 'vllm', utilization: '0.9' }) })
    expect(judge(vllm, room(24, { free_bytes: 23 * GIB })).verdict).toBe('fits')
    expect(judge(vllm, room(24, { free_bytes: 15 * GIB })).verdict).toBe('fits_when_empty')
    expect(judge(vllm, room(24)).claim_bytes).toBe(Math.floor(0.9 * 24 * GIB))
    expect(judge(needs({ settings: settingsOf({ engine: 'vllm', utilization: '0.4' }) }), room(24)).why).toContain('raise utilization')
  })
})

describe('what would make it fit', () => {
  const first = (name: KnownModel, words: SettingWords, gpu: GpuRoom) => fitReport(model(name), settingsOf(words), [gpu]).gpus[0]
  test('is the least that does', () => {
    const answer = first('Llama 3 8B', { train: 'lora', batch: '8', context: '2048' }, room(40))
    expect(answer?.suggestions[0]?.changes.every((change) => /^--(?:batch|loss|checkpointing)/.test(change))).toBe(true)
    const tuned = first('Llama 3 8B', { train: 'full', context: '1024' }, room(23.5))
    expect(tuned?.suggestions.some(({ changes }) => changes.some((change) => change.includes('lora')))).toBe(true)
  })

  test.each<readonly [KnownModel, SettingWords, number]>([
    ['Llama 3 8B', {}, 12],
    ['Llama 3 8B', { train: 'full', batch: '4' }, 79],
    ['Llama 2 70B', { batch: '16', context: '4096' }, 79],
    ['Qwen 7B', { train: 'lora', context: '8192' }, 24],
    ['Qwen2.5 32B', { engine: 'vllm', context: '32768', batch: '8' }, 79],
  ])('of %s with %o on %i GiB holds what it says', (name, words, gib) => {
    const answer = first(name, words, room(gib))
    expect(answer === undefined || fitsNow(answer)).toBe(false)
    expect(answer?.suggestions.length).toBeGreaterThan(0)
    for (const { total, changes, why } of answer?.suggestions ?? []) {
      expect(total.likely_bytes).toBeLessThanOrEqual(gib * GIB)
      expect(why.length).toBe(changes.length)
      // Every flag that is proposed is one that can be given.
      const given = Object.fromEntries([...changes.join(' ').matchAll(/--([a-z-]+) (\S+)/g)].map(([, flag = '', value]) => [flag, value]))
      expect(parseSettings({ ...words, ...given })).toHaveProperty('settings')
      const { settings } = { settings: settingsOf({ ...words, ...given }) }
      expect(fitsNow(judge(estimate(model(name), settings), room(gib)))).toBe(true)
    }
  })

  test('is nothing where nothing helps', () => expect(first('Llama 2 70B', {}, room(2))?.suggestions).toEqual([]))
  test('shares the work only with GPUs that are there', () => {
    const alone = { name: 'A', uuid: 'GPU-0', index: 0, capacity_bytes: 79 * GIB, free_bytes: 79 * GIB }
    const several = [0, 1, 2, 3].map((index) => ({ ...alone, uuid: `GPU-${index}`, index }))
    const shared = (rooms: readonly GpuRoom[]) => JSON.stringify(fitReport(model('Llama 2 70B'), settingsOf({}), rooms).gpus[0]?.suggestions).includes('--gpus')
    const full = several.map((gpu) => (gpu.index > 0 ? { ...gpu, free_bytes: GIB } : gpu))
    expect([shared([alone]), shared(several), shared(full)]).toEqual([false, true, false])
  })
})

describe('words', () => {
  test.each([
    ['NVIDIA A100-SXM4-80GB', 79.15],
    ['a100 80gb', 79.15],
    ['NVIDIA GeForce RTX 3090', 23.52],
    ['3090', 23.52],
    ['NVIDIA H100 80GB HBM3', 79.1],
    ['Tesla T4', 14.56],
    ['24GiB', 24],
  ])('%s is a card', (name, gib) => {
    const found = cardsNamed(name)
    expect('problem' in found ? found.problem : found.map(({ capacity_bytes: bytes }) => bytes / GIB)).toEqual([expect.closeTo(gib, 2)])
  })
  test('cards are told apart, and others refused with the nearest', () => {
    expect(new Set(CARD_NAMES.flatMap((name) => JSON.stringify(cardsNamed(name)))).size).toBe(CARD_NAMES.length)
    expect(cardsNamed('T5')).toEqual({ problem: expect.stringContaining('nearest is T4') })
    expect(cardsNamed('0GiB')).toHaveProperty('problem')
    expect(cardsNamed(Array(40).fill('T4').join(','))).toHaveProperty('problem')
    expect(usualCards().length).toBeGreaterThan(4)
  })

  test.each([
    ['8b', 8e9],
    ['0.5B', 5e8],
    ['350m', 35e7],
    ['8030261248', 8_030_261_248],
    ['1.8T', 1.8e12],
  ])('%s are parameters', (text, parameters) => expect(parseParameters(text)).toBe(parameters))
  test.each(['', 'b', '-8b', '8x7b', '1e9', '0', '5', '999999999999999t', '8 b b'])('%j are none', (text) => {
    expect(() => parseParameters(text)).toThrow(ModelError)
  })

  test.each([
    [{ dtype: 'float16' }, /dtype: must be fp32/],
    [{ context: '0' }, /context: must be a whole number/],
    [{ batch: '1.5' }, /batch/],
    [{ train: 'full', dtype: 'nf4' }, /quantised weights cannot be trained/],
    [{ train: 'qlora', dtype: 'bf16' }, /it is train lora/],
    [{ shard: 'zero3' }, /only goes with gpus of 2 or more/],
    [{ gpus: '4', shard: 'zero3' }, /for inference/],
    [{ engine: 'vllm', train: 'full' }, /must be pytorch/],
    [{ utilization: '1.5' }, /share/],
    [{ rank: '99999' }, /rank/],
  ])('%o is refused', (words, problem) => expect(parseSettings(words)).toEqual({ problem: expect.stringMatching(problem) }))

  test('a model of a type that nobody knows needs its size, and gets no shape', () => {
    const config = readConfig({ ...CONFIGS['Llama 2 7B'], model_type: 'mamba9' })
    expect(() => modelOf({ name: 'x', config })).toThrow(/nothing is known of models of type "mamba9"/)
    const found = estimate(modelOf({ name: 'x', config, params: 7e9 }), settingsOf({}))
    expect([found.unknown.length, found.parts.some(({ part }) => part === 'kv_cache')]).toEqual([1, false])
    expect(() => modelOf({ name: 'x' })).toThrow(ModelError)
  })
})
