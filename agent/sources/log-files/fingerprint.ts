// Which file it is, when its name and its number may have been given to another: a hash of its first bytes.
import { readSync } from 'node:fs'

export type Fingerprint = { readonly length: number; readonly hash: number }

export const FINGERPRINT_BYTES = 256
const BUFFER = Buffer.allocUnsafeSlow(FINGERPRINT_BYTES)

/** Of the first `length` bytes, or of as many as there are. */
export function fingerprint(fd: number, length = FINGERPRINT_BYTES): Fingerprint {
  const read = readSync(fd, BUFFER, 0, Math.min(length, FINGERPRINT_BYTES), 0)
  let hash = 0x811c9dc5
  for (let at = 0; at < read; at++) hash = Math.imul(hash ^ (BUFFER[at] ?? 0), 0x01000193)
  return { length: read, hash: hash >>> 0 }
}

/** The file still begins with what it began with then. */
export function sameBeginning(fd: number, before: Fingerprint): boolean {
  const now = fingerprint(fd, before.length)
  return now.length === before.length && now.hash === before.hash
}

export type FileCursor = { readonly device: number; readonly inode: number; readonly offset: number; readonly beginning: Fingerprint }

export function formatCursor({ device, inode, offset, beginning }: FileCursor): string {
  return [device, inode, offset, beginning.length, beginning.hash].join(':')
}
export function parseCursor(text: string | undefined): FileCursor | undefined {
  const [device, inode, offset, length, hash] = (text ?? '').split(':').map(Number)
  if (device === undefined || inode === undefined || offset === undefined || length === undefined || hash === undefined) return undefined
  if (![device, inode, offset, length, hash].every(Number.isFinite)) return undefined
  return { device, inode, offset, beginning: { length, hash } }
}
