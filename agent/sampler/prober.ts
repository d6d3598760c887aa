// Tries left-out GPUs, one at a time, each in a short-lived child that samples nothing else.
import { secondsText } from '../text/span.ts'
import type { ChildHandlers, SamplerChild } from './child-handle.ts'
import type { HangPolicy } from './hang-policy.ts'
import { RATES } from './protocol.ts'
import type { SupervisorEvents } from './supervisor.ts'
import { childEndText } from './end-text.ts'

export type ProberOptions = {
  readonly policy: HangPolicy
  /** Whether another child may be risked. */
  readonly room: () => boolean
  readonly spawn: (only: number, handlers: ChildHandlers) => SamplerChild
  readonly events: Pick<SupervisorEvents, 'sample' | 'trouble' | 'complain'>
  /** The GPU passed a whole scrape. */
  readonly returned: (gpu: number) => void
}

export type Prober = { readonly schedule: () => void; readonly stop: (graceMs: number) => Promise<void> }

const GRACE_MS = 500

/** When a left-out GPU is tried again, in words. */
export const whenNext = (delayMs: number, room: boolean): string =>
  room
    ? `left out, retried ${delayMs === 0 ? 'at once' : `in ${secondsText(delayMs)}`}`
    : 'left out until one of the sampler processes that hang in the driver ends'

export function createProber(options: ProberOptions): Prober {
  const { policy, events } = options
  let running: SamplerChild | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const schedule = (): void => {
    clearTimeout(timer)
    const next = policy.nextProbe()
    // Without room the end of a stuck child calls back here.
    if (stopped || running !== undefined || next === undefined || !options.room()) return
    timer = setTimeout(() => probe(next.gpu), Math.max(0, next.at - performance.now()))
    timer.unref()
  }
  const probe = (gpu: number): void => {
    if (!options.room()) return
    const finish = (): void => {
      running = undefined
      schedule()
    }
    const child: SamplerChild = options.spawn(gpu, {
      hello: () => child.scrape(RATES, Date.now()),
      sample: events.sample,
      done() {
        void child.retire(GRACE_MS)
        running = undefined
        options.returned(gpu)
        schedule()
      },
      complain: events.complain,
      end(end) {
        const { function: name, detail } = childEndText(end)
        const delayMs = policy.probeFailed(gpu, performance.now())
        events.trouble({ index: gpu, function: name, crashed: end.kind === 'crash', detail: `${detail}; ${whenNext(delayMs, options.room())}`, first: false })
        finish()
      },
    })
    running = child
  }
  return {
    schedule,
    async stop(graceMs) {
      stopped = true
      clearTimeout(timer)
      await running?.retire(graceMs)
    },
  }
}
