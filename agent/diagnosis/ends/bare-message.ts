// A pasted text that is nothing but a message, without its exception or traceback: what is known of the message.
import type { Fault } from '../../model/fault.ts'
import type { LogKind } from '../../model/kinds.ts'
import { stripPrefix } from '../../text/line-prefix.ts'
import { isWarned } from '../reported.ts'
import type { Situation } from '../situation/situation.ts'
import { fitting } from '../faults/remedies/fit.ts'
import { plan } from '../faults/remedies/plan.ts'
import { classify } from './classify.ts'
import { createEndReader } from './end-reader.ts'
import { WEIGHT, type EndTold } from './end-kind.ts'
import type { ErrorSeen } from './evidence.ts'
import { knownMessage, untilQuoted } from './messages/known.ts'
import { pythonException } from './kinds/python-exception.ts'

/** Nobody pastes more and leaves the traceback out. */
const MOST_LINES = 40
const SHORTEST = 20
const TAIL_LINES = 8
/** Nobody prints these but a program that stops for them. */
const ALONE: ReadonlySet<LogKind> = new Set<LogKind>(['checkpoint_mismatch', 'shape_mismatch', 'dtype_mismatch', 'device_mismatch', 'model_access'])
/** Of ComfyUI's report. */
const LABEL = /^- \*\*Exception Message:\*\* /
/** Of loggers that report no failure; questions and headings. */
const NOT_AN_ERROR =
  /\b(?:INFO|DEBUG|NOTICE)\b|^\S+ \S+: [WI] |Error caught was|optional|[Ii]gnor(?:e|ed|ing) (?:import )?errors?\b|fall(?:ing|s)? back|\?$|^#|^\$ |^>>> |^[*+-] (?!\*\*Exc)|^\d{1,2}\. |^(?:if|import|from|def|for|raise|return)\b/

const WORKING = /\b(?:step|epoch|iter(?:ation)?)\b.{0,40}\d/i
/** Neither an error that was judged and handled, nor a program at work. */
function isBare(lines: readonly string[]): boolean {
  const reader = createEndReader()
  lines.forEach((line, index) => reader.add(line, index + 1))
  const { signs, aliveAt, progressAt } = reader.evidence()
  return signs.length === 0 && aliveAt === 0 && progressAt === 0 && !lines.some((line) => WORKING.test(line))
}

/** `lines`: all of the text, in which nothing else was found. A line that says it all comes before one that needs those below it. */
export function bareMessage(lines: readonly string[], situationAt: (line: number) => Situation): Fault | undefined {
  if (lines.length > MOST_LINES || !isBare(lines)) return undefined
  for (const below of [0, TAIL_LINES]) {
    for (const [index, raw] of lines.entries()) {
      const message = stripPrefix(raw).replace(LABEL, '').trim()
      if (message.length < SHORTEST || NOT_AN_ERROR.test(raw.trim()) || isWarned(raw)) continue
      const fault = explained({ message, tail: lines.slice(index + 1, index + 1 + below).join('\n') }, /\bERROR {2}/.test(raw), situationAt(index + 1))
      if (fault === undefined) continue
      return { ...fault, remedies: fitting(fault.remedies, fault.kind, situationAt(index + 1)), evidence: [{ line: index + 1, text: raw }] }
    }
  }
  return undefined
}

/** `record`: a logger says itself that it is an error. */
function explained(said: Pick<ErrorSeen, 'message' | 'tail'>, record: boolean, situation: Situation): Omit<Fault, 'evidence'> | undefined {
  const error: ErrorSeen = { ...said, name: undefined, module: undefined, frames: [], causes: [] }
  const claim = classify(error, true)
  const sure = claim?.end.stage === 'cause' && claim.weight >= (record ? WEIGHT.words : WEIGHT.message)
  const end = sure && (record || ALONE.has(claim.end.kind)) ? claim.end : undefined
  const told: EndTold = { facts: end === undefined ? {} : (claim?.facts ?? {}), error, situation }
  const known = knownMessage(told)
  const kind = end ?? (known?.title === undefined && known?.says === undefined ? undefined : ((sure ? claim?.end : undefined) ?? pythonException))
  if (kind === undefined) return undefined
  return {
    kind: kind.kind,
    severity: kind.severity,
    title: known?.title ?? kind.title(told),
    verdict: known?.says === undefined ? kind.verdict(told) : `${untilQuoted(kind.verdict(told), told)} ${known.says}`,
    facts: told.facts,
    remedies: plan(known?.remedies ?? kind.remedies(told)),
  }
}
