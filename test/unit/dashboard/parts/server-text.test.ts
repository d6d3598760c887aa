// An inference server as lines on a GPU's card and on a job's page: what is said, and whose it is.
import { describe, expect, test } from 'vitest'
import type { ServerRow } from '../../../../agent/model/live.ts'
import { gpusOf, isServerOf, nowText, splitText } from '../../../../dashboard/src/parts/server/text.ts'
import { GIB } from '../helpers.ts'

const server = (more: Partial<ServerRow> = {}): ServerRow => ({ name: 'chat', server: 'vllm', state: 'ready', ...more })

test('what is known is said, and nothing else', () => {
  const busy = server({ requests_running: 4, requests_waiting: 2, kv_cache_usage_ratio: 0.63, tokens_rate: { prompt: 9, generation: 1_204.4 } })
  expect(nowText(busy)).toBe('4 running, 2 waiting · KV cache 63 % · 1,204 tokens/s')
  expect(nowText(server({ requests_running: 0, requests_waiting: 0 }))).toBe('0 running')
  expect(nowText(server())).toBe('ready')
  expect(nowText({ name: 'far', server: 'ollama' })).toBe('state not known')
  expect(nowText(server({ state: 'dead' }))).toBe('dead')
  expect(nowText(server({ state: 'loading', requests_running: 1 }))).toBe('loading · 1 running')
})

test('what its memory is for, and over how many GPUs', () => {
  const split = { weights: 14.25 * GIB, kv_cache: 20.5 * GIB }
  expect(splitText(server({ memory_bytes: split, gpu: '3' }))).toBe('weights 14.3 GiB, KV cache 20.5 GiB')
  expect(splitText(server({ memory_bytes: split, gpu: '0,1' }))).toBe('weights 14.3 GiB, KV cache 20.5 GiB on its 2 GPUs')
  expect(splitText(server())).toBe('')
  expect(gpusOf(server({ gpu: '1,11' }))).toEqual(['1', '11'])
  expect(gpusOf(server())).toEqual([])
})

describe('whose server it is', () => {
  const job = (key: string, gpus: readonly number[], more: { readonly containers?: readonly string[]; readonly pids?: readonly number[] } = {}) => ({
    key,
    containers: [],
    pids: [],
    gpus,
    ...more,
  })
  const [chat, train, unit] = [
    job('chat', [0], { containers: ['chat'], pids: [10] }),
    job('train', [1], { containers: ['train'] }),
    job('unit:vllm.service', [0, 1], { pids: [20] }),
  ]
  const ownersOf = (row: ServerRow, all = [chat, train, unit]): readonly string[] => all.filter((one) => isServerOf(row, one, all)).map(({ key }) => key)

  test('that of its container', () => {
    expect(ownersOf(server({ container: 'chat', pid: 9, gpu: '0' }))).toEqual(['chat'])
    expect(ownersOf(server({ container: 'elsewhere', gpu: '0' }))).toEqual([])
  })
  test('outside of containers that of its process, else the only one that holds its GPUs there', () => {
    expect(ownersOf(server({ pid: 20, gpu: '0' }))).toEqual(['unit:vllm.service'])
    expect(ownersOf(server({ pid: 19, gpu: '0,1' }))).toEqual(['unit:vllm.service'])
    const other = job('pid:30', [0], { pids: [30] })
    expect(ownersOf(server({ pid: 19, gpu: '0' }), [chat, unit, other])).toEqual([])
    expect(ownersOf(server({ pid: 30, gpu: '0' }), [chat, unit, other])).toEqual(['pid:30'])
    expect(ownersOf(server({ pid: 19 }))).toEqual([])
  })
})
