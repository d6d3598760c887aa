// What a file may make this process keep.

export type Limits = Readonly<Record<'marks' | 'containers' | 'values' | 'stack' | 'memo' | 'memoGap' | 'textBytes' | 'longBytes', number>>

/** A snapshot nests to 7 marks, and holds one dict per block and per entry of the trace. */
export const LIMITS: Limits = {
  marks: 64,
  containers: 8 * 2 ** 20,
  values: 48 * 2 ** 20,
  stack: 32 * 2 ** 20,
  memo: 32 * 2 ** 20,
  memoGap: 1024,
  textBytes: 16 * 2 ** 20,
  longBytes: 16,
} as const
