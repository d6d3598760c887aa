// Lists that repeat in a pickle are read once: the values, and the limits, are those of reading every list.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createEqualLists } from '../../agent/allocator/snapshot/equal-lists.ts'
import { LIMITS } from '../../agent/allocator/snapshot/limits.ts'
import { readPickle } from '../../agent/allocator/snapshot/pickle.ts'
import type { Item } from '../../agent/allocator/snapshot/values.ts'
import { createRowReader } from '../../agent/allocator/snapshot/rows.ts'
import { bytesOf, jitPickle, type Plain } from '../unit/allocator/snapshot/pickler.ts'

const RUNS = 500
const withEqualLists = (bytes: Uint8Array, limits = LIMITS): unknown => readPickle(bytes, { equalLists: createEqualLists(bytes), limits })
const outcome = (read: () => unknown): unknown => {
  try {
    return read()
  } catch (error) {
    return error instanceof Error ? error.message.replace(/, at byte \d+$/, '') : error
  }
}

/** Few different lists, in any order and depth, so that most of them stand many times. */
const few = fc.constantFrom<Plain>(
  [1, 2],
  [1, 2, [3]],
  [],
  ['a', ['b', 'a']],
  [[1, 2], 'text of some length, so that the list is found by its first bytes', { line: 7, name: 'a' }],
  [[1, 2], 'text of some length, so that the list is found by its first bytes', { line: 8, name: 'a' }],
  [70_000, 2 ** 40, null, true],
)
const many = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, few, few, fc.array(tie('value'), { maxLength: 8 }), fc.dictionary(fc.constantFrom('x', 'y', 'frames'), tie('value'))),
})).value

describe('repeated lists', () => {
  test('have the values that reading each of them has', () => {
    fc.assert(
      fc.property(fc.array(many, { maxLength: 30 }), fc.boolean(), (value, memoized) => {
        const lists = new Set<unknown>(memoized ? value : [])
        const bytes = jitPickle(value, lists)
        expect(withEqualLists(bytes)).toEqual(readPickle(bytes))
      }),
      { numRuns: RUNS },
    )
  })
  test('count towards the limits as if each was read', () => {
    fc.assert(
      fc.property(fc.array(many, { maxLength: 20 }), fc.nat(200), fc.nat(400), (value, containers, values) => {
        const bytes = jitPickle(value)
        const limits = { ...LIMITS, containers, values }
        expect(outcome(() => withEqualLists(bytes, limits))).toEqual(outcome(() => readPickle(bytes, { limits })))
      }),
      { numRuns: RUNS },
    )
  })

  /** Opcodes in any order: lists that grow after they were whole, kept values that are replaced, marks that end elsewhere. */
  const opcode = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom([']', '('], ['}', '('], ['e'], ['u'], ['K', 1], ['h', 0], ['h', 1]) },
    fc.constantFrom([']'], ['('], ['a'], ['q', 0], ['q', 1], ['q', 2], ['h', 2], ['0'], ['1'], ['2'], ['s'], [0x94], [0x85], ['t'], [0x8f]),
  )
  test('in a pickle that no pickler writes: never another value, and the same refusal', () => {
    fc.assert(
      fc.property(fc.array(fc.array(opcode, { maxLength: 12 }), { maxLength: 8 }), fc.nat(3), (blocks, times) => {
        const body = blocks.flatMap((block) => Array.from({ length: times + 1 }, () => block.flat()).flat())
        const bytes = bytesOf([0x80, 2], 'K', 5, 'q', 0, ']', 'q', 1, ...body, '.')
        expect(outcome(() => withEqualLists(bytes))).toEqual(outcome(() => readPickle(bytes)))
      }),
      { numRuns: RUNS * 6 },
    )
  })
})

describe('rows', () => {
  const columns = ['frames', 'b', 'missing']
  const read = (value: Plain): unknown => {
    const bytes = jitPickle(value)
    return readPickle(bytes, { equalLists: createEqualLists(bytes), rowOf: createRowReader<Item>({ first: 'frames', columns }, null) })
  }
  test('hold the wanted values of a dict that begins with the key, whatever the order of the rest', () => {
    expect(
      read([
        { frames: 1, a: 2, b: 3 },
        { frames: 4, b: 5, c: 6 },
        { b: 7, frames: 8 },
      ]),
    ).toEqual([[1, 3, null], [4, 5, null], { b: 7, frames: 8 }])
  })
})
