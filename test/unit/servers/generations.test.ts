// Each family in an old and a new version: the same figures under the names of each, or under those that replaced them. The pages are our own.
import { describe, expect, test } from 'vitest'
import type { Family } from '../../../agent/servers/family.ts'
import type { ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'
import { JSONS } from './pages/json.ts'
import { TEXTS } from './pages/texts.ts'
import { VERSIONS } from './pages/versions.ts'

describe.each([...TEXTS, ...JSONS, ...VERSIONS])('%s', (_name, id, path, body, expected) => {
  const family: Family | undefined = FAMILIES.find((one) => one.id === id)
  const read = (text: string): ServerFigures | undefined => family?.pages.find((one) => one.path === path)?.read(text, { argv: [], figures: {} })
  test(`${id} ${path}`, () => expect(read(body)).toMatchObject(expected))
  test('a page that was cut off anywhere never throws', () => {
    for (let end = 0; end < body.length; end += Math.max(1, Math.floor(body.length / 40))) expect(() => read(body.slice(0, end))).not.toThrow()
  })
})

test('the log of a TensorRT-LLM engine, whoever serves it', () => {
  const text =
    '[TensorRT-LLM][INFO] Number of tokens per block: 64.\n[TensorRT-LLM][INFO] [MemUsageChange] Allocated 5.00 GiB\n[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 500\n'
  for (const id of ['triton', 'trtllm-serve']) expect(FAMILIES.find((one) => one.id === id)?.log?.(text)).toMatchObject({ kvCapacityTokens: 32_000 })
})

test('every family is played', () => {
  expect([...new Set([...TEXTS, ...JSONS].map(([, id]) => id))].toSorted()).toEqual(FAMILIES.map(({ id }) => id).toSorted())
})
