// What the readers of a log find about the end of a job, before anybody judges it.
import type { Facts } from '../../model/facts.ts'
import type { LogKind } from '../../model/kinds.ts'
import type { Frame } from '../traceback/traceback.ts'

/** An error as its program printed it. */
export type ErrorSeen = {
  /** The exception, without its module; undefined where only a message is there. */
  readonly name: string | undefined
  readonly module: string | undefined
  readonly message: string
  /** The lines after it that may belong to its message. */
  readonly tail: string
  readonly frames: readonly Frame[]
  /** Of a program in another language than Python. */
  readonly foreign?: true
  /** The errors that it was raised from, the nearest first; `handled`: it was only being handled when this one came. */
  readonly causes: readonly (Pick<ErrorSeen, 'name' | 'module' | 'message' | 'tail' | 'frames'> & { readonly handled?: true })[]
}

type At = { readonly at: number; readonly text: string }

/** An error of a program; `weak` where a line says it alone, without a traceback. */
export type ErrorSign = At & {
  readonly type: 'error'
  readonly last: number
  /** Number of the line that names it: `text`. */
  readonly line: number
  readonly error: ErrorSeen
  readonly frame: Frame | undefined
  readonly weak: boolean
  /** It only passes on another: `ChildFailedError`. */
  readonly wrapper: boolean
  /** Its traceback begins in a function of the user's, below where a program or a thread begins: a handler printed it. Or only a thread ended by it. */
  readonly caught?: true
  /** A logger's record of a failure stands right above it. */
  readonly logged?: true
  /** That record says that the work as a whole failed: `Training crashed`. */
  readonly gaveUp?: true
  /** Plain words at the end of all, which count where nothing else says anything. */
  readonly alone?: true
  /** A web server reports it of one request, and goes on with the next. */
  readonly request?: true
  readonly facts: Facts
}
/** A process that ended by a signal. `by`: who says so. */
export type SignalSign = At & {
  readonly type: 'signal'
  readonly signal: string
  readonly by: 'itself' | 'shell' | 'launcher' | 'kernel'
  readonly facts: Facts
}
/** A scheduler, a person or the platform ended the job. `sure`: it gives the reason. */
export type OrderSign = At & { readonly type: 'order'; readonly kind: LogKind; readonly sure: boolean; readonly facts: Facts }
/** An exit code that is not 0, or a reason without more. */
/** `first`: a launcher says that this process was the first that failed. */
export type ExitSign = At & { readonly type: 'exit'; readonly facts: Facts; readonly first?: true }
/** The loss is not a number any more. */
export type DivergedSign = At & { readonly type: 'diverged'; readonly facts: Facts }

export type Sign = ErrorSign | SignalSign | OrderSign | ExitSign | DivergedSign
export type Found = (sign: Sign) => void
