// The size of a page of memory, which the kernel tells each process: 4 KiB, and 16 or 64 KiB on many arm64 hosts.
import { readFileSync } from 'node:fs'

/** getauxval(3): pairs of 64-bit numbers. */
const AT_PAGESZ = 6n

export function parseAuxv(auxv: Buffer): number | undefined {
  for (let at = 0; at + 16 <= auxv.length; at += 16) if (auxv.readBigUInt64LE(at) === AT_PAGESZ) return Number(auxv.readBigUInt64LE(at + 8))
  return undefined
}

let known: number | undefined
export function pageSize(): number {
  try {
    known ??= parseAuxv(readFileSync('/proc/self/auxv')) ?? 4096
  } catch {
    known = 4096
  }
  return known
}
