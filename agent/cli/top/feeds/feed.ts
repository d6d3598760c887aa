// Where `top` gets its figures: an agent's stream, a recording, or a simulated host.
import type { LiveMessage } from '../../../model/live.ts'

export type FeedEvents = {
  readonly message: (message: LiveMessage) => void
  /** Why nothing comes; it is tried again. */
  readonly lost: (problem: string) => void
}
export type Feed = {
  /** Its processes are this machine's, so that one of them can be sent a signal. */
  readonly isLocal: boolean
  readonly close: () => Promise<void>
}
