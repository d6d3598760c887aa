// PyTorch 2.10 and later print one failure twice: a warning in bytes, then the exception. One crash counts as one.
import type { Fault } from '../../../model/fault.ts'
import type { IncidentKind } from '../../../model/kinds.ts'

/** The exception follows its warning at once, but lines pass through buffers. */
const WITHIN_MS = 3_000
const MAX_KNOWN = 1_000
const WARNING = /\bOOM on device \d/
/** Two decimals of a GiB. */
const SAME_BYTES = 0.006 * 2 ** 30

type Warned = { readonly t: number; readonly gpu: number | undefined; readonly bytes: number }

/** True for the exception that a warning has announced. */
export function createRepeatedMessage(): (fault: Fault<IncidentKind>, t: number, crashKey: string | undefined) => boolean {
  const warned = new Map<string, Warned[]>()
  return ({ facts, evidence }, t, crashKey = '') => {
    const { requested_bytes: bytes, gpu_index: gpu } = facts
    if (bytes === undefined) return false
    const open = (warned.get(crashKey) ?? []).filter((one) => Math.abs(t - one.t) <= WITHIN_MS)
    if (evidence.some(({ text }) => WARNING.test(text))) {
      warned.delete(crashKey)
      warned.set(crashKey, [...open, { t, gpu, bytes }])
      const oldest = warned.size > MAX_KNOWN ? warned.keys().next().value : undefined
      if (oldest !== undefined) warned.delete(oldest)
      return false
    }
    const at = open.findIndex((one) => Math.abs(one.bytes - bytes) <= SAME_BYTES && (one.gpu === undefined || gpu === undefined || one.gpu === gpu))
    if (at < 0) return false
    // Each warning announces one exception.
    warned.set(crashKey, open.toSpliced(at, 1))
    return true
  }
}
