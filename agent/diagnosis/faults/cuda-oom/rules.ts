// A family from a table of one-line messages about GPU memory, each with the figures that it states.
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { stripPrefix } from '../../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../../joining.ts'
import type { FaultFamily, LogText, Recognised } from '../family.ts'
import { gpuName, judgeCauses, oomTitle } from './causes.ts'
import { GENERAL_REMEDIES } from './remedies.ts'

export type MemoryRule = {
  /** On the message joined with the next lines; begins in the line that was hit. */
  readonly pattern: RegExp
  /** Who says it: "TensorFlow". */
  readonly who: string
  readonly facts?: (match: RegExpExecArray, message: string) => Facts
  /** True where the message is harmless. */
  readonly unless?: RegExp
  /** Instead of "asked for … and did not get it". */
  readonly verdict?: string
  readonly remedies?: readonly Remedy[]
  /** Where the message itself proves it. */
  readonly causes?: readonly OomCause[]
}

const LINES = 5
const MESSAGE = 1_600
/** What stands before may name the allocator, and with it the GPU. */
const BEFORE = 60

export function memoryFamily(id: string, literals: readonly string[], rules: readonly MemoryRule[]): FaultFamily {
  const recognise = (text: LogText, at: number): Recognised | undefined => {
    const joined = joinedFrom(text, at, LINES)
    const own = plain(stripPrefix(text[at] ?? '')).length
    for (const rule of rules) {
      const match = rule.pattern.exec(joined)
      if (match === null || match.index > own) continue
      const message = joined.slice(match.index, match.index + MESSAGE)
      if (rule.unless?.test(message) === true) return undefined
      const figures = rule.facts?.(match, joined.slice(Math.max(0, match.index - BEFORE), match.index + MESSAGE)) ?? {}
      const judged = judgeCauses(figures)
      const causes = rule.causes ?? judged.causes
      const asked = figures.requested_bytes === undefined ? '' : `for ${gib(figures.requested_bytes)} `
      return {
        kind: 'cuda_oom',
        severity: 'critical',
        title: oomTitle(figures.gpu_index),
        verdict:
          rule.verdict ??
          `${rule.who} asked ${asked === '' ? 'for memory ' : asked}on ${gpuName(figures.gpu_index)} and did not get it: other jobs and what this one holds already leave too little.`,
        facts: causes.length === 0 ? figures : { ...figures, causes },
        remedies: rule.remedies ?? GENERAL_REMEDIES,
        lines: linesCovered(text, at, match.index + match[0].length),
      }
    }
    return undefined
  }
  return { id, kinds: ['cuda_oom'], literals, recognise }
}
