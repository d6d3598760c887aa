// When the agent slows down: on a host without GPUs, containers and jobs, whose live stream has no reader.
import { createPace, type Pace } from '../lib/pace.ts'
import type { Event } from '../model/event.ts'
import type { TakesEvents, TakesTicks } from '../model/sink.ts'
import type { LiveSink } from '../sinks/live.ts'
import type { LatestStore } from '../store/latest.ts'

export type HostPaceOptions = {
  readonly latest: LatestStore
  readonly live: LiveSink
  /** Runs that go on or have just ended. */
  readonly runs: () => number
  /** The full pace, whatever there is to see. */
  readonly always: boolean
}
export type HostPace = Pace &
  TakesEvents &
  TakesTicks & {
    /** A reading holds for longer where the next one comes later. */
    readonly lasting: (event: Event) => Event
    /** The stream, whose readers get a frame each second. */
    readonly live: LiveSink
  }

export function createHostPace({ latest, live, runs, always }: HostPaceOptions): HostPace {
  const { inventory } = latest
  /** A host that lost its GPUs is no host without GPUs. */
  let hadGpu = false
  const pace = createPace(() => {
    hadGpu ||= inventory.gpus().length > 0
    const [container] = inventory.containers()
    return always || hadGpu || container !== undefined || live.readers() > 0 || runs() > 0
  })
  return {
    ...pace,
    name: 'pace',
    ingest({ type }) {
      // Beside readings there are only events of something that happened.
      if (type !== 'scrape') pace.wake(Date.now())
      else if (pace.isSlow()) pace.look(Date.now())
    },
    tick: pace.look,
    lasting: (event) => (event.type === 'scrape' && pace.isSlow() ? { ...event, ttlMs: pace.ttlOf(event.ttlMs) } : event),
    live: {
      ...live,
      upgrade(...request) {
        pace.wake(Date.now())
        live.upgrade(...request)
      },
    },
  }
}
