// What a kind of end is: which errors are of this kind, what to say of it, what to do. One file each in kinds/.
import type { Facts } from '../../model/facts.ts'
import type { LogKind } from '../../model/kinds.ts'
import type { Severity } from '../../model/severity.ts'
import type { Piece } from '../faults/remedies/plan.ts'
import type { Situation } from '../situation/situation.ts'
import type { ErrorSeen } from './evidence.ts'
import { checkoutOf } from '../traceback/user-frame.ts'
import { failedCall, shown } from './failed-call.ts'

/** How sure a claim is: the surest kind has the error. */
export const WEIGHT = {
  /** Only this kind says so. */
  message: 4,
  /** The system's own number. */
  errno: 3,
  /** The exception's class. */
  exception: 2,
  /** Words that others use too. */
  words: 1,
} as const
export type Claim = { readonly weight: number; readonly facts?: Facts }

/** An error, or one that it was raised from. `full`: its message with the lines after it. */
export type ErrorPart = Pick<ErrorSeen, 'name' | 'module' | 'message' | 'tail' | 'frames'> & { readonly full: string; readonly errno: number | undefined }

export type EndContext = {
  readonly facts: Facts
  readonly error: ErrorSeen | undefined
  readonly situation: Situation
  /** A web server reports it of one request. */
  readonly request?: boolean
}

/**
 * `cause`: an error of its own; `crash`: a process that crashed; `consequence`: what others make of it; `order`: a user or the scheduler ended the job;
 * `last`: nothing more is known.
 */
export type Stage = 'cause' | 'crash' | 'consequence' | 'order' | 'last'

export type EndKind = {
  readonly kind: LogKind
  readonly stage: Stage
  readonly severity: Severity
  readonly claims?: (error: ErrorPart) => Claim | undefined
  readonly title: (context: EndContext) => string
  readonly verdict: (context: EndContext) => string
  readonly remedies: (context: EndContext) => readonly Piece[]
}

/** The rest is below. */
const UNFINISHED =
  /^$|:$|\bbut found$|validation errors? for \w+$|^An error occurred while generating the dataset$|^Exception encountered when calling .{1,80}\.call\(\)\.$/
