// Files in which no log can be found as they are, by their first bytes.
import type { NotText } from './messages.ts'

const BEGINNINGS: readonly (readonly [kind: NotText, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58]],
  // Byte order marks; PowerShell writes so into files.
  ['utf-16', [0xff, 0xfe]],
  ['utf-16', [0xfe, 0xff]],
]

export const notTextOf = (first: Uint8Array): NotText | undefined => BEGINNINGS.find(([, bytes]) => bytes.every((byte, i) => first[i] === byte))?.[0]
