// What the history takes in and answers; its parts are internal.
import type { Event } from '../../model/event.ts'
import type { Log } from '../../model/source.ts'
import type { HistoryView } from '../history-view.ts'
import type { Retention } from './retention.ts'

export type HistoryOptions = {
  readonly directory: string
  readonly retention?: Partial<Retention>
  readonly log: Log
  /** Unix ms; only for the first opening, later times come with the ticks. */
  readonly now?: () => number
}
export type HistoryStats = {
  /** Of the database file; 0 while there is none. */
  readonly bytes: number
  /** Raw samples on disk and in memory. */
  readonly samples: number
  /** All bytes of the file, rollups and journal too, over its raw samples; undefined while there are none. */
  readonly bytesPerSample: number | undefined
  /** Unix ms of the oldest raw reading. */
  readonly oldest: number | undefined
  /** Series that are being recorded now. */
  readonly series: number
  /** Blocks that wait in memory for the disk, and those given up because they became too many. */
  readonly waitingBlocks: number
  readonly droppedBlocks: number
  /** Readings that came too late, or were no finite number at a possible time. */
  readonly droppedReadings: number
  /** Why history is in memory only. */
  readonly degraded: string | undefined
}
export type History = HistoryView & {
  readonly name: string
  readonly ingest: (event: Event) => void
  /** Once a second, when the scrapes of that second are in: makes them safe and does a bounded part of all chores. */
  readonly maintain: (now: number) => void
  readonly stats: () => HistoryStats
  readonly close: () => void
}

/** What the agent's configuration says of history; its names are those of the file. */
export type HistorySettings = {
  readonly data_dir: string
  readonly history: {
    readonly enabled: boolean
    readonly raw_hours: number
    readonly minute_days: number
    readonly hour_days: number
    readonly max_size_mb: number
  }
}
