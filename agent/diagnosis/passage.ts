// A stretch of log around candidates, and what the families make of it.
import type { EvidenceLine, Fault } from '../model/fault.ts'
import { confidenceOf } from './confidence.ts'
import type { FaultFamily, Found } from './faults/family.ts'
import { fitting } from './faults/remedies/fit.ts'
import { withWhereabouts } from './whereabouts.ts'
import { isReported } from './reported.ts'
import type { Candidate } from './scanner.ts'
import type { Situations } from './situation/situation.ts'

/** Longer lines are cut, and say so; no message with figures is longer. */
export const LINE_LIMIT = 16_384
const CUT = ' […cut]'
export const cutLine = (line: string): string => (line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)}${CUT}` : line)

export type Passage = {
  readonly lines: readonly string[]
  /** Number of `lines[0]` in the whole text, from 1. */
  readonly firstLine: number
  readonly candidates: readonly Candidate[]
}

const EVIDENCE_LINES = 12
const EVIDENCE_LENGTH = 2_000

export function faultFrom(recognised: Found, lines: readonly string[], firstLine: number): Fault {
  const { lines: shown, ...rest } = recognised
  const evidence: EvidenceLine[] = []
  for (const index of shown.slice(0, EVIDENCE_LINES)) {
    const text = lines[index]
    if (text !== undefined) evidence.push({ line: firstLine + index, text: text.length > EVIDENCE_LENGTH ? `${text.slice(0, EVIDENCE_LENGTH)}${CUT}` : text })
  }
  return { ...rest, confidence: confidenceOf(rest), evidence }
}

/** Lines in which a family has already found a fault, by their number in the whole text: a message of several lines counts once. */
export type SeenLines = {
  readonly has: (family: FaultFamily, line: number) => boolean
  readonly add: (family: FaultFamily, line: number) => void
  readonly forgetBefore: (line: number) => void
}
export function createSeenLines(): SeenLines {
  const byFamily = new Map<FaultFamily, Set<number>>()
  return {
    has: (family, line) => byFamily.get(family)?.has(line) ?? false,
    add(family, line) {
      const lines = byFamily.get(family)
      if (lines === undefined) byFamily.set(family, new Set([line]))
      else lines.add(line)
    },
    forgetBefore(line) {
      for (const lines of byFamily.values()) for (const old of lines) if (old < line) lines.delete(old)
    },
  }
}

/** Asks each candidate's families; in the order of the lines. */
export function judgePassage(passage: Passage, seenLines: SeenLines, situations: Situations): readonly Fault[] {
  const faults: Fault[] = []
  for (const { line, families } of passage.candidates) {
    if (isReported(passage.lines[line] ?? '')) continue
    for (const family of families) {
      if (seenLines.has(family, passage.firstLine + line)) continue
      const answer = family.recognise(passage.lines, line, () => situations.at(passage.lines, line, passage.firstLine))
      if (answer === undefined) continue
      for (const recognised of 'kind' in answer ? [answer] : answer) {
        for (const index of recognised.lines) seenLines.add(family, passage.firstLine + index)
        const remedies = fitting(recognised.remedies, recognised.kind, situations.at(passage.lines, line, passage.firstLine))
        faults.push(faultFrom(withWhereabouts({ ...recognised, remedies }, passage.lines), passage.lines, passage.firstLine))
      }
    }
  }
  return faults
}
