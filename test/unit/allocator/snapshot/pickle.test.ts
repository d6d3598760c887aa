// The pickle reader: what Python and PyTorch write is read as Python would, and nothing in a file runs, hangs, or takes all memory.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createEqualLists } from '../../../../agent/allocator/snapshot/equal-lists.ts'
import { SnapshotError } from '../../../../agent/allocator/snapshot/error.ts'
import { LIMITS } from '../../../../agent/allocator/snapshot/limits.ts'
import { readPickle } from '../../../../agent/allocator/snapshot/pickle.ts'
import { bytesOf, jitPickle, shortText, u32, u64 } from './pickler.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
/** Pickles of Python expressions, each of [expression, protocol], by one run of it. */
function pythonPickles(asked: readonly (readonly [expression: string, protocol: number])[]): readonly Buffer[] {
  const code = `import base64, collections, decimal, json, os, pickle, sys
class X:
    def __reduce__(self): return (os.system, ('touch /tmp/warpwatch-was-here',))
def shared():
    frames = [{'line': 1}]
    return [frames, frames, {'frames': frames}]
def itself():
    whole = []
    whole.append(whole)
    return whole
print(json.dumps([base64.b64encode(pickle.dumps(eval(e), protocol=p)).decode() for e, p in json.load(sys.stdin)]))`
  const done = spawnSync('python3', ['-c', code], { input: JSON.stringify(asked), encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
  if (done.status !== 0) throw new Error(`python3: expected exit 0, came ${done.status}: ${done.stderr}`)
  return z
    .array(z.string())
    .parse(JSON.parse(done.stdout))
    .map((text) => Buffer.from(text, 'base64'))
}
/** Dicts without a prototype as ordinary ones, so that they compare. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one)))
/** What a dict or list holds under a key. */
const at = (value: unknown, key: string | number): unknown => Reflect.get(Object(value), key)
const PROTO_4 = [0x80, 4]

describe.skipIf(!hasPython)('pickles of Python (needs python3)', () => {
  const value = `{'none': None, 'yes': True, 'no': False, 'small': 5, 'negative': -7, 'word': 70000, 'big': 2**40 + 3, 'bigger': -(2**52),
    'address': 2**60 + 1, 'unsigned': 2**64 - 1, 'float': 0.25, 'text': 'gr\\u00fc\\u00df \\U0001f600', 'list': [1, [2, []]], 'tuple': (0, 1), 'longer': tuple(range(9)),
    'empty': {}, 1: 'one', 'many': list(range(3000)), 'wide': {str(i): i for i in range(1500)}, '__proto__': {'polluted': True}, 'constructor': 1}`
  const expected = {
    none: null,
    yes: true,
    no: false,
    small: 5,
    negative: -7,
    word: 70_000,
    big: 2 ** 40 + 3,
    bigger: -(2 ** 52),
    address: `${2n ** 60n + 1n}n`,
    unsigned: `${2n ** 64n - 1n}n`,
    float: 0.25,
    text: 'grüß 😀',
    list: [1, [2, []]],
    tuple: [0, 1],
    longer: [0, 1, 2, 3, 4, 5, 6, 7, 8],
    empty: {},
    1: 'one',
    many: Array.from({ length: 3000 }, (_, i) => i),
    wide: Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [String(i), i])),
    constructor: 1,
  }
  const RUNNING = ['collections.OrderedDict(a=1)', 'X()', 'decimal.Decimal(1)'].map((made) => `{'segments': [], 'x': ${made}}`)
  const ASKED = [value, 'shared()', 'itself()', ...RUNNING]
  let pickles: readonly (readonly [expression: string, pickle: Buffer])[] = []
  const of = (expression: string): readonly Buffer[] => pickles.filter(([of]) => of === expression).map(([, pickle]) => pickle)
  beforeAll(() => {
    const asked = ASKED.flatMap((expression) => [2, 3, 4, 5].map((protocol) => [expression, protocol] as const))
    pickles = pythonPickles(asked).map((pickle, i) => [asked[i]?.[0] ?? '', pickle])
  })

  test('of protocols 2 to 5: every plain value, keys that would pollute included', () => {
    const own: unknown = JSON.parse(JSON.stringify(expected).replace(/}$/, ',"__proto__":{"polluted":true}}'))
    expect(of(value)).toHaveLength(4)
    for (const pickle of of(value)) {
      const read = readPickle(pickle)
      expect(plain(read)).toEqual(own)
      expect(Object.getOwnPropertyNames(read)).toContain('__proto__')
    }
    expect(at({}, 'polluted')).toBeUndefined()
  })

  test('what stands in several places is one object', () => {
    expect(of('shared()')).toHaveLength(4)
    for (const pickle of of('shared()')) {
      const read = readPickle(pickle)
      expect(at(read, 1)).toBe(at(read, 0))
      expect(at(at(read, 2), 'frames')).toBe(at(read, 0))
    }
  })

  test('a list that holds itself does no harm', () => {
    const [read] = of('itself()').map((pickle) => readPickle(pickle))
    expect(read).toHaveLength(1)
    expect(at(read, 0)).toBe(read)
  })

  test.each(RUNNING.map((expression, i) => [expression, ['collections.OrderedDict', '.system', 'decimal.Decimal'][i] ?? '']))(
    '%s is refused, by opcode, place and name',
    (expression, named) => {
      expect(of(expression)).toHaveLength(4)
      for (const pickle of of(expression)) {
        expect(() => readPickle(pickle)).toThrow(
          /refused: the opcode (STACK_)?GLOBAL at byte \d+ \(.+\) runs code when it is unpickled; a snapshot holds plain data only$/,
        )
        expect(() => readPickle(pickle)).toThrow(named)
      }
      expect(existsSync('/tmp/warpwatch-was-here')).toBe(false)
    },
  )
})

