// What a traceback says: frames, what was raised, and how several of them hang together.

export type Frame = {
  readonly file: string
  readonly line: number | undefined
  /** The function; undefined for a syntax error, which is in no function. */
  readonly name: string | undefined
  /** The line of source that Python prints below it, where it does. */
  readonly code?: string
}

export type Raised = {
  /** Without its module: `OutOfMemoryError`; of `RayTaskError(ValueError)` the inner name. */
  readonly name: string
  readonly module: string | undefined
  /** The wrapper that named it: `RayTaskError`. */
  readonly wrapper: string | undefined
  readonly message: string
  /** Number of its line. */
  readonly at: number
}

/** `cause`: raise … from …; `context`: raised while the one before was handled; `inner`: what a wrapper quotes. */
export type Link = 'cause' | 'context' | 'inner'

export type Block = {
  readonly frames: readonly Frame[]
  readonly raised: Raised | undefined
  /** How it hangs together with the block before it. */
  readonly link: Link | undefined
  /** What follows the raised line: the rest of a message of several lines. */
  readonly tail: readonly string[]
}

export type Traceback = {
  /** Prefix of the process that printed it, and its rank and pid where the prefix or the text says so. */
  readonly writer: string
  readonly rank: number | undefined
  readonly pid: number | undefined
  readonly blocks: readonly Block[]
  /** What was before it: the rest of the header's line, else the line above. */
  readonly lead: string
  /** Python's own header is above its outermost frame. */
  readonly headed: boolean
  /** Python says itself that it went on: exceptions in destructors, in logging, at exit. */
  readonly ignored: boolean
  /** A lone line that names an exception: no frames, no header. */
  readonly bare: boolean
  /** The first and the last of its lines, by number. */
  readonly first: number
  readonly last: number
  /** The signal of a fatal error of the interpreter: `Segmentation fault`. */
  readonly fatal: string | undefined
}

/** Names that only pass on what another process or exception said. */
const WRAPPERS =
  /^(?:ChildFailedError|ExecuteUserScriptError|CalledProcessError|RayTaskError|TuneError|TrainingFailedError|ProcessRaisedException|(?:Async)?EngineDeadError|HydraException|SignalException|SystemExit|ControllerError|WorkerGroupError|JoblibException|RemoteTraceback|_RemoteTraceback|InvocationException|JobFailed|FailedJobError|UncompletedJobError|MaxRetriesExceeded|RetryError|UnexpectedStatusException|AlgorithmError|Py4JJavaError|(?:Papermill|Cell)ExecutionError|Dagster\w{0,30}(?:Execution|UserCode)\w{0,30}Error|(?:Base)?ExceptionGroup)$/
const QUOTES =
  /^(?:Engine (?:core|process)[^\n]{0,60}See (?:root cause|stack trace) above|Engine loop is dead|Failed to create llama_context|Failed to load model from file: |.{0,200}See (?:the )?(?:root cause|stack trace) above\b|cancelled$|.{1,80}is detected by the operating system|[^\n]{0,80}\b(?:[Tt]rain(?:ing|er)|[Ss]ubprocess|[Pp]rocess|[Ss]cript|[Cc]ommand)\b[^\n]{0,40} (?:failed|exited|crashed|terminated|ended) with (?:an? )?(?:non-zero )?(?:(?:exit|return|error) )?(?:code|status)[ :=]{1,2}-?\d{1,10}\.?$|Bash command failed\. The command returned a non-zero exit code)/
/** A wrapper says that something failed, not what. */
export const isWrapper = ({ name, wrapper, message }: Raised): boolean =>
  WRAPPERS.test(name) || (wrapper !== undefined && WRAPPERS.test(wrapper) && name === wrapper) || QUOTES.test(message)

/** The block that says what ended the program: the last one, unless it only passes on another. */
export function telling(blocks: readonly Block[]): Block | undefined {
  const raised = blocks.filter((block) => block.raised !== undefined)
  return raised.findLast((block) => block.raised !== undefined && !isWrapper(block.raised)) ?? raised.at(-1) ?? blocks.at(-1)
}
