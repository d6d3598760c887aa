// Where a container's log was read to, and which lines of a new stream were read before. Engines resume by time only, and a time may stand
// before several lines (Podman's are whole seconds): the cursor is the newest time and a hash of each line that bore it.
import type { LineBatch } from '../logs/batch.ts'
import { compareStamps } from './stamp.ts'

export type Resume = {
  /** Takes out of the batch what was read before, and notes the rest as read. */
  readonly sift: (batch: LineBatch) => void
  /** The time to resume from; undefined when nothing was read yet. */
  readonly stamp: () => string | undefined
  /** For the cursor store. */
  readonly cursor: () => string | undefined
  /** A new stream begins: what it repeats is to be taken out. */
  readonly reopen: () => void
}

/** Lines of one time beyond this are distinguished no more; Docker's times are in nanoseconds. */
const MAX_HASHES = 1_024

/** FNV-1a over the length and the first bytes of a line. */
function hashLine(bytes: Uint8Array, start: number, end: number, part: number): number {
  let hash = 0x811c9dc5 ^ part ^ (end - start)
  const limit = Math.min(end, start + 512)
  for (let at = start; at < limit; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return hash >>> 0
}

export function createResume(cursor: string | undefined): Resume {
  const [savedStamp, savedHashes = ''] = cursor?.split(' ') ?? []
  let stamp = savedStamp === '' ? undefined : savedStamp
  let hashes: number[] = savedHashes === '' ? [] : savedHashes.split(',').map((text) => Number.parseInt(text, 36))
  /** Present while the stream may still repeat what was read. */
  let repeated: { readonly until: string; readonly hashes: Map<number, number> } | undefined

  const stampOf = (batch: LineBatch, at: number): string => {
    const head = batch.heads[at] ?? 0
    const start = batch.starts[at] ?? 0
    return start > head ? batch.bytes.toString('latin1', head, start - 1) : ''
  }
  const hashOf = (batch: LineBatch, at: number): number => hashLine(batch.bytes, batch.starts[at] ?? 0, batch.ends[at] ?? 0, batch.parts[at] ?? 0)
  const reopen = (): void => {
    if (stamp === undefined) return
    const counts = new Map<number, number>()
    for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1)
    repeated = { until: stamp, hashes: counts }
  }
  reopen()

  const wasRead = (batch: LineBatch, at: number): boolean => {
    if (repeated === undefined) return false
    const order = compareStamps(stampOf(batch, at), repeated.until)
    if (order > 0) {
      repeated = undefined
      return false
    }
    if (order < 0) return true
    const hash = hashOf(batch, at)
    const left = repeated.hashes.get(hash) ?? 0
    if (left > 0) repeated.hashes.set(hash, left - 1)
    return left > 0
  }
  const note = (batch: LineBatch): void => {
    const newest = stampOf(batch, batch.count - 1)
    if (newest === '') return
    if (newest !== stamp) hashes = []
    stamp = newest
    for (let at = batch.count - 1; at >= 0 && hashes.length < MAX_HASHES && stampOf(batch, at) === newest; at--) hashes.push(hashOf(batch, at))
  }

  return {
    sift(batch) {
      if (repeated !== undefined) {
        let kept = 0
        for (let at = 0; at < batch.count; at++) {
          if (wasRead(batch, at)) continue
          batch.heads[kept] = batch.heads[at] ?? 0
          batch.starts[kept] = batch.starts[at] ?? 0
          batch.ends[kept] = batch.ends[at] ?? 0
          batch.parts[kept] = batch.parts[at] ?? 0
          kept++
        }
        batch.count = kept
      }
      if (batch.count > 0) note(batch)
    },
    stamp: () => stamp,
    cursor: () => (stamp === undefined ? undefined : `${stamp} ${hashes.map((hash) => hash.toString(36)).join(',')}`),
    reopen,
  }
}
