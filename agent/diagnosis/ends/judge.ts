// From the signs of an end to one verdict: what ended the job first, with the facts that the others add.
import { knownMessage, untilQuoted } from './messages/known.ts'
import type { Facts } from '../../model/facts.ts'
import type { Fault } from '../../model/fault.ts'
import type { LogKind } from '../../model/kinds.ts'
import { logFactsOf, logKindOf } from '../../model/log-kinds.ts'
import { known as present } from '../faults/parts/window.ts'
import { plan } from '../faults/remedies/plan.ts'
import { isQuoted } from '../reported.ts'
import type { Situation } from '../situation/situation.ts'
import { applicationOf, libraryOf, placeIn } from './applications.ts'
import { beforeOf, candidateOf, END_OF, PLACE, SIGNAL_OF, type Candidate } from './candidates.ts'
import { classify } from './classify.ts'
import { isPanic, place, type EndContext } from './end-kind.ts'
import type { EndEvidence } from './end-reader.ts'
import type { Sign } from './evidence.ts'
import { gotOver, PARTIAL, warnsOfImport } from './got-over.ts'
import { signalOfExit } from './signals.ts'
import { TIMED_OUT } from './signs/exits.ts'
import { goesOnAfter, loggedAgain, logsOnly, ofFirstRank, orderedAgain, saidBefore, startedAgain, takesOver, wentOn, whileStopping } from './which-counts.ts'

/** What an engine, a scheduler or the kernel says of the end, beside the log. */
export type KnownEnd = {
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  /** Memory ran out, by the engine's flag or the cgroup's counter. */
  readonly oomKilled?: boolean | undefined
  /** A user asked the engine to stop it. */
  readonly stopped?: boolean | undefined
  /** The reason in the scheduler's words. */
  readonly reason?: 'time_limit' | 'preempted' | 'cancelled' | 'evicted' | 'node_failed' | undefined
}
export type EndJudgement = {
  /** What ended the job, where no other fault explains it. */
  readonly verdict: Fault | undefined
  /** The other faults, with what the end adds to them: exception, frame, exit code. */
  readonly faults: readonly Fault[]
}

/** Explains an end: also a likely kill by the kernel, and what is an end itself. */
export const isFatal = ({ kind, severity }: Fault): boolean =>
  logKindOf(kind).crash?.fatal !== false && (severity === 'critical' || kind === 'host_oom_kill' || END_OF.has(kind))

/** TensorFlow says by the name what its message says many lines below. */
const ANNOUNCED = 24
const ON_CPU = /device:CPU|_device="[^"]{0,100}\/cpu:/
/** Whether the fault and this sign come from the same lines. */
const claims = ({ kind, evidence }: Fault, sign: Sign): boolean => {
  // TensorFlow's allocator says what it was asked for, lists what it holds, and only then raises.
  if (kind === 'cuda_oom' && sign.type === 'error' && sign.error.name === 'ResourceExhaustedError' && !ON_CPU.test(`${sign.error.message}\n${sign.error.tail}`))
    return true
  const last =
    sign.type === 'error' ? sign.last + (kind === 'cuda_oom' && /OutOfMemory|ResourceExhausted/.test(sign.error.name ?? '') ? ANNOUNCED : 0) : sign.at
  return evidence.some(({ line }) => line >= sign.at && line <= last)
}
/** What a sign adds to a fault of another kind. */
function addsTo(sign: Sign): Facts {
  if (sign.type !== 'error') return sign.facts
  const { signal, pid, errno } = classify(sign.error, sign.weak)?.facts ?? {}
  return { ...present({ signal, pid, errno }), ...sign.facts }
}

/** Facts of how it ended that the root does not say itself. */
function withEndFacts(root: Facts, others: readonly Sign[], kind: LogKind): Facts {
  let facts: Facts = root
  const native = root.exception === undefined
  // Facts of another rank, which a table lists beside the failed one, in one line or in several.
  const foreign = others.filter(({ facts: { rank } }) => root.rank !== undefined && rank !== undefined && rank !== root.rank)
  const pids = new Set(foreign.map(({ facts: { pid } }) => pid))
  for (const sign of others) {
    const { type, facts: said } = sign
    const { rank, job_id, errno, exception, frame, reason } = said
    const other = foreign.includes(sign) || (said.pid !== undefined && pids.has(said.pid))
    const { pid, signal } = other ? {} : said
    const exit_code = other && Number(said.exit_code) < 0 ? undefined : said.exit_code
    const ends = type === 'exit' || type === 'signal' || type === 'order'
    // What cleared a failed program away says nothing of its failure.
    const cleared =
      kind === 'job_failed' || (!native && kind === 'python_exception') || (type === 'signal' && signal !== 'SIGABRT' && END_OF.get(kind)?.stage === 'cause')
    const add = present({
      exit_code,
      job_id,
      reason,
      errno: type === 'error' ? undefined : errno,
      rank: ends ? rank : undefined,
      pid: ends || facts.pid === undefined ? pid : undefined,
      signal: cleared ? undefined : signal,
      exception: type === 'error' ? exception : undefined,
      frame: type === 'error' || type === 'signal' ? frame : undefined,
    })
    facts = { ...add, ...facts }
  }
  return facts
}
/** Those that the kind declares. */
export const declared = (facts: Facts, kind: LogKind): Facts => {
  const known = logFactsOf(kind)
  return Object.fromEntries(Object.entries(facts).filter(([name]) => known.has(name)))
}

