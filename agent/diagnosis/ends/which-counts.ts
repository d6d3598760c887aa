// Which of several errors counts: that of the last run in a file, of a program rather than of a line in its batch script, of the rank that failed first.
import type { LogKind } from '../../model/kinds.ts'
import type { Fault } from '../../model/fault.ts'
import { readLine, type LogLevel } from '../traceback/line.ts'
import { isUserFrame } from '../traceback/user-frame.ts'
import { isWarned } from '../reported.ts'
import type { Candidate } from './candidates.ts'
import { classify } from './classify.ts'
import type { EndEvidence } from './end-reader.ts'
import type { ErrorSign, ExitSign, OrderSign, Sign } from './evidence.ts'
import { NATIVE } from './signs/native.ts'

/** Where several ranks fail alike, the one that the launcher saw fail first: its process is the one that it names. */
export function ofFirstRank(root: Candidate | undefined, candidates: readonly Candidate[], signs: readonly Sign[]): Candidate | undefined {
  const rank = signs.find((sign) => sign.type === 'exit' && sign.facts.rank !== undefined)?.facts.rank
  if (root?.sign.type !== 'error' || rank === undefined || root.sign.facts.rank === undefined) return root
  const { error } = root.sign
  const same = ({ sign, place: at }: Candidate): boolean =>
    at === root.place && sign.type === 'error' && sign.facts.rank === rank && sign.error.name === error.name && sign.error.message === error.message
  return candidates.find(same) ?? root
}

/** The script in which an uncaught exception of a process without a rank began. */
const UNREADABLE = /^(?:SyntaxError|IndentationError|TabError)$/
function scriptOf({ error: { frames, foreign, name }, weak, wrapper, caught, facts }: ErrorSign): string | undefined {
  const [outermost] = frames
  if (weak || wrapper || foreign === true || caught === true || facts.rank !== undefined || facts.pid !== undefined) return undefined
  // What does not even begin has no frame but the line that Python could not read.
  const first = outermost?.name === '<module>' || (outermost?.name === undefined && frames.length === 1 && UNREADABLE.test(name ?? ''))
  return outermost !== undefined && first && isUserFrame(outermost) ? outermost.file : undefined
}
/** What a process leaves behind where another one of the same job failed first. */
const FOLLOWS: ReadonlySet<LogKind> = new Set(['network_error', 'worker_died', 'nccl_error', 'cancelled', 'job_killed'])
/** What may fail because a line of the batch script did. */
const BY_SCRIPT: ReadonlySet<LogKind> = new Set(['missing_dependency', 'file_missing', 'permission_denied', 'compile_error'])
/** The later error is what counts: of the next run of the same script, or of a program that ran although a line of the batch script failed. */
export function takesOver(later: ErrorSign, sign: ErrorSign): boolean {
  if (later.at <= sign.line) return false
  const script = scriptOf(later)
  const kind = script === undefined ? undefined : classify(later.error, false)?.end.kind
  if (kind === undefined) return false
  return sign.weak && sign.error.name === 'shell' ? !BY_SCRIPT.has(kind) : script === scriptOf(sign) && !FOLLOWS.has(kind)
}

/** What a program says where it goes on without the ranks that it could not connect. */
const BECAUSE_ALONE = /process group|init_process_group|distributed|rendezvous|TCPStore/i
/** The program itself logged that it could not listen, went on alone, and failed of something else. */
export const logsOnly = ({ kind, evidence }: Pick<Fault, 'kind' | 'evidence'>, signs: readonly Sign[]): boolean =>
  kind === 'port_in_use' &&
  evidence.some(({ text, line }) => LOGGED.has(readLine(text, line).level ?? 'error')) &&
  signs.some((sign) => sign.type === 'error' && !sign.weak && evidence.every(({ line }) => sign.at > line) && !BECAUSE_ALONE.test(sign.error.message))
const LOGGED: ReadonlySet<LogLevel> = new Set(['debug', 'info'])

