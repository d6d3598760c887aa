// The journal's records: what changed in a second against the second before, so that a crash loses no more than the last one.
import { crc32 } from 'node:zlib'
import { createReader, createWriter } from './bits.ts'

/** Every so many records one starts over and needs none before it; the journal is cut there. */
export const RECORDS_PER_KEYFRAME = 60

// A record: CRC-32 of the rest, flags, ids of series that are new since the keyframe, then sections of one second each.
const KEYFRAME = 1
// States of a run of series in a section.
const ABSENT = 0
const SAME = 1
const CHANGED = 2
const END = 3
// How a changed value is written: the difference in units of 1, 1e-3 or 1e-6, or the whole double.
const UNITS = [1, 1e3, 1e6] as const
const WHOLE = 3
const LARGEST = 2 ** 47

/** `Key` means a series until the record is taken: by then it must have an id. */
export type JournalWriter<Key> = {
  /** Takes a sample into the current record. */
  readonly add: (key: Key, second: number, value: number) => void
  readonly isEmpty: () => boolean
  /** The record of all samples since the last one. The first, and one in sixty, is a keyframe. */
  readonly take: (idOf: (key: Key) => number) => { readonly bytes: Uint8Array; readonly keyframe: boolean }
  /** What was taken did not reach the disk: the next record must be a keyframe. */
  readonly restart: () => void
}

export function createJournalWriter<Key>(): JournalWriter<Key> {
  const out = createWriter(16_384)
  const record = createWriter(16_384)
  let slots = new Map<Key, number>()
  let last = new Float64Array(256)
  let value = new Float64Array(256)
  let stamp = new Uint32Array(256)
  let section = 1
  let second = 0
  let inSection = 0
  let sections = 0
  let previousSecond = 0
  let untilKeyframe = 0
  let fresh: Key[] = []

  const slotOf = (key: Key): number => {
    const known = slots.get(key)
    if (known !== undefined) return known
    const slot = slots.size
    slots.set(key, slot)
    fresh.push(key)
    if (slot === last.length) {
      const grow = <A extends Float64Array | Uint32Array>(old: A, bigger: A): A => (bigger.set(old), bigger)
      last = grow(last, new Float64Array(slot * 2))
      value = grow(value, new Float64Array(slot * 2))
      stamp = grow(stamp, new Uint32Array(slot * 2))
    }
    last[slot] = 0
    stamp[slot] = 0
    return slot
  }

  const change = (before: number, now: number): void => {
    for (let form = 0; form < UNITS.length; form++) {
      const unit = UNITS[form] ?? 1
      const to = Math.round(now * unit)
      const from = Math.round(before * unit)
      if (Math.abs(to) >= LARGEST || Math.abs(from) >= LARGEST) break
      if (to / unit !== now || Object.is(now, -0)) continue
      const difference = to - from
      out.varint((difference < 0 ? -2 * difference - 1 : 2 * difference) * 4 + form)
      return
    }
    out.varint(WHOLE)
    out.float64(now)
  }

  const closeSection = (): void => {
    if (inSection === 0) return
    out.signed(second - previousSecond)
    previousSecond = second
    const stateOf = (slot: number): number => (stamp[slot] !== section ? ABSENT : Object.is(value[slot], last[slot]) ? SAME : CHANGED)
    const count = slots.size
    for (let slot = 0; slot < count;) {
      const state = stateOf(slot)
      let end = slot + 1
      while (end < count && stateOf(end) === state) end++
      if (state !== ABSENT || end < count) out.varint((end - slot) * 4 + state)
      if (state === CHANGED) {
        for (let at = slot; at < end; at++) {
          const now = value[at] ?? 0
          change(last[at] ?? 0, now)
          last[at] = now
        }
      }
      slot = end
    }
    out.varint(END)
    section++
    inSection = 0
    sections++
  }

  const begin = (): void => {
    if (untilKeyframe > 0 || inSection > 0 || sections > 0) return
    slots = new Map()
    fresh = []
    untilKeyframe = RECORDS_PER_KEYFRAME + 1 // counts down when the record is taken
  }
  return {
    add(key, at, now) {
      begin()
      if (at !== second) {
        closeSection()
        second = at
      }
      const slot = slotOf(key)
      if (stamp[slot] !== section) {
        stamp[slot] = section
        inSection++
      }
      value[slot] = now
    },
    isEmpty: () => inSection === 0 && sections === 0,
    take(idOf) {
      closeSection()
      const keyframe = untilKeyframe > RECORDS_PER_KEYFRAME
      record.reset()
      record.byte(keyframe ? KEYFRAME : 0)
      record.varint(fresh.length)
      let before = 0
      for (const key of fresh) {
        const id = idOf(key)
        record.signed(id - before)
        before = id
      }
      record.varint(sections)
      const head = record.take()
      const body = out.take()
      out.reset()
      const bytes = new Uint8Array(4 + head.length + body.length)
      bytes.set(head, 4)
      bytes.set(body, 4 + head.length)
      new DataView(bytes.buffer).setUint32(0, crc32(bytes.subarray(4)))
      fresh = []
      sections = previousSecond = 0
      untilKeyframe = keyframe ? RECORDS_PER_KEYFRAME - 1 : untilKeyframe - 1
      return { bytes, keyframe }
    },
    restart() {
      out.reset()
      untilKeyframe = inSection = sections = previousSecond = 0
      fresh = []
      section++
    },
  }
}

