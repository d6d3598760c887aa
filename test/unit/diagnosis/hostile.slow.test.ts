// Log lines are untrusted: no family may take longer than in proportion to the text, whatever is in it.
import { describe, expect, test } from 'vitest'
import { explainChunks, explainText } from '../../../agent/diagnosis/explain.ts'
import { FAMILIES, logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { LINE_LIMIT } from '../../../agent/diagnosis/passage.ts'
import { createSituations } from '../../../agent/diagnosis/situation/situation.ts'
import { unbounded } from '../../setup/bounded.ts'
import { IS_LONG, part, rounds } from '../../setup/rounds.ts'

/** What patterns repeat over: a literal followed by much of one of these is where backtracking would show. */
const FILLERS = [
  ' ',
  'a',
  '0',
  '1.',
  '(',
  '[',
  ':',
  '/a',
  'GPU 0 ',
  '12.34 GiB ',
  '&quot;',
  '\\n',
  'pid=1 ',
  "'",
  ',',
  '-',
  '.',
  'Process 1 has 1.00 GiB memory in use. ',
  'NVML_SUCCESS == ',
  'from 1 -> 2 ',
  'batch 1 ',
  '| ',
  '> ',
  'A1.b_',
  '\u001b[0m',
]

const filled = (start: string, filler: string, length: number): string => start + filler.repeat(Math.ceil(length / filler.length)).slice(0, length)

/** More than what is judged of a line: a quadratic pattern takes seconds for it, a sound one a millisecond. `npm run test:long` takes four times as much. */
const LENGTH = rounds({ full: 4, quick: 1 }) * LINE_LIMIT

describe.each(FAMILIES.map((family, place) => ({ id: family.id, family, place })))('$id', ({ family, place }) => {
  test('the longest lines take no more than their length, whatever repeats in them', () => {
    const slow = family.literals.flatMap((literal, at) => {
      const word = literal.replaceAll('\n', '')
      // What is looked for in the lines around is the same for each literal of a family.
      const beside = at === 0 || IS_LONG ? LENGTH : 64
      return unbounded(
        [...(at === 0 ? part(FILLERS, place, 4) : part(FILLERS, place + at, 12)), word, `${word} `, word.slice(0, -1)].map((filler) => {
          const lines = [filled('', filler, 64), filled(`${word} `, filler, LENGTH), filled('', filler, beside)]
          const situations = createSituations()
          return [`${JSON.stringify(word)} + ${JSON.stringify(filler)}`, () => void family.recognise(lines, 1, () => situations.at(lines, 1, 1))]
        }),
      )
    })
    expect(slow).toEqual([])
  })
})

describe('texts that are no logs', () => {
  const scanner = logScanner()
  const megabytes = (n: number): number => n * 2 ** 20
  const oom = 'CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 80.00 GiB of which 1.00 GiB is free.'
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

  test('a line of 10 MB with a fault in its middle', () => {
    const chunks = [bytes('x'.repeat(megabytes(5))), bytes(` ${oom} `), bytes('y'.repeat(megabytes(5)))]
    const [fault] = explainChunks(scanner, chunks)
    expect(fault?.facts).toMatchObject({ gpu_index: 3, requested_bytes: 2 * 2 ** 30 })
    expect(fault?.evidence[0]?.text).toMatch(/^\[cut….*out of memory.*cut\]$/)
    expect(fault?.evidence[0]?.text.length).toBeLessThan(LINE_LIMIT)
  })

  test('binary garbage and invalid UTF-8 around a fault', () => {
    const garbage = Uint8Array.from({ length: megabytes(2) }, (_, i) => (i * 2_654_435_761) >>> 24)
    const [fault] = explainChunks(scanner, [garbage, bytes(`\n${oom}\n`), garbage])
    expect(fault?.facts.gpu_index).toBe(3)
  })

  test('empty, one line end, only line ends', () => {
    for (const text of ['', '\n', '\r\n', '\n'.repeat(100_000)]) expect(explainText(scanner, text)).toEqual([])
    expect(explainChunks(scanner, [])).toEqual([])
    expect(explainChunks(scanner, [bytes('\n'.repeat(megabytes(1)))])).toEqual([])
  })

  test('thousands of the same fault are one, in bounded time', () => {
    const text = `[rank0]: ${oom}\n`.repeat(rounds({ full: 100_000, quick: 5_000 }))
    const faults = explainChunks(scanner, [bytes(text)])
    expect(faults.map((fault) => fault.kind)).toEqual(['cuda_oom'])
  })

  test('thousands of different faults stay bounded', () => {
    const text = Array.from({ length: rounds({ full: 5_000, quick: 1_000 }) }, (_, i) => oom.replace('GPU 3', `GPU ${i}`)).join('\n')
    expect(explainChunks(scanner, [bytes(text)]).length).toBeLessThanOrEqual(64)
  })
})
