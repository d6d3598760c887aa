// Exact weights from headers: real files in the format, whole and cut off, one and several, plain and quantised.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readWeights } from '../../../agent/cli/fit/files.ts'
import { estimate } from '../../../agent/fit/estimate.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { modelOf } from '../../../agent/fit/model.ts'
import { parseSettings } from '../../../agent/fit/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-fit-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Tensor = readonly [name: string, dtype: string, shape: readonly number[], bytes: number]

/** A file whose data is not there: only the header is ever read. */
function write(name: string, tensors: readonly Tensor[], metadata = true): string {
  let at = 0
  const entries = tensors.map(([tensor, dtype, shape, bytes]) => [tensor, { dtype, shape, data_offsets: [at, (at += bytes)] }] as const)
  const header = Buffer.from(JSON.stringify({ ...(metadata ? { __metadata__: { format: 'pt' } } : {}), ...Object.fromEntries(entries) }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const file = join(folder, name)
  writeFileSync(file, Buffer.concat([length, header, Buffer.alloc(16)]))
  return file
}
const raw = (name: string, ...parts: readonly Buffer[]): string => {
  const file = join(folder, name)
  writeFileSync(file, Buffer.concat(parts))
  return file
}
const lengthOf = (length: number): Buffer => {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(BigInt(length))
  return buffer
}

const PLAIN: readonly Tensor[] = [
  ['model.embed_tokens.weight', 'BF16', [100, 8], 1_600],
  ['model.layers.0.self_attn.q_proj.weight', 'BF16', [8, 8], 128],
  ['model.layers.0.input_layernorm.weight', 'BF16', [8], 16],
  ['lm_head.weight', 'BF16', [100, 8], 1_600],
]

describe('safetensors headers', () => {
  test('say the weights to the byte', () => {
    const found = readWeights(write('one.safetensors', PLAIN))
    expect(found).toEqual({ tensors: 4, bytes: 3_344, parameters: 1_672, linear: 64, largestLinear: 64, dtype: 'BF16', packed: false })
  })

  test('of several shards are summed up, through the index or the folder', () => {
    write('model-00001-of-00002.safetensors', PLAIN.slice(0, 2))
    write('model-00002-of-00002.safetensors', PLAIN.slice(2), false)
    const weight_map = Object.fromEntries(PLAIN.map(([name], i) => [name, `model-0000${i < 2 ? 1 : 2}-of-00002.safetensors`]))
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ metadata: { total_size: 3_344 }, weight_map }))
    expect(readWeights(join(folder, 'model.safetensors.index.json')).bytes).toBe(3_344)
    expect(readWeights(folder).parameters).toBe(1_672)
  })

  test('of quantised weights are exact where their numbers cannot be counted', () => {
    const weights = readWeights(
      write('gptq.safetensors', [
        ['model.layers.0.self_attn.q_proj.qweight', 'I32', [8, 64], 2_048],
        ['model.layers.0.self_attn.q_proj.scales', 'F16', [1, 64], 128],
      ]),
    )
    expect([weights.packed, weights.bytes]).toEqual([true, 2_176])
    const parsed = parseSettings({ dtype: 'int4' })
    if ('problem' in parsed) throw new Error(parsed.problem)
    const found = estimate(modelOf({ name: 'x', weights }), parsed.settings)
    expect(found.parts.find(({ part }) => part === 'weights')).toMatchObject({ low_bytes: 2_176, likely_bytes: 2_176, high_bytes: 2_176 })
    expect(found.unknown.join()).toContain('KV cache and activations')
  })

  test('with a config give both: exact weights and a shape', () => {
    const config = readConfig({ model_type: 'llama', hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 16, vocab_size: 100 })
    const model = modelOf({ name: 'x', weights: readWeights(write('both.safetensors', PLAIN)), config })
    expect([model.knownBy, model.counts.total, model.architecture?.family]).toEqual(['weights', 1_672, 'llama'])
  })

  test.each([
    ['a file of nothing', () => raw('empty.safetensors'), /must begin with a length of 8 bytes, and has 0/],
    ['a pickle', () => raw('pickle.safetensors', Buffer.from('80027d71002e80027d71002e', 'hex')), /not a safetensors file/],
    ['a header that is longer than the file', () => raw('cut.safetensors', lengthOf(1_000), Buffer.from('{}')), /cut off/],
    ['a header of no JSON', () => raw('text.safetensors', lengthOf(4), Buffer.from('{{{{')), /the header is not valid JSON/],
    ['no tensors', () => write('none.safetensors', []), /names no tensors/],
    ['a list', () => raw('list.safetensors', lengthOf(2), Buffer.from('[]')), /tensors by name/],
    ['a tensor without a shape', () => raw('shape.safetensors', lengthOf(17), Buffer.from('{"a":{"dtype":1}}')), /tensor "a"/],
    ['fewer bytes than the shape needs', () => write('less.safetensors', [['a.weight', 'F32', [4, 4], 60]]), /must have 64 bytes of F32, not 60/],
    ['an index that leads elsewhere', () => raw('up.json', Buffer.from('{"weight_map":{"a":"../../etc/passwd"}}')), /must name files beside it/],
    ['an index of nothing', () => raw('zero.json', Buffer.from('{"weight_map":{}}')), /names no shards/],
    ['a file that is not there', () => join(folder, 'nowhere.safetensors'), /ENOENT/],
  ])('%s is refused in words', (_, file, words) => {
    expect(() => readWeights(file())).toThrow(words)
  })
})