export type JournalReader = {
  /** Calls back with each sample of the next record; false when the record is torn or hangs on one that is: all up to the next keyframe are skipped. */
  readonly read: (record: Uint8Array, sample: (id: number, second: number, value: number) => void) => boolean
}

export function createJournalReader(): JournalReader {
  let ids: number[] = []
  let last: number[] = []
  let whole = false
  return {
    read(record, sample) {
      if (record.length < 7 || new DataView(record.buffer, record.byteOffset).getUint32(0) !== crc32(record.subarray(4))) {
        whole = false
        return false
      }
      const from = createReader(record)
      from.seek(4)
      if ((from.byte() & KEYFRAME) !== 0) {
        ids = []
        last = []
        whole = true
      }
      if (!whole) return false
      const fresh = from.varint()
      for (let i = 0, id = 0; i < fresh; i++) {
        id += from.signed()
        ids.push(id)
        last.push(0)
      }
      const sections = from.varint()
      let second = 0
      for (let n = 0; n < sections; n++) {
        second += from.signed()
        let slot = 0
        for (;;) {
          const token = from.varint()
          const state = token % 4
          if (state === END) break
          const end = slot + Math.floor(token / 4)
          if (end > ids.length) throw new RangeError(`journal record: expected at most ${ids.length} series, found ${end}`)
          for (; slot < end; slot++) {
            if (state === ABSENT) continue
            if (state === CHANGED) last[slot] = changed(from, last[slot] ?? 0)
            sample(ids[slot] ?? 0, second, last[slot] ?? 0)
          }
        }
      }
      return true
    },
  }
}

function changed(from: ReturnType<typeof createReader>, before: number): number {
  const token = from.varint()
  const form = token % 4
  if (form === WHOLE) return from.float64()
  const unit = UNITS[form] ?? 1
  const code = Math.floor(token / 4)
  const difference = code % 2 === 0 ? code / 2 : -(code + 1) / 2
  return (Math.round(before * unit) + difference) / unit
}

/** Says that samples of some series are stored elsewhere now: those of records below `before` and of seconds below `until`. */
export type Marker = { readonly ids: readonly number[]; readonly before: number; readonly until: number }

export function encodeMarker(marker: Marker): Uint8Array {
  const out = createWriter(marker.ids.length * 3 + 24)
  out.varint(marker.before)
  out.varint(marker.until)
  out.varint(marker.ids.length)
  let last = 0
  for (const id of marker.ids) {
    out.signed(id - last)
    last = id
  }
  return out.take()
}
export function decodeMarker(bytes: Uint8Array): Marker {
  const from = createReader(bytes)
  const before = from.varint()
  const until = from.varint()
  const count = from.varint()
  const ids: number[] = []
  for (let i = 0, id = 0; i < count; i++) {
    id += from.signed()
    ids.push(id)
  }
  return { ids, before, until }
}
