// Says each interval that this host is watched, and only while it is: whoever misses it knows that agent, host or network is gone.
import type { Log } from '../agent/model/source.ts'
import { messageOf } from '../agent/text/error.ts'

export type HeartbeatOptions = {
  /** Whom it goes to, for people: a host name, no URL. */
  readonly to: string
  readonly intervalMs: number
  /** Whether the agent samples; while it does not, silence is the message. */
  readonly ready: () => boolean
  /** Resolves to what went wrong in words without secrets; undefined: it arrived. Never hangs. */
  readonly send: (t: number) => Promise<string | undefined>
  readonly log: Log
}
export type Heartbeat = {
  /** Once a second; cheap when it is not due. */
  readonly maintain: (t: number) => void
  readonly figures: () => { readonly delivered: number; readonly failed: number }
}

export function createHeartbeat({ to, intervalMs, ready, send, log }: HeartbeatOptions): Heartbeat {
  let begunAt: number | undefined
  let underWay = false
  let failing = false
  let [delivered, failed] = [0, 0]

  const beat = async (t: number): Promise<void> => {
    const problem = await send(t).catch((error: unknown) => messageOf(error))
    if (problem === undefined) {
      delivered++
      if (failing) log.info(`the heartbeat reaches ${to} again`)
      failing = false
    } else {
      failed++
      // Once for each time of trouble: the metric counts, and whoever waits for the heartbeat notices by itself.
      if (!failing) log.warn(`the heartbeat does not reach ${to}: ${problem}; tried again each ${intervalMs / 1_000} s`)
      failing = true
    }
  }
  return {
    maintain(t) {
      // A clock that was set back must not silence it.
      const due = begunAt === undefined || t - begunAt >= intervalMs || t < begunAt
      if (!due || underWay || !ready()) return
      begunAt = t
      underWay = true
      void beat(t).finally(() => (underWay = false))
    },
    figures: () => ({ delivered, failed }),
  }
}