/** Signs of what the engine knows, after the last line. */
function knownSigns(known: KnownEnd, at: number): readonly Sign[] {
  const { exitCode, signal, reason, stopped } = known
  const text = ''
  const signs: Sign[] = []
  if (reason !== undefined) {
    const kind: LogKind = reason === 'evicted' || reason === 'node_failed' ? 'job_killed' : reason
    signs.push({ type: 'order', at: 0, text, kind, sure: true, facts: kind === 'job_killed' ? { pattern: reason } : {} })
  } else if (stopped === true) signs.push({ type: 'order', at, text, kind: 'cancelled', sure: false, facts: {} })
  const by = signal ?? (exitCode === undefined ? undefined : signalOfExit(exitCode))
  if (exitCode === TIMED_OUT) signs.push({ type: 'order', at, text, kind: 'time_limit', sure: true, facts: { exit_code: exitCode } })
  else if (by !== undefined)
    signs.push({ type: 'signal', at, text, signal: by, by: 'kernel', facts: { signal: by, ...(exitCode === undefined ? {} : { exit_code: exitCode }) } })
  else if (exitCode !== undefined && exitCode !== 0) signs.push({ type: 'exit', at, text, facts: { exit_code: exitCode } })
  return signs
}

/**
 * Judges how a run ended. `faults`: what the families found in the same text; they come first where they explain the end. `known`: what the engine
 * says; without it the text alone decides. A run that ended well has no verdict, whatever was handled on its way.
 */
export function judgeEnd(evidence: EndEvidence, found: readonly Fault[], situationAt: (line: number) => Situation, known: KnownEnd = {}): EndJudgement {
  // That a job failed is the last that is said: only where nothing else explains it.
  const telling = found.filter(({ kind }) => kind !== 'job_failed')
  if (telling.length < found.length) {
    const judged = judge(evidence, telling, situationAt, known)
    if ((judged.verdict !== undefined && judged.verdict.kind !== 'job_failed') || judged.faults.some(isFatal)) return judged
  }
  return judge(evidence, found, situationAt, known)
}

