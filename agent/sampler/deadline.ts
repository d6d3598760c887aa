// Notices that a child no longer answers: by its messages while a request is in flight, by its call in flight while it opens the GPUs.

export type DeadlineOptions = {
  /** The child's thread name now. */
  readonly comm: () => string
  readonly namesGpu: (comm: string) => boolean
  readonly expired: (phase: 'start' | 'scrape', waitedMs: number) => void
  /** So long without any message during a request. A request of many GPUs may take longer as long as samples come in. */
  readonly deadlineMs: number
  /** After so long without any message during a request `late` is asked, at each check until it says true: whether this looks like a call that hangs. */
  readonly lateMs: number
  readonly late: () => boolean
  readonly startDeadlineMs: number
}

export type Deadline = {
  /** The child was heard of. */
  readonly progress: () => void
  readonly request: () => void
  /** Nothing is awaited. */
  readonly idle: () => void
  readonly stop: () => void
}

/** Even with progress a request ends after so many deadlines: a child that only ever drips is of no use. */
const MAX_DEADLINES_PER_REQUEST = 5
/** At the start one call on one GPU may take this many deadlines: opening a GPU is slower than reading it. */
const START_CALL_DEADLINES = 2.5
const CHECKS_PER_DEADLINE = 16
/**
 * A request is answered within milliseconds, and Node does not take back a timer of the kernel's: one set for the first beat would wake the agent each second for nothing.
 * The first check comes later than the agent's tick, which by then has set the next timer without it.
 */
const BEATS_TO_FIRST_CHECK = 4

/** Checks on a beat and counts beats, not the clock: when the agent itself was stopped or starved, that is not held against the child. */
export function watchDeadline(options: DeadlineOptions): Deadline {
  const { deadlineMs, startDeadlineMs } = options
  const beatMs = Math.max(5, deadlineMs / CHECKS_PER_DEADLINE)
  const beats = (ms: number): number => Math.ceil(ms / beatMs)
  let phase: 'start' | 'scrape' = 'start'
  let silent = 0
  let total = 0
  let heardAt = 0
  let comm = ''
  let sameComm = 0
  let reportedLate = false
  let awaited = false
  let timer: NodeJS.Timeout | undefined

  const stuckOpening = (): boolean => {
    const now = options.comm()
    sameComm = now === comm ? sameComm + 1 : 0
    comm = now
    return options.namesGpu(now) && sameComm >= beats(deadlineMs * START_CALL_DEADLINES)
  }
  // The first check may come right after the child was heard of.
  const isLate = (): boolean => silent > beats(options.lateMs)
  const check = (): void => {
    silent++
    total++
    const tooLong = total >= beats(phase === 'start' ? startDeadlineMs : deadlineMs * MAX_DEADLINES_PER_REQUEST)
    const stuck = phase === 'start' ? stuckOpening() : silent >= beats(deadlineMs)
    if (!tooLong && !stuck) {
      if (phase === 'scrape' && !reportedLate && isLate()) setImmediate(() => (reportedLate = awaited && isLate() && options.late()))
      return
    }
    pause()
    // Timers come before messages in a turn of the loop: an answer that is in the channel already must be seen first.
    awaited = true
    setImmediate(() => {
      if (!awaited) return
      if (silent === 0 && !tooLong) timer ??= setInterval(check, beatMs)
      else options.expired(phase, Math.round((tooLong ? total : phase === 'start' ? sameComm : silent) * beatMs))
    })
  }
  const pause = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const wait = (): void => {
    silent = 0
    total = 0
    heardAt = performance.now()
    reportedLate = false
    awaited = true
    pause()
  }
  const firstCheck = (): void => {
    timer = setInterval(check, beatMs)
    // However long this process was held up, at most these beats; the check itself is one.
    silent = Math.min(BEATS_TO_FIRST_CHECK, Math.ceil((performance.now() - heardAt) / beatMs)) - 1
    total = BEATS_TO_FIRST_CHECK - 1
    check()
  }
  const stop = (): void => {
    awaited = false
    pause()
  }
  wait()
  timer = setInterval(check, beatMs)
  return {
    progress() {
      silent = 0
      heardAt = performance.now()
      reportedLate = false
    },
    request() {
      phase = 'scrape'
      wait()
      timer = setTimeout(firstCheck, beatMs * BEATS_TO_FIRST_CHECK)
    },
    idle: stop,
    stop,
  }
}
