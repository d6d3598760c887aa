// Samples for the peaks between two requests, in one loop that waits in the kernel: a turn of Node's event loop for each of them cost more than the calls of NVML in it.

/** <poll.h> */
const POLLIN = 1

/** Waits for data in the channel from the parent, at most `ms`; true: there is some, or a signal ended the wait. */
export type WaitForParent = (ms: number) => boolean

/** Undefined without a channel to wait on or a libc to wait with. */
export async function waitOnChannel(): Promise<WaitForParent | undefined> {
  const { channel } = process
  const fd: unknown = channel !== undefined && 'fd' in channel ? channel.fd : undefined
  if (typeof fd !== 'number' || fd < 0) return undefined
  try {
    const { default: koffi } = await import('koffi')
    const poll: (fds: Int32Array, count: number, timeoutMs: number) => number = koffi.load('libc.so.6').func('poll', 'int', ['void *', 'ulong', 'int'])
    // struct pollfd: the descriptor, then what is waited for and what came in one word.
    const fds = Int32Array.of(fd, POLLIN)
    return (ms) => {
      fds[1] = POLLIN
      return poll(fds, 1, ms) !== 0
    }
  } catch {
    return undefined
  }
}

export type PeakLoop = {
  /** Samples from now on each `periodMs`, or no longer. */
  readonly follow: (periodMs: number | undefined) => void
  /** All GPUs have just been read: the next sample comes a period later. */
  readonly sampled: () => void
  /** To be called before and after what needs the event loop: a message that is being sent, a connection that is being made. */
  readonly busy: () => void
  readonly free: () => void
}

export function createPeakLoop(wait: WaitForParent, peak: () => void): PeakLoop {
  let every: number | undefined
  let dueAt = 0
  let busy = 0
  let scheduled = false
  const run = (): void => {
    scheduled = false
    const period = every
    // Whoever is free last schedules it again.
    if (period === undefined || busy > 0) return
    // Also without time left: a driver that is slower than the period must not keep a request waiting.
    while (!wait(Math.max(0, Math.ceil(dueAt - performance.now())))) {
      peak()
      dueAt = Math.max(dueAt + period, performance.now())
    }
    schedule() // one turn of the event loop takes in what came
  }
  const schedule = (): void => {
    if (scheduled || every === undefined || busy > 0) return
    scheduled = true
    setImmediate(run)
  }
  const sampled = (): void => {
    if (every !== undefined) dueAt = performance.now() + every
  }
  return {
    follow(periodMs) {
      if (every === periodMs) return
      every = periodMs
      sampled()
      schedule()
    },
    sampled,
    busy: () => void busy++,
    free() {
      busy--
      schedule()
    },
  }
}
