// Whatever a server answers, no reader throws, and none makes a figure that is no number.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'

const DEEP = 20_000
const PREFIXES = ['vllm:', 'ray_vllm_', 'sglang:', 'llamacpp:', 'tgi_', 'te_', 'lmdeploy:', 'trtllm_', 'nv_', 'num_requests_']
const GARBAGE: Readonly<Record<string, string>> = {
  nothing: '',
  'a list in a list': `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  'an object in an object': `${'{"data":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
  'a long line': `vllm:x{a="${'y'.repeat(2 ** 20)}"} 1`,
  'a long list': JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ id, n_ctx: 1e308, is_processing: true, n_prompt_tokens: 1e308 }))),
  'many series': PREFIXES.map((prefix) => Array.from({ length: 3_000 }, (_, at) => `${prefix}num_requests_running{a="${at}"} 1e308\n`).join('')).join(''),
  'no numbers': PREFIXES.map((prefix) => `${prefix}num_requests_running NaN\n${prefix}num_requests_waiting +Inf\n${prefix}prompt_tokens_total -Inf\n`).join(''),
  'a page of HTML': '<!doctype html><title>Sign in</title><form action="/login">',
  'a broken table': 'vllm:a{b="c\nvllm:d{\nvllm:e}\n{f="g"} 1\nvllm:h{i=j} 1\n# TYPE\n',
}
const numbersOf = (value: unknown): readonly number[] =>
  typeof value === 'number' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersOf) : []
/** Bounds of a histogram end in infinity. */
const HISTOGRAMS: ReadonlySet<string> = new Set(['timeToFirstToken', 'interTokenLatency', 'timePerOutputToken', 'requestDuration'])
const wrongOf = (figures: ServerFigures): readonly number[] =>
  Object.entries(figures).flatMap(([name, value]) => (HISTOGRAMS.has(name) ? [] : numbersOf(value).filter((each) => !Number.isFinite(each))))

describe.each(FAMILIES.map((family) => [family.id, family] as const))('%s', (_, family) => {
  const read = (text: string): readonly ServerFigures[] => {
    const known = { argv: ['x', '-np', '2'], figures: {} }
    const { child } = family
    const all = [family, ...(child === undefined ? [] : [child])].flatMap(({ proof, pages }) => [
      proof.read({ body: text, headers: {} }),
      ...pages.map((page) => page.read(text, known)),
    ])
    return [...all, family.log?.(text)].filter((one) => one !== undefined)
  }
  test.each(Object.entries(GARBAGE))('%s', (_name, text) => {
    expect(read(text).flatMap(wrongOf)).toEqual([])
  })
  test('anything', () => {
    const line = fc
      .tuple(fc.constantFrom(...PREFIXES), fc.string(), fc.string(), fc.double())
      .map(([prefix, name, label, value]) => `${prefix}${name}{a="${label}"} ${value}`)
    const text = fc.oneof(
      fc.string({ maxLength: 500 }),
      fc.json(),
      fc.array(line, { maxLength: 20 }).map((lines) => lines.join('\n')),
    )
    fc.assert(
      fc.property(text, (said) => {
        expect(read(said).flatMap(wrongOf)).toEqual([])
      }),
    )
  })
})
