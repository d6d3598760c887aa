// Estimates against memory that others have measured and published.
import { describe, expect, test } from 'vitest'
import { FIT_PARTS } from '../../../agent/model/fit.ts'
import { committed } from '../../../scripts/generators/generator.ts'
import type { KnownModel } from './configs.ts'
import { FOOTPRINTS, SOURCES } from './footprints.ts'
import { estimateOf, held } from './held.ts'
import { PUBLISHED } from './published.ts'

const WITHIN = 0.15
const name = ({ model, what }: { readonly model: string; readonly what: string }): string => `${model}: ${what}`
const agreeing = FOOTPRINTS.filter(({ off }) => off === undefined)
const disagreeing = FOOTPRINTS.filter(({ off }) => off !== undefined)

describe('published footprints', () => {
  test.each(agreeing.map((footprint) => [name(footprint), footprint] as const))('%s: within 15 %%', (_, footprint) => {
    expect(Math.abs(held(footprint).off)).toBeLessThanOrEqual(WITHIN)
  })

  // An estimate that has become better must lose its excuse.
  test.each(disagreeing.map((footprint) => [name(footprint), footprint] as const))('%s: further off, as is said', (_, footprint) => {
    expect(Math.abs(held(footprint).off)).toBeGreaterThan(WITHIN)
  })

  test('are of every kind, from many hands, and most agree', () => {
    const kinds = (pattern: RegExp): number => agreeing.filter(({ what }) => pattern.test(what)).length
    expect(kinds(/AdamW|full training|Adafactor|8-bit/)).toBeGreaterThan(5)
    expect(kinds(/^LoRA/)).toBeGreaterThan(5)
    expect(kinds(/^Q-?LoRA/i)).toBeGreaterThan(2)
    expect(kinds(/int8|gptq8/)).toBeGreaterThan(2)
    expect(kinds(/^(?:bf16|fp16)/)).toBeGreaterThan(5)
    expect(new Set(agreeing.map(({ source }) => source)).size).toBeGreaterThan(5)
    expect(disagreeing.length / FOOTPRINTS.length).toBeLessThan(0.2)
  })

  test('adapters have the number of parameters that LitGPT published', () => {
    const trainable = (model: KnownModel) => estimateOf({ model, words: { train: 'lora', rank: '8', targets: 'qv' } }).model.trainable
    expect((['phi-1.5', 'Llama 2 7B', 'Llama 2 13B'] as const).map(trainable)).toEqual([1_572_864, 4_194_304, 6_553_600])
  })

  test('docs/fit.md names every part', () => {
    const page = committed('docs/fit.md')
    expect(FIT_PARTS.filter((part) => !page.replaceAll(' ', '_').toLowerCase().includes(`|_${part}`))).toEqual([])
    expect(page.includes(`${PUBLISHED.length} published models`)).toBe(true)
  })

  test('each source is one that is used', () => {
    expect(Object.keys(SOURCES).filter((source) => !FOOTPRINTS.some((footprint) => footprint.source === source))).toEqual([])
  })

  test('nearly all that agree lie within the range that is told', () => {
    const outside = agreeing.filter((footprint) => {
      const { low_bytes: low, high_bytes: high } = held(footprint)
      // The weights alone are told to the byte, what is measured is rounded to hundredths and has small buffers.
      return footprint.bytes < low * 0.97 || footprint.bytes > high * 1.03
    })
    expect(outside.length / agreeing.length).toBeLessThan(0.1)
  })
})
