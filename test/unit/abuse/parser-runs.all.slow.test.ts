// The runs over parsers see what they promise to see: a throw, a slow input, a hang, a process that dies for want of memory.
import { describe, expect, test } from 'vitest'
import { hangs } from '../../abuse/parsers/faulty.ts'
import { MOST_BYTES, mutated } from '../../abuse/parsers/mutate.ts'
import { runParsers } from '../../abuse/parsers/run.ts'

describe('mutated inputs', () => {
  const seeds = [Buffer.from('{"pid": 4242, "name": "a"}\n'), Buffer.from('line 1\nline 2\n')]
  const all = Array.from({ length: 2_000 }, (_, index) => mutated(seeds, 7, index, MOST_BYTES))

  test('are the same for the same seed and number, and others for another seed', () => {
    expect(mutated(seeds, 7, 1_234, MOST_BYTES)).toEqual(all[1_234])
    expect(Array.from({ length: 100 }, (_, index) => mutated(seeds, 8, index, MOST_BYTES))).not.toEqual(all.slice(0, 100))
  })
  test('differ from the whole ones, some grow to the limit and none beyond', () => {
    expect(new Set(all.map((bytes) => bytes.toString('latin1'))).size).toBeGreaterThan(1_500)
    expect(Math.max(...all.map(({ length }) => length))).toBeGreaterThan(MOST_BYTES - 400)
    expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(MOST_BYTES)
  })
})

const firstWith = (pattern: RegExp): number =>
  Array.from({ length: 200 }, (_, index) => index).findIndex((index) => pattern.test(mutated(hangs.seeds, 1, index, hangs.mostBytes).toString('utf8')))

const run = async (names: readonly string[], limits: { readonly silenceMs?: number; readonly heapMib?: number }) => {
  const { inputs, failures } = await runParsers(names, { seed: 1, share: 1, lanes: 1, module: './faulty.ts', ...limits })
  return { inputs, failures, of: (parser: string) => failures.filter((failure) => failure.parser === parser).map(({ what }) => what) }
}

/** Longer than anything but the hang takes on a machine with ten times as much to do as it has processors. */
const SILENCE_MS = 15_000

test('what throws, is slow or hangs is named with its input, and the sound ones after it are still run', async () => {
  const { inputs, failures, of } = await run(['sound', 'throws', 'slow', 'hangs', 'sound-too'], { silenceMs: SILENCE_MS })
  expect(of('throws')[0]).toMatch(/^SyntaxError/)
  expect(of('slow')[0]).toMatch(/^took \d+ ms of CPU, 25 allowed$/)
  expect(of('hangs')).toEqual([`gave no answer for ${SILENCE_MS / 1_000} s`])
  expect(failures.find(({ parser }) => parser === 'hangs')?.index).toBe(firstWith(/ {2}/))
  expect([...of('sound'), ...of('sound-too')]).toEqual([])
  expect(inputs).toBeGreaterThanOrEqual(400)
})

test('what takes all memory is named, too', async () => {
  const { of } = await run(['grows', 'sound'], { heapMib: 64 })
  expect(of('grows')).toEqual([expect.stringMatching(/heap out of memory/)])
  expect(of('sound')).toEqual([])
})