const QUOTED = 200
/** OpenVINO names the lines of its source first, and says last what is wrong. */
const DEEPEST = /^\[[CGN]PU\] (?![^\n]*build failed)([^\n]{8,400})/m
/** Dynamo names the call with all its tensors first, and says then what does not fit. */
const FAKE_TENSORS = /^(?:Failed running |Dynamo failed to run FX node with fake tensors: ?)\w/
const FAKE_REASON = /got \w+\((['"])([^\n]{8,400}?)\1\)/
/** pydantic says in its first line only that something is wrong. */
const CHECKED = /^[^\n]{0,120}\b(?:Value|Assertion) error, ([^\n]{1,600}?)(?: \[type=|$)/m
const rest = (tail: string): string =>
  tail
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 3)
    .join(' ')
/** The message in one line, bounded. */
export function quote({ error }: Pick<EndContext, 'error'>): string {
  if (error === undefined) return ''
  const fake = FAKE_TENSORS.test(error.message)
    ? (FAKE_REASON.exec(`${error.message}\n${error.tail}`)?.[2] ?? /^\S[^\n]{8,400}/.exec(error.tail)?.[0])
    : undefined
  const deepest = fake ?? CHECKED.exec(error.tail)?.[1] ?? (error.message.startsWith('Exception from ') ? DEEPEST.exec(error.tail)?.[1] : undefined)
  // Some begin their message on a line of its own.
  const begun = (deepest ?? error.message).replace(/\s+/g, ' ').trim()
  const next = deepest === undefined && UNFINISHED.test(begun) ? rest(error.tail) : ''
  // Markdown's marks of code and of bold print.
  const text = `${begun} ${next}`.trim().replace(/^(`|\*\*)([^`]+)\1$/, '$2')
  const named = error.name !== undefined && /^[A-Z_]\w*$/.test(error.name) ? `${error.name}${text === '' ? '' : ': '}` : ''
  const whole = `${named}${text}`
  if (whole.length <= QUOTED) return whole
  const sentence = whole.lastIndexOf('. ', QUOTED)
  return sentence > QUOTED / 4 ? whole.slice(0, sentence) : `${whole.slice(0, QUOTED)}…`
}
/** Of Rust and Go: the program ends itself with an exit code, not by a signal. */
export const isPanic = (error: Pick<ErrorSeen, 'name'> | undefined): boolean => error?.name === 'panic' || error?.name === 'fatal error'
/** ` at train.py:15`, or nothing. */
export const place = ({ facts: { frame } }: Pick<EndContext, 'facts'>): string => (frame === undefined ? '' : ` at ${frame}`)
/** `Rank 3`, or the subject that a sentence begins with. */
export const who = ({ facts: { rank, pid } }: Pick<EndContext, 'facts'>, otherwise = 'The program'): string =>
  rank !== undefined ? `Rank ${rank}` : pid !== undefined ? `Process ${pid}` : otherwise
/** The verdict of most kinds: who, what, where, in the program's own words. */
export const saying = (context: EndContext, what: string, then?: string): string => {
  const words = quote(context)
  return `${who(context)} ${what}${place(context)}${words === '' ? '.' : `: "${words}".`}${then === undefined ? '' : ` ${then}`}`
}
const CELL = /[\\/](?:ipykernel_\d|ipython-input)|^<ipython-input/
export function openFrame(context: Pick<EndContext, 'facts' | 'error'>): Piece {
  const { frame } = context.facts
  if (frame === undefined) return undefined
  const { own, deepest } = failedCall(context)
  const code = shown(own?.code)
  // What fails below an import is not in that line.
  if (deepest !== own && /^(?:from \S{1,80} import|import) /.test(code ?? '')) return undefined
  const where = own !== undefined && CELL.test(own.file) ? `line ${own.line} of the cell of the notebook` : frame
  const clone = own === undefined ? undefined : checkoutOf(own.file)
  const whose = clone === undefined ? 'the deepest line of your own code in the traceback' : `the deepest line in your clone of ${clone}`
  return { text: `Open ${where}: ${whose}${code === undefined ? '' : `, \`${code}\``}.` }
}

/** Claims by patterns over the message and what follows it. */
export const says =
  (pattern: RegExp, weight: number, factsOf?: (match: RegExpExecArray) => Facts) =>
  ({ full }: ErrorPart): Claim | undefined => {
    const match = pattern.exec(full)
    return match === null ? undefined : { weight, ...(factsOf === undefined ? {} : { facts: factsOf(match) }) }
  }
/** Claims by the exception's name. */
export const raises =
  (pattern: RegExp, weight: number = WEIGHT.exception) =>
  ({ name }: ErrorPart): Claim | undefined =>
    name !== undefined && pattern.test(name) ? { weight } : undefined

/** The surest of several ways to recognise one kind. */
export const anyOf =
  (...ways: readonly ((error: ErrorPart) => Claim | undefined)[]) =>
  (error: ErrorPart): Claim | undefined => {
    let best: Claim | undefined
    for (const way of ways) {
      const claim = way(error)
      if (claim !== undefined && claim.weight > (best?.weight ?? 0)) best = claim
    }
    return best
  }

const PATH =
  /(?:director(?:y|ies)|[Pp]ermission denied|file system|[Ff]ile(?:name)?|open|opening|[Pp]ath|exists?|denied|NotFound\w*|cannot open file)\b[^'"\n]{0,24}['"]([^'"\n]{1,400})['"]|(?:[Ff]ile|[Dd]irectory|[Pp]ath) ((?:\/|\.{1,2}\/|~\/)[^\s'",:;]{1,400})(?: does not exist| not found|: No such)|((?:(?<![\w.-])\/|\.{1,2}\/|~\/|(?<![\w./-])[\w-][\w.-]{0,80}\/)[^\s'",:;]{1,400})(?: (?:does not exist|not found|is not a directory|could not be found)|[:;] (?:[Nn]o such file|[Pp]ermission denied|[Rr]ead-only|[Ii]s a directory|[Nn]ot a directory|[Ii]nput\/output|[Ss]tale)| \((?:No such file|Permission denied|Is a directory))|can't open file '([^'\n]{1,400})'|'([^'\n]{1,400})': (?:No such file|Is a directory)|(?:,|[Oo]pen|find|read) file ((?:\/|\.{1,2}\/)[^\s'",:;]{1,400})$|(?:open|stat|mkdir|unlink|scandir|rename|mkfifo) ['"]?((?:\/|\.{1,2}\/)[^\s'",:;]{1,400})/
/** The file that a message is about. */
export function pathIn(text: string): string | undefined {
  // The tools of GNU quote so in UTF-8.
  const path = PATH.exec(/[‘’]/.test(text) ? text.replaceAll(/[‘’]/g, "'") : text)
    ?.slice(1)
    .find((group) => group !== undefined)
  // Python quotes the path of Windows as a literal of its own.
  return path !== undefined && /^[A-Za-z]:\\\\/.test(path) ? path.replaceAll('\\\\', '\\') : path
}
