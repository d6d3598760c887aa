// What the page and the worker that reads logs say to each other.
import type { Fault } from '../../../../../agent/model/fault.ts'
import type { LogLine, NotText } from './log-reader.ts'

export type ToWorker = Blob
export type Answer = {
  readonly faults: readonly Fault[]
  readonly lineCount: number
  /** All of a short log, else those around what was found. */
  readonly lines: readonly LogLine[]
  readonly notText?: NotText | undefined
}
export type FromWorker =
  | { readonly type: 'progress'; readonly bytes: number }
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'failed'; readonly why: string }
