// What a sink is: something outside that hears of events as they pass.
import type { Event } from './event.ts'

export type Sink = {
  readonly name: string
  readonly accepts: (event: Event) => boolean
  /** Must not block and must not throw: a sink that falls behind drops and counts. */
  readonly write: (event: Event) => void
  /** Called once per tick, after the scrapes of that second have come in. `t` is the tick's time. */
  readonly tick?: (t: number) => void
  readonly dropped: () => number
  readonly close: () => void | Promise<void>
}
