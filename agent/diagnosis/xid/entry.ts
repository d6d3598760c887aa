// What an entry of the Xid catalogue holds. The facts behind it: NVIDIA's Xid catalogue and the open kernel modules' nverror.h; the words are ours.
import type { Severity } from '../../model/severity.ts'

export type XidCause = 'program' | 'driver' | 'hardware' | 'bus' | 'heat' | 'host memory' | 'user'

/** What to do, as a class; `actions.ts` has the words and the commands. */
export type XidAction =
  | 'ignore'
  | 'watch'
  | 'check-program'
  | 'restart-program'
  | 'restart-vm'
  | 'reset-gpu'
  | 'plan-reset'
  | 'drain-and-reset'
  | 'reboot'
  | 'replace'
  | 'check-power'
  | 'check-managed-memory'
  | 'update-driver'
  | 'decode-nvlink'
  | 'follow-recovery-action'
  | 'follow-other'
  | 'report'

export type XidEntry = {
  readonly title: string
  readonly meaning: string
  /** The likeliest first. */
  readonly causes: readonly XidCause[]
  readonly severity: Severity
  readonly action: XidAction
  /** What to do that is particular to this code. */
  readonly advice?: string
}

export type XidTable = Readonly<Record<number, XidEntry>>

/** The same entry for several codes, such as the copy engines. */
export const shared = (codes: readonly number[], entry: XidEntry): XidTable => Object.fromEntries(codes.map((code) => [code, entry]))

export const span = (first: number, last: number): readonly number[] => Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