function judge(evidence: EndEvidence, found: readonly Fault[], situationAt: (line: number) => Situation, known: KnownEnd): EndJudgement {
  const signs: readonly Sign[] = [...evidence.signs, ...knownSigns(known, evidence.lines + 1)]
  const endedBadly =
    (known.exitCode ?? 0) !== 0 ||
    known.signal !== undefined ||
    known.oomKilled === true ||
    (evidence.gaveUp && (known.exitCode ?? 1) !== 0) ||
    signs.some((sign) => sign.at > evidence.aliveAt && sign.type !== 'error' && sign.type !== 'diverged')
  // The program goes on below: the text is about another run, or about what the program got over.
  const stands = found.filter(
    ({ kind, evidence: lines }) =>
      // A package warns of itself when it is loaded: whether the job asks for it is not said.
      !(signs.length === 0 && lines.every(({ text }) => warnsOfImport(kind, text))) &&
      !logsOnly({ kind, evidence: lines }, signs) &&
      (lines.length === 0 ||
        lines.some((seen) => evidence.aliveAt <= seen.line || !(isQuoted(seen.text) || (!endedBadly && gotOver(kind, seen, lines, evidence))))),
  )
  const faults = stands.map((fault) =>
    !endedBadly && PARTIAL.has(fault.kind) && fault.evidence.every(({ line }) => evidence.progressAt > line)
      ? { ...fault, severity: 'warning' as const }
      : fault,
  )
  const handled = (sign: Sign): boolean =>
    // A server that was told to stop, and did.
    (sign.type === 'order' && !sign.sure && sign.kind === 'job_killed' && evidence.closedAt > sign.at && (known.exitCode ?? 0) === 0) ||
    // Of the run before, where the one below failed in its own way.
    (sign.type === 'error' &&
      sign.facts.rank === undefined &&
      evidence.begunAt > sign.line &&
      signs.some((other) => other.type === 'error' && other.at > evidence.begunAt)) ||
    (sign.type === 'error' &&
      ((!endedBadly && (saidBefore(sign, signs) || (evidence.plainAt > sign.line && loggedAgain(sign, signs)))) ||
        signs.some((other) => other.type === 'error' && takesOver(other, sign)))) ||
    (sign.type === 'exit' && !endedBadly && goesOnAfter(sign, signs, evidence.progressAt)) ||
    // A user ended a part of its work, and it went on with the next.
    (sign.type === 'order' &&
      !sign.sure &&
      sign.kind === 'cancelled' &&
      sign.text !== '' &&
      sign.facts.job_id === undefined &&
      evidence.progressAt > sign.at) ||
    // A signal that it ignored, as it says, and worked on.
    (sign.type === 'order' && !sign.sure && evidence.ignoredAt >= sign.at && evidence.progressAt > evidence.ignoredAt && sign.facts.job_id === undefined) ||
    (sign.type === 'order' && orderedAgain(sign, signs)) ||
    // That of the run before, in the log of one that was resumed.
    (sign.type === 'order' && sign.text !== '' && evidence.resumedAt > sign.at && evidence.progressAt > evidence.resumedAt) ||
    startedAgain(sign, signs) ||
    // What its workers say while it stops.
    (whileStopping(sign, evidence) && (known.exitCode ?? 0) === 0) ||
    // A request failed, and its server answered it, or ran until it was closed in good order.
    (sign.type === 'error' && sign.request === true && !endedBadly && Math.max(evidence.closedAt, evidence.answeredAt) > sign.line) ||
    wentOn(sign, evidence)

  const added = new Map<Fault, Facts>()
  const claimed = new Set<Sign>()
  let raised = false
  for (const fault of faults) {
    for (const sign of signs) {
      if (sign.type === 'order' || sign.type === 'diverged' || !claims(fault, sign)) continue
      claimed.add(sign)
      raised ||= sign.type === 'error' && !sign.weak && isFatal(fault) && !handled(sign)
      added.set(fault, { ...addsTo(sign), ...added.get(fault) })
    }
  }
  const open = signs.filter((sign) => !claimed.has(sign))
  const current = open.filter((sign) => !handled(sign))
  // The run failed, and all that says why is followed by other processes at work.
  const causes = current.some(
    (sign) => sign.type === 'error' && !sign.wrapper && !current.some((other) => other.type !== 'error' && other.text !== '' && other.at === sign.line),
  )
  const late =
    (endedBadly || current.some((sign) => sign.type === 'error' && sign.wrapper && !sign.weak)) && !causes && faults.every((fault) => !isFatal(fault))
      ? open.filter((sign) => sign.type === 'error' && !sign.weak && !sign.wrapper).slice(-1)
      : []
  const counted = [...current, ...late].toSorted((a, b) => a.at - b.at)

  const fatal = faults.filter(isFatal)
  const strong = counted.find((sign) => sign.type === 'error' && !sign.weak && !sign.wrapper && classify(sign.error, false)?.end.stage === 'cause')
  const firstFault = Math.min(Infinity, ...fatal.flatMap(({ evidence: lines }) => lines.map(({ line }) => line)))
  const firstCause = Math.min(strong?.at ?? Infinity, firstFault)
  const before = beforeOf(counted, firstCause)
  const candidates = counted.flatMap((sign) => candidateOf(sign, before) ?? [])
  const root = ofFirstRank(candidates.toSorted((a, b) => a.place - b.place || a.sign.at - b.sign.at)[0], candidates, counted)

  const alone = root !== undefined && !explained(root, fatal)
  const rest = counted.filter((sign) => sign !== root?.sign)
  const verdict = alone ? faultOf(root, rest, signs, situationAt) : undefined
  // What the end adds goes to the fault that explains it.
  const first = fatal[0] ?? faults.find((fault) => added.has(fault))
  if (first !== undefined && !alone) added.set(first, withEndFacts({ ...added.get(first), ...first.facts }, counted, first.kind))
  const withFacts = faults.map((fault) =>
    added.has(fault) ? placed({ ...fault, facts: declared({ ...added.get(fault), ...fault.facts }, fault.kind) }) : fault,
  )
  // What it got round before is not what it ended by.
  const gotRound = ({ kind }: Fault): boolean => raised && logKindOf(kind).handled === true
  return { verdict, faults: [...withFacts.filter((fault) => !gotRound(fault)), ...withFacts.filter(gotRound)] }
}

