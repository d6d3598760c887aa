// The Xid catalogue: what a code means, why it comes, what to do.
import { BOARD } from './board.ts'
import type { XidEntry } from './entry.ts'
import { LEGACY } from './legacy.ts'
import { MEMORY } from './memory.ts'
import { NVLINK5 } from './nvlink5.ts'
import { PROGRAMS } from './programs.ts'

const ENTRIES: Readonly<Record<number, XidEntry>> = { ...LEGACY, ...BOARD, ...PROGRAMS, ...NVLINK5, ...MEMORY }

const UNKNOWN: XidEntry = {
  title: 'Unknown code',
  meaning: 'This catalogue does not know the code; the driver may be newer than it.',
  causes: ['driver', 'hardware', 'program'],
  severity: 'warning',
  action: 'report',
}

/** The codes that the catalogue knows. */
export const XID_CODES: ReadonlySet<number> = new Set(Object.keys(ENTRIES).map(Number))

export const xidEntry = (xid: number): XidEntry => ENTRIES[xid] ?? UNKNOWN
