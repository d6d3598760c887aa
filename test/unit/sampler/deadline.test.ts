// When a child is called late and when it is given up, and that a request that is answered at once costs no wake-up of its own.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TICK_PHASE_MS } from '../../../agent/lib/scheduler.ts'
import { watchDeadline, type Deadline } from '../../../agent/sampler/deadline.ts'

const DEADLINE_MS = 2_000
/** A faked immediate takes a millisecond. */
const IMMEDIATE_MS = 1

describe('the deadline of a request', () => {
  let begun = 0
  let events: string[] = []
  let deadline: Deadline
  const since = (): number => performance.now() - begun

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'performance'] })
    events = []
    deadline = watchDeadline({
      comm: () => '',
      namesGpu: () => false,
      deadlineMs: DEADLINE_MS,
      lateMs: DEADLINE_MS / 4,
      startDeadlineMs: 10_000,
      late: () => {
        events.push(`late at ${since() - IMMEDIATE_MS}`)
        return true
      },
      expired: (phase, waitedMs) => events.push(`${phase} expired at ${since() - IMMEDIATE_MS} after ${waitedMs}`),
    })
    deadline.idle()
    begun = performance.now()
  })
  afterEach(() => {
    deadline.stop()
    vi.useRealTimers()
  })

  test('nothing is heard: late after a quarter, over at its end', () => {
    deadline.request()
    vi.advanceTimersByTime(3_000)
    expect(events).toEqual(['late at 625', 'scrape expired at 2000 after 2000'])
  })

  test('the first GPUs answer, the next does not: counted from what was heard last', () => {
    deadline.request()
    vi.advanceTimersByTime(300)
    deadline.progress()
    vi.advanceTimersByTime(3_000)
    // 200 ms of silence at the first check are two beats.
    expect(events).toEqual(['late at 875', 'scrape expired at 2250 after 2000'])
  })

  test('what is answered at once sets no timer before the tick, and leaves none', () => {
    deadline.request()
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(TICK_PHASE_MS + 100)
    expect([vi.getTimerCount(), ...events]).toEqual([1])
    vi.advanceTimersToNextTimer()
    expect(since()).toBe(DEADLINE_MS / 4)
    deadline.idle()
    expect(vi.getTimerCount()).toBe(0)
  })
})