test('PyTorch’s own pickler: texts once, long integers in eight bytes, shared containers', () => {
  const frames = [{ name: 'f', line: 1 }]
  const value = {
    a: [1, 255, 256, 65_536, -1, 2 ** 31, -(2 ** 40)],
    b: { a: 'a' },
    frames,
    again: frames,
    half: 0.5,
    none: null,
    yes: true,
    huge: -(2n ** 62n),
  }
  const read = readPickle(jitPickle(value, new Set([frames])))
  expect(plain(read)).toEqual(plain(value))
  expect(at(read, 'again')).toBe(at(read, 'frames'))
  const many = Array.from({ length: 700 }, (_, i) => `text ${i % 350}`)
  expect(plain(readPickle(jitPickle(many)))).toEqual(many)
})

describe('what would run code', () => {
  const RUNNING: readonly (readonly [name: string, pickle: Uint8Array])[] = [
    ['GLOBAL', bytesOf(0x80, 2, 'cposix\nsystem\n(U')],
    ['STACK_GLOBAL', bytesOf(PROTO_4, shortText('os'), shortText('system'), 0x93)],
    ['REDUCE', bytesOf(PROTO_4, ')R.')],
    ['BUILD', bytesOf(PROTO_4, '}}b.')],
    ['INST', bytesOf(PROTO_4, '(ios\nsystem\n.')],
    ['OBJ', bytesOf(PROTO_4, '(o.')],
    ['NEWOBJ', bytesOf(PROTO_4, '))', 0x81)],
    ['NEWOBJ_EX', bytesOf(PROTO_4, 0x92)],
    ['EXT1', bytesOf(PROTO_4, 0x82, 1)],
    ['EXT2', bytesOf(PROTO_4, 0x83, 1, 0)],
    ['EXT4', bytesOf(PROTO_4, 0x84, 1, 0, 0, 0)],
    ['PERSID', bytesOf(PROTO_4, 'P1\n')],
    ['BINPERSID', bytesOf(PROTO_4, 'NQ')],
    ['NEXT_BUFFER', bytesOf(PROTO_4, 0x97)],
    ['READONLY_BUFFER', bytesOf(PROTO_4, 0x98)],
  ]
  test.each(RUNNING)('%s', (name, pickle) => {
    expect(() => readPickle(pickle)).toThrow(new RegExp(`refused: the opcode ${name} at byte \\d+.*`))
  })
  test('says what it would have run', () => {
    expect(() => readPickle(RUNNING[0]?.[1] ?? bytesOf())).toThrow('(posix.system)')
    expect(() => readPickle(RUNNING[1]?.[1] ?? bytesOf())).toThrow('(os.system)')
  })
})

