// From the bytes of a file to a checked Snapshot: a pickle, or JSON; anything else gets one clear refusal.
import { quoted, SnapshotError } from './error.ts'
import { snapshotFrom } from './from-raw.ts'
import { readJson } from './json.ts'
import type { Snapshot } from './model.ts'
import { readPickle } from './pickle.ts'
import { latin1Text } from './text.ts'

/** What one read of Node gives at most; also what a reader should have to hold. */
export const MAX_FILE_BYTES = 2 ** 31 - 1
const ASKED = 'not a snapshot: it must be a file of torch.cuda.memory._dump_snapshot (a pickle), or JSON of the same shape'

const BEGINNINGS: readonly (readonly [beginning: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive, such as torch.save writes'],
  [[0x1f, 0x8b], 'a file compressed by gzip; unpack it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a file compressed by zstd; unpack it first'],
  [[0x89, 0x48, 0x44, 0x46], 'an HDF5 file'],
  [[0x7f, 0x45, 0x4c, 0x46], 'a program (ELF)'],
]
/** torch.save before PyTorch 1.6 begins with this number as a pickle of its own (torch/serialization.py, MAGIC_NUMBER). */
const LEGACY_SAVE = 0x1950a86a20f9469cfc6cn

function strange(bytes: Uint8Array): string {
  const known = BEGINNINGS.find(([beginning]) => beginning.every((byte, i) => bytes[i] === byte))
  if (known !== undefined) return known[1]
  const start = latin1Text(bytes.subarray(0, 40))
  return /^[\x09\x0a\x0d\x20-\x7e]+$/.test(start)
    ? `text that begins with ${quoted(start)}`
    : `a file that begins with the bytes ${Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Of millions of trace entries only the out-of-memory errors are read; the others are counted. */
const leaveEmpty = (key: string, value: unknown): boolean => key === 'action' && value !== 'oom'

export function readSnapshot(bytes: Uint8Array): Snapshot {
  if (bytes.length === 0) throw new SnapshotError(`${ASKED}, not empty`)
  const pickled = bytes[0] === 0x80
  const first = bytes.findIndex((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)
  const json = bytes[first] === 0x7b || bytes[first] === 0x5b
  if (!pickled && !json) throw new SnapshotError(`${ASKED}, not ${strange(bytes)}`)
  if (json) return snapshotFrom(readJson(bytes), 'json')
  const raw = readPickle(bytes, { leaveEmpty })
  if (raw === LEGACY_SAVE) throw new SnapshotError(`${ASKED}, not what torch.save of an old PyTorch writes`)
  return snapshotFrom(raw, 'pickle')
}
