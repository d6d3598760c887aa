// Estimates for any settings: more of anything never needs less, the parts are the total, and every figure is one.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { estimate } from '../../agent/fit/estimate.ts'
import { readConfig } from '../../agent/fit/hf-config.ts'
import { modelOf, modelOfSize, type FitModel } from '../../agent/fit/model.ts'
import { parseSettings } from '../../agent/fit/settings.ts'
import { judge } from '../../agent/fit/verdict.ts'
import { FIT_DTYPES, FIT_OPTIMIZERS, FIT_SHARDS, FIT_VERDICTS, type FitSettings, type Range } from '../../agent/model/fit.ts'
import { CONFIGS } from '../unit/fit/configs.ts'

const settings: fc.Arbitrary<FitSettings> = fc
  .record({
    train: fc.constantFrom(undefined, 'full', 'lora', 'qlora'),
    dtype: fc.option(fc.constantFrom(...FIT_DTYPES), { nil: undefined }),
    context: fc.integer({ min: 1, max: 131_072 }).map(String),
    prompt: fc.option(fc.integer({ min: 1, max: 4_096 }).map(String), { nil: undefined }),
    batch: fc.integer({ min: 1, max: 256 }).map(String),
    'kv-cache': fc.constantFrom('fp16', 'fp8', 'int8', 'off'),
    rank: fc.integer({ min: 1, max: 512 }).map(String),
    targets: fc.constantFrom('qv', 'attention', 'all'),
    optimizer: fc.constantFrom(...FIT_OPTIMIZERS),
    precision: fc.constantFrom('same', 'amp', 'master'),
    checkpointing: fc.constantFrom('on', 'off'),
    attention: fc.constantFrom('flash', 'eager'),
    loss: fc.constantFrom('full', 'chunked'),
    gpus: fc.integer({ min: 1, max: 64 }).map(String),
    shard: fc.option(fc.constantFrom(...FIT_SHARDS), { nil: undefined }),
    engine: fc.constantFrom('pytorch', 'vllm'),
  })
  .map((words) => parseSettings(words))
  .filter((parsed) => 'settings' in parsed)
  .map(({ settings: found }) => found)
const size = fc.double({ min: 1e5, max: 1e12, noNaN: true }).map(Math.round)
const model: fc.Arbitrary<FitModel> = fc.oneof(
  size.map((parameters) => modelOfSize(parameters, 'x')),
  fc.constantFrom(...Object.entries(CONFIGS)).map(([name, config]) => modelOf({ name, config: readConfig(config) })),
)
const KEYS = ['low_bytes', 'likely_bytes', 'high_bytes'] as const
/** Each figure is rounded once a part. */
const SLACK = 64

const isNotLess = (more: Range, less: Range): boolean => KEYS.every((key) => more[key] >= less[key] - SLACK)

test('parts sum up to the total, low is not above likely, likely not above high, and all are whole and finite', () => {
  fc.assert(
    fc.property(model, settings, (which, how) => {
      const { parts, total } = estimate(which, how)
      for (const key of KEYS) expect(parts.reduce((sum, part) => sum + part[key], 0)).toBe(total[key])
      for (const { low_bytes: low, likely_bytes: likely, high_bytes: high } of [...parts, total]) {
        expect([low, likely, high].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)).toBe(true)
        expect(low <= likely && likely <= high).toBe(true)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('more parameters, tokens or sequences never need less', () => {
  fc.assert(
    fc.property(size, size, settings, fc.integer({ min: 1, max: 8 }), (a, b, how, factor) => {
      const total = (parameters: number, rest: Partial<FitSettings> = {}): Range => estimate(modelOfSize(parameters, 'x'), { ...how, ...rest }).total
      const base = total(a)
      expect(isNotLess(total(Math.max(a, b)), total(Math.min(a, b)))).toBe(true)
      expect(isNotLess(total(a, { batch: how.batch * factor }), base)).toBe(true)
      expect(isNotLess(total(a, { context: how.context * factor }), base)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('what is told to save memory never needs more', () => {
  fc.assert(
    fc.property(model, settings, (which, how) => {
      const likely = (rest: Partial<FitSettings>): number => estimate(which, { ...how, ...rest }).total.likely_bytes
      const none = { gpus: 1, shard: 'none' } as const
      expect(likely({ attention: 'flash' })).toBeLessThanOrEqual(likely({ attention: 'eager' }) + SLACK)
      expect(likely({ kv_cache: 'fp8' })).toBeLessThanOrEqual(likely({ kv_cache: 'fp16' }) + SLACK)
      expect(likely({ loss: 'chunked' })).toBeLessThanOrEqual(likely({ loss: 'full' }) + SLACK)
      expect(likely({ optimizer: 'adamw8bit', ...none })).toBeLessThanOrEqual(likely({ optimizer: 'adamw', ...none }) + SLACK)
    }),
    { numRuns: 500 },
  )
})

test('any card gives one of the verdicts, and a larger one no worse', () => {
  fc.assert(
    fc.property(model, settings, fc.nat(2 ** 40), fc.nat(2 ** 40), (which, how, a, b) => {
      const estimated = estimate(which, how)
      const rank = (capacity: number): number => FIT_VERDICTS.indexOf(judge(estimated, { name: 'x', capacity_bytes: capacity }).verdict)
      const [small, large] = [rank(Math.min(a, b)), rank(Math.max(a, b))]
      expect(small).toBeGreaterThanOrEqual(0)
      expect(large).toBeLessThanOrEqual(small)
    }),
    { numRuns: 500 },
  )
})
