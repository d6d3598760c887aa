// Long texts in pieces: what is found, and in which line, does not depend on where the pieces end.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { explainChunks, explainStream, explainText } from '../../../agent/diagnosis/explain.ts'
import { createLiteralSearch } from '../../../agent/diagnosis/literal-search.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const scanner = logScanner()
const encoder = new TextEncoder()
const OOM =
  'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 24.00 GiB total capacity; 20.00 GiB already allocated; 1.00 GiB free; 21.00 GiB reserved in total by PyTorch)'
const SHM = 'ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).'

function cut(bytes: Uint8Array, ends: readonly number[]): readonly Uint8Array[] {
  const sorted = [0, ...[...ends].sort((a, b) => a - b), bytes.length]
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i] ?? 0, end))
}

describe('pieces', () => {
  const filler = (n: number): string => `step ${n} loss 0.${n % 1000} tokens/s 12345`
  const lines = Array.from({ length: 12_000 }, (_, i) => (i === 3_000 ? OOM : i === 9_500 ? SHM : filler(i)))
  const bytes = encoder.encode(lines.join('\n'))
  const wanted = [
    ['cuda_oom', 3_001],
    ['shm_exhausted', 9_501],
  ]

  test('the same answer and the same line numbers for any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (ends) => {
        const faults = explainChunks(scanner, cut(bytes, ends))
        expect(faults.map((fault) => [fault.kind, fault.evidence[0]?.line])).toEqual(wanted)
      }),
      { numRuns: 40 },
    )
  })
  test('a stream and a text say the same', () => {
    const short = lines.slice(2_900, 3_100).join('\n')
    expect(explainStream(scanner, cut(encoder.encode(short), [10, 500, 7_000]))).toEqual(explainText(scanner, short))
  })
  test('the reader may use its buffer again', () => {
    const buffer = new Uint8Array(1_000)
    function* reused(): Generator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += buffer.length) {
        buffer.set(bytes.subarray(at, at + buffer.length))
        yield buffer.subarray(0, Math.min(buffer.length, bytes.length - at))
      }
    }
    expect(explainStream(scanner, reused()).map((fault) => fault.kind)).toEqual(['cuda_oom', 'shm_exhausted'])
  })
})

describe('the search for literals', () => {
  test('finds all that a plain search finds, in bytes and in strings', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'X', 'é', 'aXab', 'abababab', '\n'), maxLength: 120 })
    const literal = fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 8, maxLength: 12 })
    fc.assert(
      fc.property(text, fc.uniqueArray(literal, { minLength: 1, maxLength: 6 }), (hay, literals) => {
        const search = createLiteralSearch(literals)
        const wanted = (of: string): string[] =>
          literals
            .flatMap((word, id) => Array.from({ length: of.length }, (_, at) => at).flatMap((at) => (of.startsWith(word, at) ? [`${at}:${id}`] : [])))
            .sort()
        const inString: string[] = []
        search.inString(hay, (at, id) => inString.push(`${at}:${id}`))
        expect(inString.sort()).toEqual(wanted(hay))
        const bytes = Buffer.from(hay)
        const inBytes: string[] = []
        search.inBytes(bytes, 0, bytes.length, (at, id) => inBytes.push(`${at}:${id}`))
        expect(inBytes.sort()).toEqual(wanted(bytes.toString('latin1')))
      }),
    )
  })
  test('of a text that is searched in quarters: the same literals, in the order of the text, up to the last byte and across each border', () => {
    const literals = ['aaaaaaaa', 'needle in it', 'aaaa bbbb', '\nat the start']
    const search = createLiteralSearch(literals)
    const found = (bytes: Uint8Array): string[] => {
      const hits: string[] = []
      search.inBytes(bytes, 0, bytes.length, (at, id) => hits.push(`${at}:${id}`))
      return hits
    }
    const wanted = (text: string): string[] =>
      literals
        .flatMap((word, id) => [...text.matchAll(new RegExp(`(?=${word})`, 'g'))].map(({ index }) => [index, id] as const))
        .sort(([one], [other]) => one - other)
        .map(([at, id]) => `${at}:${id}`)
    const length = 8_000
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: length }), fc.constantFrom(...literals, 'aaaaaaaaaaaaaaaaaaaa', 'needle')), { maxLength: 40 }),
        fc.integer({ min: -24, max: 24 }),
        fc.constantFrom(...literals),
        (places, off, last) => {
          let text = 'xyz '.repeat(length / 4)
          const put = (at: number, word: string): void => void (text = `${text.slice(0, at)}${word}${text.slice(at + word.length)}`)
          for (const [at, word] of places) put(at, word)
          // Where the quarters meet, wherever that is for this length, and at the very end.
          for (const quarter of [1, 2, 3]) put(Math.round((text.length * quarter) / 4) + off, literals[quarter] ?? '')
          text += last
          expect(found(Buffer.from(text))).toEqual(wanted(text))
        },
      ),
      { numRuns: 100 },
    )
  })
  test('a literal that would slow the search for all, or is no ASCII, is refused', () => {
    expect(() => createLiteralSearch(['seven c'])).toThrow('at least 8 printable ASCII characters')
    expect(() => createLiteralSearch(['größer als'])).toThrow('printable ASCII')
  })
})
