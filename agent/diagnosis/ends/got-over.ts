// Whether a program got over a fault: by its own words, or because its work went on below.
import type { Fault } from '../../model/fault.ts'
import type { LogKind } from '../../model/kinds.ts'
import { goesRound, isWarned } from '../reported.ts'
import type { EndEvidence } from './end-reader.ts'

/** What a program may warn of and go on. */
const SOFT: ReadonlySet<LogKind> = new Set(['nccl_error', 'cuda_oom', 'bitsandbytes_setup', 'cuda_library_missing', 'missing_dependency'])
/** `…/image.py:13: UserWarning: Failed to load …`: by Python's `warnings`, as packages do that go on without a part of theirs. */
const BY_WARNINGS = /\.py:\d{1,6}: \w{0,40}Warning: /
/** What a package warns of while it is imported. */
export const warnsOfImport = (kind: LogKind, text: string): boolean =>
  (kind === 'bitsandbytes_setup' && isWarned(text)) || (kind === 'missing_dependency' && BY_WARNINGS.test(text))
/** What a program may be hindered by in a part of its work only. */
export const PARTIAL: ReadonlySet<LogKind> = new Set(['disk_full', 'cache_permission', 'shm_exhausted', 'cublas_cudnn_error', 'cuda_library_missing'])
/** A shell's word alone: a helper that its script killed looks the same. */
const SHELL_KILLED = /\bKilled\b/
/** vLLM only warns where its own kernels do not load, starts, and fails at the first that it needs. */
const OWN_KERNELS = /Failed to import from vllm\._C\b/

/** Of a run that did not end badly. `seen`: one of the lines that show the fault. */
export function gotOver(
  kind: LogKind,
  { line, text }: Fault['evidence'][number],
  lines: Fault['evidence'],
  { progressAt, resumedAt }: Pick<EndEvidence, 'progressAt' | 'resumedAt'>,
): boolean {
  if (kind === 'host_oom_kill') return lines.every((each) => SHELL_KILLED.test(each.text) && progressAt > each.line)
  if (PARTIAL.has(kind) && goesRound(text) && progressAt > line) return true
  if (!SOFT.has(kind) || (OWN_KERNELS.test(text) && progressAt <= line)) return false
  if (isWarned(text) || goesRound(text) || (kind === 'cuda_oom' && progressAt > line)) return true
  return kind === 'nccl_error' && resumedAt > line && progressAt > resumedAt
}
