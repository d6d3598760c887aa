// What a file may make this process keep.
import { bytesText } from '../../text/bytes.ts'

/** `containers` and `values` count all that the file holds, `memory` what is built of it: lists that are equal are built once. */
export type Limits = Readonly<Record<'marks' | 'containers' | 'values' | 'memory' | 'stack' | 'memo' | 'memoGap' | 'textBytes' | 'longBytes', number>>

/** What values take in V8, bytes. A list that grows has room for 17; dicts whose keys no other has, in this order, have a hidden class of their own. */
export const BYTES = { list: 256, dict: 800, slot: 8, text: 32, number: 24 } as const

/** `built`: bytes of memory that what was built so far takes. */
export function tooLarge({ containers, values, memory }: Limits, built: number): string {
  const what = built > memory ? `its values take more than ${bytesText(memory)} of memory` : `more than ${containers} containers or ${values} values`
  return `${what}: too large to read (dump again with a smaller max_entries)`
}

/** A snapshot nests to 7 marks, and holds one dict per block and per entry of the trace. */
export const LIMITS: Limits = {
  marks: 64,
  containers: 8 * 2 ** 20,
  values: 48 * 2 ** 20,
  memory: 8 * 2 ** 30,
  stack: 32 * 2 ** 20,
  memo: 32 * 2 ** 20,
  memoGap: 1024,
  textBytes: 16 * 2 ** 20,
  longBytes: 16,
} as const
