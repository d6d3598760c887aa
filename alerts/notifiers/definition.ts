// What a notifier is: how a message becomes a request to one kind of receiver, and what its answer means. It sends nothing itself.
import type { Fields, ValuesOf } from '../../agent/config/field.ts'
import type { Message, Reach, RunMessage, WasteMessage } from '../../agent/model/notification.ts'

export type OutgoingRequest = {
  readonly method: 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
/** Header names in lower case; of the body at most 64 KiB. */
export type ReceiverAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string | undefined>>; readonly body: string }

/** `rejected`: sending the same again would not help. `why` is for people and holds no secret. */
export type Verdict =
  | { readonly result: 'delivered'; /** By which later messages can refer to this one. */ readonly thread?: string }
  | { readonly result: 'retry'; readonly why: string; readonly afterMs?: number }
  | { readonly result: 'rejected'; readonly why: string }

export type Notifier = {
  /** Most items of one message; more are put into the next. */
  readonly most: number
  /** For receivers that keep a state, such as Alertmanager: all that fires is told again this often, and nothing is grouped, delayed or limited. */
  readonly refreshMs?: number
  /** Only the host part may be shown to people. */
  readonly host: string
  /**
   * `threads`: what earlier messages about these incidents were answered with, by incident id.
   * Throws an Error whose message holds no secret when the message cannot be put into words (it is then set aside).
   */
  readonly request: (message: Message, threads: ReadonlyMap<string, string>) => OutgoingRequest
  /** As `request`, for runs that have ended. Absent where the definition says `takesRuns: false`. */
  readonly finished?: (message: RunMessage) => OutgoingRequest
  /** As `finished`, for summaries of waste. */
  readonly waste?: (message: WasteMessage) => OutgoingRequest
  /** An alert that always fires, for receivers that notice when it stays away; sent while the agent samples. Absent where it was not asked for. */
  readonly heartbeat?: (about: Reach & Pick<Message, 't' | 'host'>) => OutgoingRequest
  /** Without it: 2xx is delivered, 408, 425, 429 and 5xx are tried again, all else is rejected. */
  readonly judge?: (answer: ReceiverAnswer) => Verdict
}

export type NotifierDefinition<F extends Fields = Fields> = {
  /** `type:` in the configuration. */
  readonly type: string
  /** One line for the example file. */
  readonly summary: string
  /** The receiver keeps what fires and what is over, and a run that has ended is neither; nor is a summary. */
  readonly takesRuns?: false
  /** Beside those that all notifiers have (`common.ts`). */
  readonly options: F
  readonly required: readonly string[]
  /** Awaited once before `check` and `create`, where this type is used: brings what only it needs, such as a library. */
  load?(): Promise<void>
  /** What cannot be told from one option alone, such as a template that does not parse; with the option's name. */
  check?(options: ValuesOf<F>): readonly { readonly option: string; readonly text: string }[]
  create(options: ValuesOf<F>): Notifier
}

/** Keeps the types of the options; what comes out fits the registry. */
export function defineNotifier<const F extends Fields>(
  definition: NotifierDefinition<F> & { readonly required: readonly (keyof F & string)[] },
): NotifierDefinition<F> {
  return definition
}