/** Where the user's own code asked for too much; other errors of a GPU are reported later than they happen. */
const placed = (fault: Fault): Fault =>
  fault.kind === 'cuda_oom' && fault.facts.frame !== undefined ? { ...fault, title: `${fault.title} at ${fault.facts.frame}` } : fault

/** Faults of hardware, memory and platform explain every way in which a program then ends; NCCL's explain what only passes on. */
function explained({ place, end, sign }: Candidate, fatal: readonly Fault[]): boolean {
  const has = (kind: LogKind): boolean => fatal.some((fault) => fault.kind === kind)
  // A compiler that does not know the GPU, and every call of a GPU after a kernel failed.
  if (end.kind === 'compile_error' && (has('cuda_version_mismatch') || has('cuda_library_missing'))) return true
  if (has('cublas_cudnn_error') && sign.type === 'error' && /^(?:RuntimeError: )?miopenStatus/.test(sign.error.message)) return true
  if (
    has('cuda_oom') &&
    sign.type === 'error' &&
    /Failed to create llama_context|Could not load Llama model|Failed to load model from file/.test(sign.error.message + sign.error.tail)
  )
    return true
  if (has('illegal_memory_access') && sign.type === 'error' && /\b(?:CUDA|HIP|cuDNN) error\b/.test(sign.error.message)) return true
  if (fatal.length === 0 || place === PLACE.orderFirst || place === PLACE.cause) return false
  if (place >= PLACE.consequence || place === PLACE.weakCause) return true
  const onlyNccl = fatal.every(({ kind }) => kind === 'nccl_error')
  return !(onlyNccl && (end.kind === 'segfault' || end.kind === 'bus_error' || end.kind === 'job_killed'))
}

/** Two signs may be in one line. */
const linesOf = (signs: readonly Sign[]): Fault['evidence'] =>
  [...new Map(signs.flatMap(({ at, text, ...one }) => (text === '' ? [] : [[one.type === 'error' ? one.line : at, text] as const])))].map(([line, text]) => ({
    line,
    text,
  }))

const TENSORS: ReadonlySet<LogKind> = new Set<LogKind>(['shape_mismatch', 'dtype_mismatch', 'device_mismatch'])
const RECORD_BEFORE = 40
function recordBefore(sign: Sign, signs: readonly Sign[]): Sign | undefined {
  const records = signs.filter((one) => one.type === 'error' && one.error.name === 'record' && one.at < sign.at && sign.at - one.at <= RECORD_BEFORE)
  // One that only announces what follows says less than one before it.
  return records.findLast((one) => one.type === 'error' && !one.error.message.endsWith(':')) ?? records.at(-1)
}

function faultOf({ sign, end, facts }: Candidate, rest: readonly Sign[], signs: readonly Sign[], situationAt: (line: number) => Situation): Fault {
  const ended = sign.type === 'error' && isPanic(sign.error) ? undefined : SIGNAL_OF[end.kind]
  const all = declared({ ...(ended === undefined ? {} : { signal: ended }), ...withEndFacts(facts, rest, end.kind) }, end.kind)
  // Where only the last words say that it failed, a record of an error just before them says more.
  // And what a compiler said first, more than the build that failed by it.
  const said =
    end.kind === 'job_failed'
      ? (recordBefore(sign, signs) ?? sign)
      : end.kind === 'compile_error'
        ? (signs.find((one) => one.type === 'error' && one.error.name === 'compiler' && one.at < sign.at) ?? sign)
        : sign
  const request = sign.type === 'error' && sign.request === true
  const context: EndContext = { facts: all, error: said.type === 'error' ? said.error : undefined, situation: situationAt(sign.at), request }
  const known = end.stage === 'order' ? undefined : knownMessage(context)
  // In code that is not the user's own, tensors are not theirs to move.
  const theirs = known === undefined && TENSORS.has(end.kind) ? (applicationOf(context) ?? libraryOf(context)) : undefined
  const shown = [said, ...(said === sign ? [] : [sign]), ...rest.filter((other) => other.type !== 'error' || other.wrapper)].slice(0, 4)
  return {
    kind: end.kind,
    // Its server goes on with the next request.
    severity: request && end.kind === 'python_exception' ? 'warning' : end.severity,
    title: known?.title === undefined ? end.title(context) : `${known.title}${place(context)}`,
    verdict: known?.says === undefined ? end.verdict(context) : `${untilQuoted(end.verdict(context), context)} ${known.says}`,
    facts: declared({ ...placeIn(context), ...all }, end.kind),
    remedies: plan(known?.remedies ?? theirs?.first ?? end.remedies(context), theirs?.next),
    evidence: linesOf(shown),
  }
}
