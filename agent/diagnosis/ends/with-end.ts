// The faults of a text with the end of its job among them: in which order an operator reads them.
import type { Fault } from '../../model/fault.ts'
import { gatherFaults } from '../root.ts'
import { END_OF } from './candidates.ts'
import { isFatal, type EndJudgement } from './judge.ts'

/** The end of the job in its place among the other faults. */
export function withEnd({ verdict, faults }: EndJudgement): readonly Fault[] {
  // The eviction and its reason are one.
  if (verdict === undefined || (verdict.facts.pattern === 'evicted' && faults.some(({ kind }) => kind === 'host_oom_kill'))) return faults
  const all = gatherFaults()
  for (const fault of faults) all.add(fault)
  all.add(verdict)
  return endFirst(all.ordered(), verdict)
}

/** Python's `warnings` said it, and the program went on: with its CPU, where a GPU could not be used. */
const onlyWarned = ({ evidence }: Fault): boolean => evidence.length > 0 && evidence.every(({ text }) => WARNED.test(text))
const WARNED = /\.py:\d{1,6}: \w{0,40}Warning: /
/** It ended by what the warning was about. */
const OF_GPU = /cuda|gpu|nvidia|driver|nccl|\bdevices?\b/i

/** What the program only warned of comes after an error of its own by which it ended. */
function endFirst(faults: readonly Fault[], end: Fault): readonly Fault[] {
  const { kind } = end
  const own = !end.evidence.some(({ text }) => OF_GPU.test(text))
  const leads = (fault: Fault): boolean => isFatal(fault) && !(own && onlyWarned(fault))
  const at = faults.findIndex((fault) => fault.kind === kind)
  if (at <= 0 || END_OF.get(kind)?.stage !== 'cause') return faults
  const before = faults.slice(0, at)
  return [...before.filter(leads), ...faults.slice(at, at + 1), ...before.filter((fault) => !leads(fault)), ...faults.slice(at + 1)]
}