describe('damaged and hostile files', () => {
  const whole = jitPickle({ segments: [{ blocks: [1, 2, 70_000, 'text'] }] })
  test('cut anywhere: truncated', () => {
    for (let length = 2; length < whole.length; length += 1) expect(() => readPickle(whole.subarray(0, length))).toThrow('the pickle is truncated')
  })
  test.each([
    ['text that claims 2 ** 63 bytes', bytesOf(PROTO_4, 0x8d, u64(2n ** 63n), 'abc'), 'truncated'],
    ['bytes that claim 4 GiB', bytesOf(PROTO_4, 'B', u32(0xffff_ffff), 'abc'), 'truncated'],
    ['bytes that claim 2 ** 64 - 1', bytesOf(PROTO_4, 0x8e, u64(2n ** 64n - 1n)), 'truncated'],
    ['a frame beyond the end', bytesOf(PROTO_4, 0x95, u64(100n), 'N.'), 'truncated'],
    ['text above the limit', bytesOf(PROTO_4, 'X', u32(LIMITS.textBytes + 1), Buffer.alloc(LIMITS.textBytes + 1), '.'), `bytes: at most ${LIMITS.textBytes}`],
    ['a huge integer', bytesOf(PROTO_4, 0x8b, u32(2 ** 31), '.'), 'an integer of 2147483648 bytes: at most 16'],
    ['an empty stack', bytesOf(PROTO_4, '.'), 'no value on the stack'],
    ['a mark that nothing opened', bytesOf(PROTO_4, ']e'), 'no mark on the stack'],
    ['a mark that nothing closes', bytesOf(PROTO_4, '(N.'), 'a mark is open at the end'],
    ['a value below a mark', bytesOf(PROTO_4, ']N(', 0x86), 'damaged'],
    ['items for what is no dict', bytesOf(PROTO_4, ']NNs.'), 'no dict'],
    ['items for a dict below a mark', bytesOf(PROTO_4, '}(NNs.'), 'damaged'],
    ['a key without a value', bytesOf(PROTO_4, '}(Nu.'), 'a key without a value'],
    ['a value for what is no list', bytesOf(PROTO_4, '}Na.'), 'no list'],
    ['a reference to nothing', bytesOf(PROTO_4, 'h', 3, '.'), 'no value is kept under 3'],
    ['a value kept far away', bytesOf(PROTO_4, 'Nr', u32(0xffff_ffff), '.'), 'index 4294967295 follows 0'],
    ['too many marks', bytesOf(PROTO_4, '('.repeat(LIMITS.marks + 1)), `more than ${LIMITS.marks} containers inside each other`],
    ['an older protocol', bytesOf(0x80, 1, 'N.'), 'protocol must be 2 to 5, not 1'],
    ['a later protocol', bytesOf(0x80, 6, 'N.'), 'protocol must be 2 to 5, not 6'],
    ['an opcode of protocol 0', bytesOf(PROTO_4, 'I1\n.'), 'the opcode INT at byte 2 is of an older pickle protocol'],
    ['no opcode', bytesOf(PROTO_4, 0xff), '0xff at byte'],
  ])('%s', (_, pickle, said) => {
    expect(() => readPickle(pickle)).toThrow(SnapshotError)
    expect(() => readPickle(pickle)).toThrow(said)
  })

  test('nested as deep as the file is long: read, for nothing walks down', () => {
    const depth = 200_000
    const read = readPickle(bytesOf(PROTO_4, ']'.repeat(depth), 'a'.repeat(depth - 1), '.'))
    expect(Array.isArray(read)).toBe(true)
  })
  test('lists that name each other, doubling: no copy is made', () => {
    // Ten of the last one in each: 10 ** 60 values if anything walked them.
    const levels = Array.from({ length: 60 }, (_, i) => bytesOf('](', ...Array.from({ length: 10 }, () => (i === 0 ? 'N' : bytesOf('h', i - 1))), 'eq', i))
    const read = readPickle(bytesOf(0x80, 2, ...levels, '.'))
    expect(read).toHaveLength(10)
  })
  test('a small file with very many containers is refused before memory runs out', () => {
    const limits = { ...LIMITS, containers: 1_000, values: 5_000, stack: 8_000, memo: 100 }
    const read =
      (...parts: readonly (string | Uint8Array)[]) =>
      () =>
        readPickle(bytesOf(PROTO_4, ...parts), { limits })
    expect(read('(', ']'.repeat(999), 't.')()).toHaveLength(999)
    expect(read('(', ']'.repeat(1_001), 't.')).toThrow('more than 1000 containers or 5000 values')
    expect(read('(', ')'.repeat(1_001), 't.')).toThrow('more than 1000 containers')
    expect(read('](', 'N'.repeat(5_001), 'e.')).toThrow('more than 1000 containers or 5000 values')
    expect(read('(', 'N'.repeat(8_001), 't.')).toThrow('at most 8000 values in one list')
    expect(read('N', Buffer.alloc(101, 0x94), '.')).toThrow('at most 100: index 100')
  })
  test.each<[string, (i: number) => Uint8Array]>([
    ['lists', (i) => bytesOf('](M', i & 255, i >> 8, 'e')],
    ['tuples', (i) => bytesOf('M', i & 255, i >> 8, 0x85)],
    ['dicts of one key', (i) => bytesOf('}', shortText(`k${i}`), 'Ns')],
    ['dicts of two', (i) => bytesOf('}(', shortText(`k${i}`), 'NNNu')],
    ['texts', (i) => shortText(`text ${i}`)],
    ['long integers', (i) => bytesOf(0x8a, 8, u64(2n ** 60n + BigInt(i)))],
    ['fractions', (i) => bytesOf('G', u64(BigInt(i + 1)))],
  ])('very many %s are refused before they are built, in a small part of the memory that they would take', (_, one) => {
    const pickle = bytesOf(PROTO_4, '(', ...Array.from({ length: 5_000 }, (_unused, i) => one(i)), 't.')
    expect(readPickle(pickle)).toHaveLength(5_000)
    expect(() => readPickle(pickle, { limits: { ...LIMITS, memory: 100_000 } })).toThrow('its values take more than 97.7 KiB of memory: too large to read')
  })
  test('lists that are equal take the memory of one', () => {
    const limits = { ...LIMITS, memory: 100_000 }
    const pickle = bytesOf(
      PROTO_4,
      '](',
      ...Array.from({ length: 5_000 }, () => bytesOf('](', shortText('a frame that is long enough to be known by its first bytes alone'), 'K', 7, 'e')),
      'e.',
    )
    expect(() => readPickle(pickle, { limits })).toThrow('too large to read')
    expect(readPickle(pickle, { limits, equalLists: createEqualLists(pickle) })).toHaveLength(5_000)
  })
  test('what follows the end is not read', () => {
    expect(readPickle(bytesOf(PROTO_4, 'N.cos\nsystem\n'))).toBeNull()
  })
})
