// A picture of the segments as plain data, for the dashboard and the SVG: each segment a row of runs, small neighbours merged.
import type { PoolKind, Segment, Snapshot } from './model.ts'
import { releasableOf } from './pools.ts'
import type { Rules } from './rules.ts'
import type { Ranked } from './sites.ts'

/** `stranded` is free in a hole between live blocks, `releasable` free and returnable by a flush, `mixed` several small ones together. */
export type RunState = 'allocated' | 'pending' | 'stranded' | 'releasable' | 'mixed'
/** Start and width are of the segment's width; the group is the rank of the allocation site among the largest (null: none of them), free bytes show how full a mixed run is. */
export type Run = readonly [start: number, width: number, state: RunState, bytes: number, group: number | null, freeBytes: number]

export type PictureSegment = { readonly address?: string; readonly bytes: number; readonly free_bytes: number; readonly runs: readonly Run[] }
export type PicturePool = {
  readonly device: number
  readonly pool: string
  readonly stream: string
  readonly kind: PoolKind
  readonly expandable: boolean
  readonly bytes: number
  readonly segments: readonly PictureSegment[]
  /** Segments beyond the limit, the smallest ones, which have no row. */
  readonly left_out: { readonly segments: number; readonly bytes: number }
}
export type Picture = { readonly pools: readonly PicturePool[]; readonly runs: number }

export const MAX_RUNS = 4_000

type Piece = { readonly state: RunState; readonly group: number | null; start: number; bytes: number; free: number }

/** The blocks as pieces; equal neighbours are one. */
function piecesOf(segment: Segment, rules: Rules, rankOf: Ranked['rankOf']): Piece[] {
  const pieces: Piece[] = []
  const add = (state: RunState, group: number | null, start: number, bytes: number): void => {
    if (bytes === 0) return
    const last = pieces.at(-1)
    const free = state === 'stranded' || state === 'releasable' ? bytes : 0
    if (last?.state === state && last.group === group) {
      last.bytes += bytes
      last.free += free
    } else pieces.push({ state, group, start, bytes, free })
  }
  for (const block of segment.blocks) {
    if (block.state !== 'free') {
      add(block.state, block.state === 'allocated' ? (rankOf(block.frames) ?? null) : null, block.offset, block.bytes)
      continue
    }
    const returned = releasableOf(segment, block, rules)
    // Whole pages are between what stays at both ends; drawn behind it, as the exact border is finer than a picture.
    add('stranded', null, block.offset, block.bytes - returned)
    add('releasable', null, block.offset + block.bytes - returned, returned)
  }
  return pieces
}

/** At most `most` runs: what is narrower than its share joins its neighbours. */
function merge(pieces: readonly Piece[], bytes: number, most: number): readonly Piece[] {
  if (pieces.length <= most) return pieces
  // Between two wide pieces there is at most one merged one.
  const narrow = bytes / Math.max(1, Math.floor((most - 1) / 2))
  const merged: Piece[] = []
  let open: Piece | undefined
  for (const piece of pieces) {
    if (piece.bytes >= narrow) {
      merged.push(piece)
      open = undefined
      continue
    }
    if (open === undefined || open.bytes >= narrow) merged.push((open = { state: 'mixed', group: null, start: piece.start, bytes: 0, free: 0 }))
    open.bytes += piece.bytes
    open.free += piece.free
  }
  return merged
}

const addressText = (address: number | bigint | undefined): { readonly address?: string } =>
  address === undefined ? {} : { address: `0x${address.toString(16)}` }

export type PictureInput = {
  readonly snapshot: Snapshot
  readonly rules: Rules
  readonly rankOf: ReadonlyMap<number, Ranked['rankOf']>
  readonly maxRuns?: number
}

export function pictureOf({ snapshot, rules, rankOf, maxRuns = MAX_RUNS }: PictureInput): Picture {
  const all = snapshot.segments.reduce((sum, segment) => sum + segment.bytes, 0)
  // Half of the runs go to the segments one each, the largest first; the rest by size.
  const drawn = new Set(snapshot.segments.toSorted((a, b) => b.bytes - a.bytes).slice(0, Math.max(1, Math.floor(maxRuns / 2))))
  const spare = Math.max(0, maxRuns - drawn.size)
  const pools = new Map<string, Segment[]>()
  for (const segment of snapshot.segments) {
    const key = `${segment.device} ${segment.pool} ${segment.stream} ${segment.kind} ${segment.expandable}`
    const known = pools.get(key)
    if (known === undefined) pools.set(key, [segment])
    else known.push(segment)
  }
  let runs = 0
  const rows = [...pools.values()]
    .filter((segments) => segments.some((segment) => drawn.has(segment)))
    .map((segments): PicturePool => {
      const [{ device, pool, stream, kind, expandable } = { device: 0, pool: '0,0', stream: '0', kind: 'large' as const, expandable: false }] = segments
      const shown = segments.filter((segment) => drawn.has(segment))
      const leftOut = segments.filter((segment) => !drawn.has(segment))
      return {
        device,
        pool,
        stream,
        kind,
        expandable,
        bytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
        segments: shown.map((segment): PictureSegment => {
          const most = 1 + Math.floor(all === 0 ? 0 : (spare * segment.bytes) / all)
          const pieces = merge(piecesOf(segment, rules, rankOf.get(device) ?? (() => undefined)), segment.bytes, most)
          runs += pieces.length
          const ratio = (part: number): number => (segment.bytes === 0 ? 0 : part / segment.bytes)
          return {
            ...addressText(segment.address),
            bytes: segment.bytes,
            free_bytes: segment.blocks.reduce((sum, block) => sum + (block.state === 'free' ? block.bytes : 0), 0),
            runs: pieces.map((piece): Run => [ratio(piece.start), ratio(piece.bytes), piece.state, piece.bytes, piece.group, piece.free]),
          }
        }),
        left_out: { segments: leftOut.length, bytes: leftOut.reduce((sum, segment) => sum + segment.bytes, 0) },
      }
    })
  return { pools: rows.toSorted((a, b) => a.device - b.device || b.bytes - a.bytes), runs }
}
