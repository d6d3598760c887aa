// Reads a pickle of plain data (dicts, lists, tuples, numbers, text) without running anything in it: protocols 2 to 5 of Python, and
// what PyTorch's C++ pickler writes (protocol 2, every integer above 32 bits as LONG1 of 8 bytes; torch/csrc/jit/serialization/pickler.cpp).
import { Bare, type Item, type PickleValue } from './values.ts'
import type { EqualLists } from './equal-lists.ts'
import { SnapshotError } from './error.ts'
import { integerAt } from './integers.ts'
import { BYTES, LIMITS, tooLarge, type Limits } from './limits.ts'
import { refusal } from './opcodes.ts'
import type { RowReader } from './rows.ts'
import { utf8Text } from './text.ts'

export type PickleOptions = {
  /** Whether a dict whose first entry is this one may stay empty: most of a large file is trace entries that are not needed. */
  readonly leaveEmpty?: (key: string, value: unknown) => boolean
  readonly limits?: Limits
  /** Made for these bytes: lists that are in them many times are then one list, which nobody may change. */
  readonly equalLists?: EqualLists<Item>
  /** With equalLists: dicts that become lists of the values that are wanted of them. */
  readonly rowOf?: RowReader<Item>
}

/** The value that the pickle holds. Throws a SnapshotError for whatever is not plain data, is damaged, or is larger than the limits. */
export function readPickle(bytes: Uint8Array, { leaveEmpty, limits = LIMITS, equalLists, rowOf }: PickleOptions = {}): PickleValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length
  // What is above `height` is left over and never read.
  const stack: Item[] = []
  const marks: number[] = []
  const memo: (Item | undefined)[] = []
  let [at, opcodeAt, height, floor, containers, values, memory] = [0, 0, 0, 0, 0, 0, 0]
  /** Where the opcode that made an empty container ends; only the next one can tell that it is the first to fill it. */
  let emptyUntil = -1
  let changedList: Item[]
  /** Whether the mark that was closed last was the first to fill its container. */
  let first = false

  const fail = (text: string): SnapshotError => new SnapshotError(`${text}, at byte ${opcodeAt}`)
  const truncated = (): SnapshotError => new SnapshotError(`the pickle is truncated: the file ends at byte ${end}`)
  /** Takes `count` bytes and gives where they begin. */
  const take = (count: number): number => {
    const from = at
    if (count > end - from) throw truncated()
    at = from + count
    return from
  }
  const push = (value: Item): void => {
    if (height >= limits.stack) throw fail(`expected at most ${limits.stack} values in one list`)
    stack[height] = value
    height += 1
  }
  const top = (): Item => {
    const value = height > floor ? stack[height - 1] : undefined
    if (value === undefined) throw fail('the pickle is damaged: no value on the stack')
    return value
  }
  const pop = (): Item => {
    const value = top()
    height -= 1
    return value
  }
  /** Where the values since the last mark begin; the mark is gone afterwards. */
  const closeMark = (): number => {
    const from = marks.pop()
    if (from === undefined) throw fail('the pickle is damaged: no mark on the stack')
    floor = marks.at(-1) ?? 0
    if (equalLists !== undefined) first = equalLists.closed()
    return from
  }
  const grown = (newContainers: number, newValues: number, newBytes: number): void => {
    containers += newContainers
    values += newValues
    memory += newBytes
    if (containers > limits.containers || values > limits.values || memory > limits.memory) throw fail(tooLarge(limits, memory))
  }
  const listFrom = (from: number): Item[] => {
    grown(1, height - from, BYTES.list + BYTES.slot * (height - from))
    const list = stack.slice(from, height)
    height = from
    return list
  }
  const empty = <T extends Item>(container: T): T => {
    grown(1, 0, BYTES.list)
    emptyUntil = at
    return container
  }
  /** Counted like a list that is read again, so that the limits are those of the whole pickle. */
  const known = (): Item[] | undefined => {
    const found = equalLists?.find(opcodeAt)
    if (found === undefined) return undefined
    take(found.bytes - 1)
    grown(found.containers, found.values, 0)
    return found.list
  }
  /** The list at this place of the stack, to be added to: a copy where it is in other places too. */
  const ownList = (place: number): Item[] => {
    const list = place >= floor ? stack[place] : undefined
    if (!Array.isArray(list)) throw fail('the pickle is damaged: values are added to something that is no list')
    if (equalLists?.isGiven(list) !== true) return list
    const copy = [...list]
    stack[place] = copy
    return copy
  }
  const memoized = (index: number): Item => {
    const value = memo[index]
    if (value === undefined) throw fail(`the pickle is damaged: no value is kept under ${index}`)
    return value
  }
  const keep = (index: number): void => {
    if (index > memo.length + limits.memoGap || index >= limits.memo)
      throw fail(`kept values must be in order, at most ${limits.memo}: index ${index} follows ${memo.length}`)
    if (equalLists !== undefined) {
      if (memo[index] === undefined) equalLists.kept()
      else equalLists.changed()
    }
    memo[index] = top()
  }
  const setAll = (from: number): void => {
    const dict = from > floor ? stack[from - 1] : undefined
    if (!(dict instanceof Bare)) throw fail('the pickle is damaged: items are set in something that is no dict')
    const count = height - from
    if (count % 2 === 1) throw fail('the pickle is damaged: a key without a value')
    const firstKey = stack[from]
    const row = first ? rowOf?.(stack, from, height) : undefined
    if (row !== undefined) {
      grown(0, count, BYTES.slot * row.length)
      stack[from - 1] = row
    } else if (leaveEmpty === undefined || typeof firstKey !== 'string' || !leaveEmpty(firstKey, stack[from + 1])) {
      grown(0, count, BYTES.dict + BYTES.slot * count)
      for (let i = from; i < height; i += 2) {
        const key = stack[i]
        // Other keys are no part of a snapshot; their entries are passed over.
        if (typeof key === 'string' || typeof key === 'number') dict[key] = stack[i + 1] ?? null
      }
    }
    height = from
  }
  const addAll = (from: number): Item[] => {
    const list = ownList(from - 1)
    grown(0, height - from, BYTES.slot * (height - from))
    for (let i = from; i < height; i += 1) list.push(stack[i] ?? null)
    height = from
    return list
  }
  const text = (length: number): string => {
    if (length > limits.textBytes && length <= end - at) throw fail(`a text of ${length} bytes: at most ${limits.textBytes}`)
    const from = take(length)
    grown(0, 0, BYTES.text + length)
    return utf8Text(bytes, from, at)
  }
  const length8 = (): number => Number(view.getBigUint64(take(8), true))
  const long = (length: number): number | bigint => {
    if (length > limits.longBytes) throw fail(`an integer of ${length} bytes: at most ${limits.longBytes}`)
    grown(0, 0, BYTES.number)
    return integerAt(view, take(length), length)
  }
  /** Raw bytes are plain data, but nothing in a snapshot is one: their place is kept, not they. */
  const opaque = (length: number): null => {
    take(length)
    return null
  }

  for (;;) {
    opcodeAt = at
    if (at >= end) throw truncated()
    const opcode = bytes[at] ?? -1
    at += 1
    switch (opcode) {
      case 0x68: // BINGET
        push(memoized(bytes[take(1)] ?? 0))
        break
      case 0x6a: // LONG_BINGET
        push(memoized(view.getUint32(take(4), true)))
        break
      case 0x4b: // BININT1
        push(bytes[take(1)] ?? 0)
        break
      case 0x4d: // BININT2
        push(view.getUint16(take(2), true))
        break
      case 0x4a: // BININT
        push(view.getInt32(take(4), true))
        break
      case 0x8a: // LONG1
        push(long(bytes[take(1)] ?? 0))
        break
      case 0x8b: // LONG4
        push(long(view.getUint32(take(4), true)))
        break
      case 0x7d: // EMPTY_DICT
        push(empty(new Bare()))
        break
      case 0x5d: // EMPTY_LIST
        push(known() ?? empty([]))
        break
      case 0x29: // EMPTY_TUPLE
      case 0x8f: // EMPTY_SET
        push(empty([]))
        break
      case 0x94: // MEMOIZE
        keep(memo.length)
        break
      case 0x71: // BINPUT
        keep(bytes[take(1)] ?? 0)
        break
      case 0x72: // LONG_BINPUT
        keep(view.getUint32(take(4), true))
        break
      case 0x28: // MARK
        if (marks.length >= limits.marks) throw fail(`more than ${limits.marks} containers inside each other: too deep to read`)
        floor = height
        marks.push(floor)
        equalLists?.opened(emptyUntil === opcodeAt ? opcodeAt - 1 : undefined, containers, values)
        break
      case 0x75: // SETITEMS
        setAll(closeMark())
        equalLists?.filled(undefined, at, containers, values)
        break
      case 0x73: // SETITEM
        if (height - floor < 3) throw fail('the pickle is damaged: no dict, key and value on the stack')
        first = false
        setAll(height - 2)
        equalLists?.changed()
        break
      case 0x65: // APPENDS
      case 0x90: // ADDITEMS
        changedList = addAll(closeMark())
        equalLists?.filled(changedList, at, containers, values)
        break
      case 0x61: // APPEND
        if (height - floor < 2) throw fail('the pickle is damaged: no list and value on the stack')
        addAll(height - 1)
        equalLists?.changed()
        break
      case 0x8c: // SHORT_BINUNICODE
        push(text(bytes[take(1)] ?? 0))
        break
      case 0x58: // BINUNICODE
        push(text(view.getUint32(take(4), true)))
        break
      case 0x8d: // BINUNICODE8
        push(text(length8()))
        break
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        if (height - floor < opcode - 0x84) throw fail('the pickle is damaged: fewer values on the stack than the tuple has')
        push(listFrom(height - (opcode - 0x84)))
        break
      case 0x74: // TUPLE
      case 0x91: // FROZENSET
        push(listFrom(closeMark()))
        break
      case 0x4e: // NONE
        push(null)
        break
      case 0x88: // NEWTRUE
      case 0x89: // NEWFALSE
        push(opcode === 0x88)
        break
      case 0x47: // BINFLOAT
        grown(0, 0, BYTES.number)
        push(view.getFloat64(take(8)))
        break
      case 0x43: // SHORT_BINBYTES
        push(opaque(bytes[take(1)] ?? 0))
        break
      case 0x42: // BINBYTES
        push(opaque(view.getUint32(take(4), true)))
        break
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        push(opaque(length8()))
        break
      case 0x30: // POP: takes a mark away where one is on top
        if (height === floor && marks.length > 0) closeMark()
        else pop()
        break
      case 0x31: // POP_MARK
        height = closeMark()
        break
      case 0x32: // DUP
        push(top())
        break
      case 0x80: {
        // PROTO
        const protocol = bytes[take(1)] ?? 0
        if (protocol < 2 || protocol > 5) throw fail(`the pickle protocol must be 2 to 5, not ${protocol}`)
        break
      }
      case 0x95: // FRAME: only a hint for buffering, but one that must fit
        if (length8() > end - at) throw truncated()
        break
      case 0x2e: // STOP
        if (marks.length > 0) throw fail('the pickle is damaged: a mark is open at the end')
        return pop()
      default:
        throw new SnapshotError(refusal(bytes, opcodeAt, stack.slice(Math.max(0, height - 2), height)))
    }
  }
}
