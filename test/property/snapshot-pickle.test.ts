// The snapshot reader under fuzzing: plain values come back as they were, and whatever is done to a file, the worst is a SnapshotError.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { analyse } from '../../agent/allocator/snapshot/analyse.ts'
import { SnapshotError } from '../../agent/allocator/snapshot/error.ts'
import { readSnapshot } from '../../agent/allocator/snapshot/file.ts'
import { pictureOf } from '../../agent/allocator/snapshot/picture.ts'
import { readPickle } from '../../agent/allocator/snapshot/pickle.ts'
import { svgOf } from '../../agent/allocator/snapshot/svg.ts'
import { answerText } from '../../agent/cli/snapshot/answer.ts'
import { jitPickle, type Plain } from '../unit/allocator/snapshot/pickler.ts'
import { block, frames, free, MIB, segment, snapshot } from '../unit/allocator/snapshot/scene.ts'

const RUNS = 2_000
const key = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '1', '4294967295'))
const plainValue = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).map((double) => (Object.is(double, -0) ? 0 : double)),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value

const shared = frames('empty', 'step', 'main')
const example = snapshot(
  [
    segment([block(4 * MIB, 'active_allocated', { frames: shared }), free(6 * MIB), block(10 * MIB, 'active_allocated', { frames: shared })]),
    segment([free(2 * MIB)], { segment_type: 'small', stream: 2 ** 45 }),
    segment([block(20 * MIB), free(40 * MIB)], { is_expandable: true, segment_pool_id: [0, 3], device: 1 }),
  ],
  {
    device_traces: [
      [
        { action: 'alloc', addr: 1, size: 2 },
        { action: 'oom', device_free: 5 * MIB, size: 90 * MIB, stream: 0, time_us: 1.7e15, frames: shared },
      ],
    ],
  },
)
const pickled = jitPickle(example, new Set([shared]))
const json = Buffer.from(JSON.stringify(example))

/** How each refusal of a snapshot says what is wrong. */
const REFUSED =
  /\bmust be |\bis (truncated|damaged|no pickle opcode|of an older pickle protocol)\b|^refused: |too (large|deep) to read|at most \d|not valid JSON|must hold/

/** Everything that the command does with a file. */
function whole(bytes: Uint8Array): string {
  try {
    const read = readSnapshot(bytes)
    const { analysis, rules, rankOf } = analyse(read, { requestBytes: 3 * MIB })
    const picture = pictureOf({ snapshot: read, rules, rankOf, maxRuns: 50 })
    return `${JSON.stringify({ ...analysis, picture })}${answerText(analysis, 'x', false)}${svgOf(picture, analysis.devices, 'x')}`
  } catch (error) {
    if (error instanceof SnapshotError) return error.message
    throw error
  }
}

describe('plain values', () => {
  test('come back as they were, whatever their keys', () => {
    fc.assert(
      fc.property(plainValue, (value) => {
        expect(JSON.stringify(readPickle(jitPickle(value)))).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

describe('a snapshot', () => {
  test('is read whole', () => {
    expect(whole(pickled)).toContain('"reserved_bytes":23068672')
    expect(whole(json)).toContain('"reserved_bytes":23068672')
  })
  const edits = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'insert', 'remove', 'repeat')), {
    minLength: 1,
    maxLength: 6,
  })
  const mutate = (bytes: Uint8Array, changes: readonly (readonly [number, number, string])[]): Uint8Array => {
    const out = [...bytes]
    for (const [place, byte, how] of changes) {
      const at = place % Math.max(1, out.length)
      if (how === 'set') out[at] = byte
      else if (how === 'insert') out.splice(at, 0, byte)
      else if (how === 'remove') out.splice(at, 1 + (byte % 8))
      else out.splice(at, 0, ...out.slice(at, at + byte))
    }
    return Uint8Array.from(out)
  }
  test('that was changed anywhere is read or refused, never more', () => {
    let refused = 0
    fc.assert(
      fc.property(fc.constantFrom(pickled, json), edits, (bytes, changes) => {
        const said = whole(mutate(bytes, changes))
        if (said.startsWith('{')) return
        refused += 1
        expect(said).toMatch(REFUSED)
        expect(said).toMatch(/^[^\n\u0000-\u001f]+$/)
      }),
      { numRuns: RUNS },
    )
    expect(refused).toBeGreaterThan(RUNS / 4)
  })
  test('that was cut anywhere is refused', () => {
    for (let length = 0; length < pickled.length; length += 7) expect(whole(pickled.subarray(0, length))).toMatch(REFUSED)
    for (let length = 0; length < json.length; length += 7) expect(whole(json.subarray(0, length))).toMatch(REFUSED)
  })
  test('of random bytes after a pickle’s first two is refused, or is an empty list', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(whole(Uint8Array.from([0x80, 4, ...bytes]))).toMatch(new RegExp(`${REFUSED.source}|PyTorch held no memory`))
      }),
      { numRuns: RUNS },
    )
  })
  test('with any plain value in any place is read or refused', () => {
    fc.assert(
      fc.property(plainValue, fc.constantFrom('segments', 'device_traces', 'allocator_settings'), (value, name) => {
        expect(whole(jitPickle({ ...example, [name]: value })).length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
    const fields = ['device', 'address', 'total_size', 'stream', 'segment_type', 'segment_pool_id', 'is_expandable', 'blocks']
    fc.assert(
      fc.property(plainValue, fc.constantFrom(...fields), (value, name) => {
        expect(whole(jitPickle(snapshot([segment([block(512), free(1024)], { [name]: value })]))).length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(plainValue, fc.constantFrom('size', 'requested_size', 'state', 'frames', 'history'), (value, name) => {
        expect(
          whole(jitPickle(snapshot([segment([block(512, 'active_allocated', { [name]: value }), free(1024)], { total_size: 1536 })]))).length,
        ).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })
})
