// A pasted text that is nothing but a message, without its exception or traceback: what is known of the message.
import type { Fault } from '../../model/fault.ts'
import type { LogKind } from '../../model/kinds.ts'
import { stripPrefix } from '../../text/line-prefix.ts'
import { isWarned } from '../reported.ts'
import type { Situation } from '../situation/situation.ts'
import { fitting } from '../faults/remedies/fit.ts'
import { plan } from '../faults/remedies/plan.ts'
import { readLine } from '../traceback/line.ts'
import { tokenOf } from '../traceback/grammar.ts'
import { classify } from './classify.ts'
import { createEndReader } from './end-reader.ts'
import { WEIGHT, quote, type EndContext } from './end-kind.ts'
import type { ErrorSeen } from './evidence.ts'
import { declared } from './judge.ts'
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

/** In a sentence of a post. */
const NAMED = /(?:^|[\s"'`(])(?:[\w.]{1,80}\.)?([A-Z]\w{2,60}(?:Error|Exception)): /
const WORKING = /\b(?:step|epoch|iter(?:ation)?)\b.{0,40}\d/i
/** Neither an error that was judged and handled, nor a program at work. */
function isBare(lines: readonly string[]): boolean {
  const reader = createEndReader()
  lines.forEach((line, index) => reader.add(line, index + 1))
  const { signs, aliveAt, progressAt } = reader.evidence()
  return signs.length === 0 && aliveAt === 0 && progressAt === 0 && !lines.some((line) => WORKING.test(line))
}

/** A server ends. Without it the record may be of one request. */
const ENDS = /\bShutting down\b|[Ss]hutdown complete|Finished server process|startup failed|\bexiting\b/
/** An exception that a logger recorded as an error, without its traceback, and then the program ended. */
function recorded(lines: readonly string[], situationAt: (line: number) => Situation): Fault | undefined {
  const reader = createEndReader()
  lines.forEach((line, index) => reader.add(line, index + 1))
  const { signs, aliveAt, progressAt } = reader.evidence()
  if (signs.some((sign) => sign.type !== 'error' || sign.error.name !== 'record')) return undefined
  for (const [index, raw] of lines.entries()) {
    const line = readLine(raw, index + 1)
    const token = line.level === 'error' ? tokenOf(line.text, false) : undefined
    if (token?.type !== 'raised' || !token.strict || token.message.length < SHORTEST || Math.max(aliveAt, progressAt) > index) continue
    if (!/\b(?:CRITICAL|FATAL)\b/.test(raw) && !lines.slice(index + 1).some((one) => ENDS.test(one))) continue
    const error: ErrorSeen = { name: token.name, module: token.module, message: token.message, tail: '', frames: [], causes: [] }
    const claim = classify(error, true)
    if (claim === undefined || claim.end.stage !== 'cause') continue
    const context: EndContext = { facts: { ...claim.facts, exception: token.name }, error, situation: situationAt(index + 1) }
    const known = knownMessage(context)
    return {
      kind: claim.end.kind,
      severity: claim.end.severity,
      title: known?.title ?? claim.end.title(context),
      verdict:
        claim.end === pythonException
          ? `The program logged an error, and ended: "${quote(context)}".${known?.says === undefined ? '' : ` ${known.says}`}`
          : claim.end.verdict(context),
      facts: declared(context.facts, claim.end.kind),
      remedies: fitting(plan(known?.remedies ?? claim.end.remedies(context)), claim.end.kind, situationAt(index + 1)),
      evidence: [{ line: index + 1, text: raw }],
    }
  }
  return undefined
}

/** `lines`: all of the text, in which nothing else was found. A line that says it all comes before one that needs those below it. */
export function bareMessage(lines: readonly string[], situationAt: (line: number) => Situation): Fault | undefined {
  if (lines.length > MOST_LINES) return undefined
  if (!isBare(lines)) return recorded(lines, situationAt)
  for (const below of [0, TAIL_LINES]) {
    for (const [index, raw] of lines.entries()) {
      const message = stripPrefix(raw).replace(LABEL, '').trim()
      if (message.length < SHORTEST || NOT_AN_ERROR.test(raw.trim()) || isWarned(raw)) continue
      const fault = explained({ message, tail: lines.slice(index + 1, index + 1 + below).join('\n') }, /\bERROR {2}/.test(raw), situationAt(index + 1))
      if (fault === undefined) continue
      return { ...fault, remedies: fitting(fault.remedies, fault.kind, situationAt(index + 1)), evidence: [{ line: index + 1, text: raw }] }
    }
  }
  return recorded(lines, situationAt)
}

/** `record`: a logger says itself that it is an error. */
function explained(said: Pick<ErrorSeen, 'message' | 'tail'>, record: boolean, situation: Situation): Omit<Fault, 'evidence'> | undefined {
  const error: ErrorSeen = { ...said, name: undefined, module: undefined, frames: [], causes: [] }
  const claim = classify(error, true)
  const sure = claim?.end.stage === 'cause' && claim.weight >= (record ? WEIGHT.words : WEIGHT.message)
  const end = sure && (record || ALONE.has(claim.end.kind)) ? claim.end : undefined
  const exception = NAMED.exec(said.message)?.[1]
  const facts = { ...(exception === undefined ? {} : { exception }), ...(end === undefined ? {} : claim?.facts) }
  const context: EndContext = { facts, error, situation }
  const known = knownMessage(context)
  // The words are of such an error, and a row knows them.
  const meant = claim?.end.stage === 'cause' && ALONE.has(claim.end.kind)
  const kind = end ?? (known?.title === undefined && known?.says === undefined ? undefined : ((sure || meant ? claim?.end : undefined) ?? pythonException))
  if (kind === undefined) return undefined
  return {
    kind: kind.kind,
    severity: kind.severity,
    title: known?.title ?? kind.title(context),
    verdict: known?.says === undefined ? kind.verdict(context) : `${untilQuoted(kind.verdict(context), context)} ${known.says}`,
    facts: context.facts,
    remedies: plan(known?.remedies ?? kind.remedies(context)),
  }
}
