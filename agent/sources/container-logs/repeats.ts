// Takes out what an engine says twice in one stream: when it turns a json-file log over, Docker (20.10.24, seen with 10 MB files) begins the rest of
// the old file again, some hundred lines. The times of one part (stdout, stderr) only rise, so a line that is older than the one before it was read already.
import type { LineBatch } from '../logs/batch.ts'
import { compareStamps } from './stamp.ts'

export type Repeats = {
  readonly sift: (batch: LineBatch) => void
  /** Another stream begins: its times start over. */
  readonly reopen: () => void
}
type Part = {
  newest: string
  /** Lines that bear the newest time: Podman's are whole seconds. */
  same: number
  /** The hash of the last of them. */
  hash: number
  /** Of those, how many the engine has not said again; undefined while it repeats nothing. */
  left: number | undefined
}

/** So long after the clock was set back, earlier times are new lines: those that wait in the engine may come late. */
const SET_BACK_MS = 60_000
/** NTP moves the clock by less between two batches. */
const STEP_MS = 50
/** Bytes of a time with nine digits of a second, such as 2026-11-20T10:17:00.123456789Z and its space. */
const NANOSECONDS = 31

export function createRepeats(now: () => number = Date.now, steady: () => number = () => performance.now()): Repeats {
  const parts: (Part | undefined)[] = []
  let offset = now() - steady()
  let setBackAt = -Infinity

  /** The process may wait between the two readings, so the highest offset that fits this reading is compared with the lowest that fitted the one before. */
  const watchClock = (): void => {
    const before = steady()
    const wall = now()
    if (wall - before < offset - STEP_MS) setBackAt = before
    offset = wall - steady()
  }
  const stampOf = ({ bytes, heads, starts }: LineBatch, at: number): string => {
    const head = heads[at] ?? 0
    return bytes.toString('latin1', head, Math.max(head, (starts[at] ?? 0) - 1))
  }
  /** Of two lines of one batch, as `compareStamps`, without making strings of times of one form. */
  const compareIn = (batch: LineBatch, a: number, b: number): number => {
    const { bytes, heads, starts } = batch
    const [headA, headB] = [heads[a] ?? 0, heads[b] ?? 0]
    const length = (starts[a] ?? 0) - headA
    if (length !== (starts[b] ?? 0) - headB) return compareStamps(stampOf(batch, a), stampOf(batch, b))
    for (let i = 0; i < length; i++) {
      const difference = (bytes[headA + i] ?? 0) - (bytes[headB + i] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }
  /** FNV-1a over the whole line: the pieces of one that is too long bear one time and may begin alike. */
  const hashOf = ({ bytes, starts, ends }: LineBatch, line: number): number => {
    let hash = 0x811c9dc5
    for (let at = starts[line] ?? 0, end = ends[line] ?? 0; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
    return hash
  }
  /** The engine may go back by a single line: the same nanosecond and the same text. */
  const isSameLine = (part: Part, batch: LineBatch, at: number, before: number | undefined): boolean =>
    (batch.starts[at] ?? 0) - (batch.heads[at] ?? 0) >= NANOSECONDS && hashOf(batch, at) === (before === undefined ? part.hash : hashOf(batch, before))
  const isRepeat = (part: Part, order: number): boolean => {
    if (part.left !== undefined) {
      if (order < 0) return true
      if (order === 0 && part.left > 0) {
        part.left--
        return true
      }
      part.left = undefined
    } else if (order < 0 && steady() - setBackAt > SET_BACK_MS && Date.parse(part.newest) <= now()) {
      part.left = part.same
      return true
    }
    part.same = order === 0 ? part.same + 1 : 1
    return false
  }

  return {
    sift(batch) {
      watchClock()
      /** The line of each part whose time is its newest, while that line is of this batch. */
      const newestAt: (number | undefined)[] = []
      let kept = 0
      for (let at = 0; at < batch.count; at++) {
        const id = batch.parts[at] ?? 0
        const part = (parts[id] ??= { newest: '', same: 0, hash: 0, left: undefined })
        const before = newestAt[id]
        const timed = (batch.starts[at] ?? 0) > (batch.heads[at] ?? 0)
        const order = before === undefined ? (part.newest === '' ? 1 : compareStamps(stampOf(batch, at), part.newest)) : compareIn(batch, at, before)
        // Only a time that falls is worth a string.
        if (order < 0 && before !== undefined) part.newest = stampOf(batch, before)
        if (timed && ((order === 0 && part.left === undefined && isSameLine(part, batch, at, before)) || isRepeat(part, order))) continue
        batch.heads[kept] = batch.heads[at] ?? 0
        batch.starts[kept] = batch.starts[at] ?? 0
        batch.ends[kept] = batch.ends[at] ?? 0
        batch.parts[kept] = id
        if (timed) newestAt[id] = kept
        kept++
      }
      batch.count = kept
      for (const [id, at] of newestAt.entries()) {
        const part = parts[id]
        if (part === undefined || at === undefined) continue
        part.newest = stampOf(batch, at)
        part.hash = hashOf(batch, at)
      }
    },
    reopen() {
      parts.length = 0
    },
  }
}
