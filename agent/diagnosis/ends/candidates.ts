// Each sign as a possible root: its kind, and its place in the order in which ends explain each other.
import type { Facts } from '../../model/facts.ts'
import type { LogKind } from '../../model/kinds.ts'
import { classify, END_KINDS } from './classify.ts'
import { WEIGHT, type EndKind } from './end-kind.ts'
import type { ErrorSign, OrderSign, Sign, SignalSign } from './evidence.ts'
import { lookup } from '../../text/lookup.ts'

/** A sign that may be the root, with its kind. The lowest place is the root. */
export type Candidate = { readonly sign: Sign; readonly end: EndKind; readonly facts: Facts; readonly place: number }

export const PLACE = { orderFirst: 0, cause: 1, weakCause: 2, crash: 3, consequence: 4, firstExit: 4.5, order: 5, passedOn: 6, last: 7, cleanUp: 8 } as const
export const END_OF = new Map<LogKind, EndKind>(END_KINDS.map((end) => [end.kind, end]))
const OF_SIGNAL: Readonly<Record<string, LogKind>> = {
  SIGSEGV: 'segfault',
  SIGBUS: 'bus_error',
  SIGABRT: 'aborted',
  SIGILL: 'aborted',
  SIGFPE: 'aborted',
  SIGTRAP: 'aborted',
  SIGINT: 'cancelled',
}
export const SIGNAL_OF: Readonly<Partial<Record<LogKind, string>>> = { segfault: 'SIGSEGV', bus_error: 'SIGBUS', aborted: 'SIGABRT' }
const kindOfSignal = (signal: string): LogKind => lookup(OF_SIGNAL, signal) ?? 'job_killed'

type Before = {
  readonly firstCause: number
  readonly failedBefore: (at: number) => boolean
  /** A task ended with an exit code of its own, or the scheduler says that one failed. */
  readonly exitedBefore: (at: number) => boolean
  /** Slurm cancelled a step since one of its tasks had failed, which it says only afterwards. */
  readonly taskFailed: boolean
}
const BY_SRUN = 'srun: error: '
/** Who cancels a whole job is a person; SIGTERM for its programs, which they may answer with a code of their own, is how. */
const CANCELS_JOB = /\*{3} JOB \d|Force Terminated job/
const OF_STEP = /\*{3} STEP \d[^\n]{0,160} CANCELLED AT /
const isFailedTask = (sign: Sign): boolean => sign.type === 'exit' && sign.text.includes(BY_SRUN) && (sign.facts.exit_code ?? 0) !== 0

/** What failed before a line. `firstCause`: the line of the first error, or of a fault that explains the end. */
export const beforeOf = (signs: readonly Sign[], firstCause: number): Before => ({
  firstCause,
  failedBefore: (at) =>
    firstCause < at ||
    signs.some((sign) => sign.at < at && ((sign.type === 'exit' && sign.facts.exit_code !== undefined) || (sign.type === 'signal' && sign.by !== 'itself'))),
  taskFailed:
    signs.some(isFailedTask) && !signs.some((sign) => CANCELS_JOB.test(sign.text) || (sign.facts.signal === 'SIGTERM' && !sign.text.includes(BY_SRUN))),
  exitedBefore: (at) => signs.some((sign) => sign.type === 'exit' && sign.at < at && (sign.facts.exit_code ?? sign.facts.job_id) !== undefined),
})
const ordered = (at: number, { firstCause }: Before): number => (at <= firstCause ? PLACE.orderFirst : PLACE.order)

function ofError(sign: ErrorSign, before: Before): Candidate | undefined {
  const known = classify(sign.error, sign.weak)
  if (known === undefined) return undefined
  const { end, weight } = known
  // A record of a logger is no end, unless a kind knows its words.
  if (sign.error.name === 'record' && weight < WEIGHT.exception) return undefined
  // `Error: …` is what any program prints, also of what it gets over: only last words count.
  if (sign.weak && sign.error.name === 'Error' && weight < WEIGHT.exception && sign.error.tail.trim() !== '') return undefined
  return { sign, end, facts: { ...known.facts, ...sign.facts }, place: placeOf(sign, end, weight, before) }
}
function placeOf(sign: ErrorSign, { stage }: EndKind, weight: number, before: Before): number {
  if (stage === 'order') return ordered(sign.at, before)
  if (sign.wrapper && weight <= WEIGHT.exception) return PLACE.passedOn
  if (stage === 'crash') return PLACE.crash
  if (stage === 'consequence') return PLACE.consequence
  if (stage === 'last') return PLACE.last
  // A traceback without its last line tells only where.
  if (sign.error.name === undefined && weight <= WEIGHT.words) return PLACE.passedOn
  return sign.weak ? PLACE.weakCause : PLACE.cause
}

function ofSignal(sign: SignalSign, before: Before): Candidate | undefined {
  const end = END_OF.get(kindOfSignal(sign.signal))
  if (end === undefined) return undefined
  // Slurm ends the other tasks of a step in which one failed.
  const ofStep = sign.text.startsWith('srun: error: ') && (sign.signal === 'SIGKILL' || sign.signal === 'SIGTERM')
  if (ofStep && before.exitedBefore(sign.at)) return { sign, end, facts: sign.facts, place: PLACE.cleanUp }
  // After a failure what is left is killed too.
  if (sign.by !== 'itself' && sign.signal === 'SIGTERM' && before.exitedBefore(sign.at)) return { sign, end, facts: sign.facts, place: PLACE.cleanUp }
  const cleanUp = (sign.by === 'shell' && (sign.signal === 'SIGKILL' || sign.signal === 'SIGTERM')) || (sign.by === 'launcher' && sign.signal === 'SIGTERM')
  return { sign, end, facts: sign.facts, place: end.stage === 'order' ? ordered(sign.at, before) : cleanUp ? PLACE.order : PLACE.crash }
}

function ofOrder(sign: OrderSign, before: Before): Candidate | undefined {
  const end = END_OF.get(sign.kind)
  if (end === undefined) return undefined
  // Without a reason it is also how a scheduler clears away after a failure.
  return {
    sign,
    end,
    facts: sign.facts,
    place: !sign.sure && (before.failedBefore(sign.at) || (before.taskFailed && OF_STEP.test(sign.text))) ? PLACE.cleanUp : ordered(sign.at, before),
  }
}

/** The sign as a possible root, where a kind knows it. `before`: what failed before a line. */
export function candidateOf(sign: Sign, before: Before): Candidate | undefined {
  if (sign.type === 'error') return ofError(sign, before)
  if (sign.type === 'signal') return ofSignal(sign, before)
  if (sign.type === 'order') return ofOrder(sign, before)
  const end = END_OF.get(sign.type === 'diverged' ? 'nan_loss' : 'job_failed')
  return end === undefined
    ? undefined
    : { sign, end, facts: sign.facts, place: sign.type === 'diverged' ? PLACE.cause : sign.first === true ? PLACE.firstExit : PLACE.last }
}
