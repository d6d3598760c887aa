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

/** What the program only warned of comes after an error of its own by which it ended. */
function endFirst(faults: readonly Fault[], { kind }: Fault): readonly Fault[] {
  const at = faults.findIndex((fault) => fault.kind === kind)
  if (at <= 0 || END_OF.get(kind)?.stage !== 'cause') return faults
  const before = faults.slice(0, at)
  return [...before.filter(isFatal), ...faults.slice(at, at + 1), ...before.filter((fault) => !isFatal(fault)), ...faults.slice(at + 1)]
}
