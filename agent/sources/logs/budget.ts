// How long reading logs may keep the event loop busy: short slices, and at most a share of the time, so that sampling is never late.

export type Budget = {
  /** Runs one piece of work and counts its time. */
  readonly spend: (work: () => void) => void
  /** The slice, or the share of this window, is used up: stop reading and wait for `free`. */
  readonly exhausted: () => boolean
  /** Calls back when there is time again, once. */
  readonly free: (resume: () => void) => void
  readonly stop: () => void
}

export type BudgetOptions = {
  /** One slice, then timers and other input get their turn. */
  readonly sliceMs?: number
  readonly windowMs?: number
  /** Of each window. */
  readonly share?: number
}

export function createBudget({ sliceMs = 10, windowMs = 100, share = 0.5 }: BudgetOptions = {}): Budget {
  let sliceUsed = 0
  let windowUsed = 0
  let windowBegan = performance.now()
  let waiting: (() => void)[] = []
  let immediate: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined

  const overWindow = (): boolean => windowUsed >= windowMs * share
  const turn = (): void => {
    if (performance.now() - windowBegan >= windowMs) [windowBegan, windowUsed] = [performance.now(), 0]
  }
  const arm = (): void => {
    if (immediate !== undefined || timer !== undefined) return
    immediate = setImmediate(() => {
      immediate = undefined
      sliceUsed = 0
      turn()
      if (overWindow()) {
        timer = setTimeout(wake, Math.max(1, windowBegan + windowMs - performance.now()))
      } else wake()
    })
  }
  const wake = (): void => {
    timer = undefined
    turn()
    const resumed = waiting
    waiting = []
    for (const [at, resume] of resumed.entries()) {
      // What is left waits for the next slice, first come first served.
      if (sliceUsed >= sliceMs) {
        waiting = [...resumed.slice(at), ...waiting]
        arm()
        return
      }
      resume()
    }
  }
  return {
    spend(work) {
      const began = performance.now()
      try {
        work()
      } finally {
        const used = performance.now() - began
        sliceUsed += used
        windowUsed += used
        arm()
      }
    },
    exhausted() {
      turn()
      return sliceUsed >= sliceMs || overWindow()
    },
    free(resume) {
      waiting.push(resume)
      arm()
    },
    stop() {
      clearImmediate(immediate)
      clearTimeout(timer)
      waiting = []
    },
  }
}
