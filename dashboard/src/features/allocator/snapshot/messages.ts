// What page and worker say to each other about a snapshot file. Types alone: the page loads nothing of the reader.
import type { Analysis, DeviceAnalysis, LastOom } from '../../../../../agent/allocator/snapshot/analyse.ts'
import type { Place } from '../../../../../agent/allocator/snapshot/frames.ts'
import type { Packed } from './packed.ts'

export type { DeviceAnalysis, LastOom, Place }
export type { Site } from '../../../../../agent/allocator/snapshot/sites.ts'
export type { PoolFigures } from '../../../../../agent/allocator/snapshot/pools.ts'

/** Texts as a person types them: `2GiB`, `500 MB`. */
export type Question = { readonly request: string; readonly free: string; readonly device: number }
export type Asked = Analysis['request']

export type SegmentRow = {
  readonly index: number
  readonly pool: number
  readonly address: string
  readonly bytes: number
  readonly blocks: number
  readonly liveBytes: number
  readonly pendingBytes: number
  readonly holeBytes: number
  readonly cacheBytes: number
  readonly largestFreeBytes: number
}
export type Report = {
  readonly analysis: Omit<Analysis, 'request'>
  readonly request: Asked
  readonly packed: Packed
  /** The innermost line of each of the largest sites, by device, as one text. */
  readonly siteNames: Readonly<Record<number, readonly string[]>>
  /** The largest ones. */
  readonly segments: readonly SegmentRow[]
  readonly tookMs: number
}
export type BlockPlace = { readonly text: string; readonly operation?: string; readonly callers: readonly string[]; readonly recorded: boolean }

export type ToWorker =
  | { readonly type: 'open'; readonly file: File }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'place'; readonly block: number }
export type FromWorker =
  | { readonly type: 'opened'; readonly report: Report }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'answer'; readonly id: number; readonly answer: Asked }
  | { readonly type: 'unclear'; readonly id: number; readonly field: 'request' | 'free'; readonly why: string }
  | { readonly type: 'place'; readonly block: number; readonly place: BlockPlace }