/** What failed, without the figures before and in it. */
const failed = ({ text }: ExitSign): string => text.slice(text.lastIndexOf("Command '")).replaceAll(/\d/g, '')
/** A command that failed again and again, and each time before the program went on. */
export function goesOnAfter(sign: ExitSign, signs: readonly Sign[], progressAt: number): boolean {
  if (!sign.text.includes("Command '") || sign.text.includes('CalledProcessError')) return false
  const before = signs.filter((other) => other.type === 'exit' && other.at < sign.at && other.at < progressAt && failed(other) === failed(sign))
  return before.length >= 2
}

const GONE_ON = 3
/** What a tool says of each part that it leaves out differs in the part's name only: `Error: reading FAN3 is not supported.` */
export function formOf({ error }: ErrorSign): string {
  const words = error.message.split(/\s+/)
  return `${words[0] ?? ''} ${words.slice(-3).join(' ')}`
}
/** A bare line of a form that stopped nothing when it was said before. */
export const saidBefore = (sign: ErrorSign, signs: readonly Sign[]): boolean =>
  sign.weak &&
  sign.error.frames.length === 0 &&
  signs.filter((other) => other.type === 'error' && other.weak && other.line < sign.line && formOf(other) === formOf(sign)).length >= GONE_ON
/** What a logger reports with its traceback more than once: the program tries again. */
export const loggedAgain = (sign: ErrorSign, signs: readonly Sign[]): boolean =>
  sign.logged === true &&
  signs.some(
    (other) =>
      other.type === 'error' &&
      other.logged === true &&
      other.line !== sign.line &&
      other.error.name === sign.error.name &&
      other.error.message.replaceAll(/\d/g, '') === sign.error.message.replaceAll(/\d/g, '') &&
      other.facts.frame === sign.facts.frame,
  )

/** Of another job that wrote to the same file before, or the first half of a line whose second half gives the reason. */
export const orderedAgain = (sign: OrderSign, signs: readonly Sign[]): boolean =>
  sign.facts.job_id !== undefined &&
  signs.some(
    (other) =>
      other.type === 'order' &&
      other.at > sign.at &&
      ((other.facts.job_id ?? sign.facts.job_id) !== sign.facts.job_id || (!sign.sure && other.sure && other.at === sign.at + 1)),
  )

/** The program went on below. */
export function wentOn(sign: Sign, { spokeAt, plainAt, aliveAt, progressAt }: Pick<EndEvidence, 'spokeAt' | 'plainAt' | 'aliveAt' | 'progressAt'>): boolean {
  if (sign.type === 'error') {
    // What it says while it clears up is no work.
    if (sign.gaveUp === true) return progressAt > sign.line
    // Where native code aborts, other threads write for a moment.
    return spokeAt > sign.line || (sign.caught === true && plainAt > sign.line) || aliveAt > sign.line + (sign.error.module === NATIVE ? 1 : 0)
  }
  if (aliveAt <= sign.at) return false
  return sign.type === 'exit' || (sign.type === 'signal' && (sign.by !== 'launcher' || (sign.signal === 'SIGTERM' && isWarned(sign.text))))
}

/** Dask's nanny starts a worker again that a signal ended: it ends the job only where an error comes of it. */
export const startedAgain = (sign: Sign, signs: readonly Sign[]): boolean =>
  sign.type === 'signal' && sign.text.includes('distributed.nanny - ') && !signs.some((other) => other.type !== 'signal' && other.at > sign.at)

/** Said by a server or its workers between the word that it stops and the word that it closed; what asyncio was still waiting for is cancelled at any time. */
export const whileStopping = (sign: Sign, { stoppedAt, closedAt }: { readonly stoppedAt: number; readonly closedAt: number }): boolean =>
  stoppedAt > 0 && sign.at > stoppedAt && closedAt > (sign.type === 'error' && sign.error.name === 'CancelledError' ? stoppedAt : sign.at)
