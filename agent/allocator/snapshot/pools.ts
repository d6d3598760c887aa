// Figures by device, pool, stream and kind: what is live, what is free, and what of that a flush would give back.
import type { PoolKind, PoolSummary, Segment, Snapshot } from './model.ts'
import { pageBytes, wholePages, type Rules } from './rules.ts'

/** Bytes of memory that is held from CUDA, as JSON shows them. */
export type MemoryFigures = {
  readonly segments: number
  readonly reserved_bytes: number
  readonly allocated_bytes: number
  /** Freed by the program, but a stream may still use it. */
  readonly pending_bytes: number
  readonly free_bytes: number
  readonly free_blocks: number
  readonly largest_free_bytes: number
  /** Segments (or, of expandable ones, runs) in which nothing lives. */
  readonly free_segments: number
  /** Free bytes that a flush gives back to CUDA: segments that are free as a whole, and whole free pages of expandable ones. Absent where the file does not say. */
  readonly releasable_bytes?: number
  /** Free bytes that no flush gives back: holes between live blocks. */
  readonly stranded_bytes?: number
}
export type PoolFigures = MemoryFigures & {
  readonly device: number
  readonly pool: string
  readonly stream: string
  readonly kind: PoolKind
  readonly expandable: boolean
}

type Sums = { -readonly [name in keyof MemoryFigures]-?: number }
const nothing = (): Sums => ({
  segments: 0,
  reserved_bytes: 0,
  allocated_bytes: 0,
  pending_bytes: 0,
  free_bytes: 0,
  free_blocks: 0,
  largest_free_bytes: 0,
  free_segments: 0,
  releasable_bytes: 0,
  stranded_bytes: 0,
})

/** Bytes of one free block that a flush gives back. */
export function releasableOf(segment: Segment, block: { readonly offset: number; readonly bytes: number }, rules: Rules): number {
  if (segment.expandable) return wholePages(block.offset, block.bytes, pageBytes(segment.kind, rules))
  return block.bytes === segment.bytes ? block.bytes : 0
}

function addSegment(sums: Sums, segment: Segment, rules: Rules): void {
  let live = false
  sums.segments += 1
  sums.reserved_bytes += segment.bytes
  for (const block of segment.blocks) {
    if (block.state === 'allocated') sums.allocated_bytes += block.bytes
    else if (block.state === 'pending') sums.pending_bytes += block.bytes
    if (block.state !== 'free') {
      live = true
      continue
    }
    sums.free_bytes += block.bytes
    sums.free_blocks += 1
    sums.largest_free_bytes = Math.max(sums.largest_free_bytes, block.bytes)
    sums.releasable_bytes += releasableOf(segment, block, rules)
  }
  if (!live) sums.free_segments += 1
  sums.stranded_bytes = sums.free_bytes - sums.releasable_bytes
}

const fromSummary = (pool: PoolSummary): PoolFigures => ({
  device: pool.device,
  pool: pool.pool,
  stream: pool.stream,
  kind: pool.kind,
  expandable: pool.expandable,
  segments: pool.segments,
  reserved_bytes: pool.bytes,
  allocated_bytes: pool.allocatedBytes,
  pending_bytes: pool.pendingBytes,
  free_bytes: pool.freeBytes,
  free_blocks: pool.freeBlocks,
  largest_free_bytes: pool.largestFreeBytes,
  free_segments: pool.freeSegments,
  // Sums show it only where no segment is free as a whole, as after the flush before an out-of-memory error.
  ...(pool.freeSegments === 0 && !pool.expandable ? { releasable_bytes: 0, stranded_bytes: pool.freeBytes } : {}),
})

/** One row per device, pool, stream and kind, the largest first. */
export function poolsOf(snapshot: Snapshot, rules: Rules): readonly PoolFigures[] {
  const found = new Map<string, { readonly segment: Segment; readonly sums: Sums }>()
  for (const segment of snapshot.segments) {
    const { device, pool, stream, kind, expandable } = segment
    const key = `${device} ${pool} ${stream} ${kind} ${expandable}`
    let entry = found.get(key)
    if (entry === undefined) found.set(key, (entry = { segment, sums: nothing() }))
    addSegment(entry.sums, segment, rules)
  }
  const rows = [...found.values()].map(({ segment: { device, pool, stream, kind, expandable }, sums }) => ({ device, pool, stream, kind, expandable, ...sums }))
  return [...rows, ...(snapshot.pools ?? []).map(fromSummary)].sort((a, b) => a.device - b.device || b.reserved_bytes - a.reserved_bytes)
}

/** Absent as soon as one row does not know it. */
function known(rows: readonly MemoryFigures[], name: 'releasable_bytes' | 'stranded_bytes'): Partial<Record<typeof name, number>> {
  return rows.some((row) => row[name] === undefined) ? {} : { [name]: rows.reduce((sum, row) => sum + (row[name] ?? 0), 0) }
}

export function total(rows: readonly MemoryFigures[]): MemoryFigures {
  const sum = (name: Exclude<keyof MemoryFigures, 'releasable_bytes' | 'stranded_bytes'>): number => rows.reduce((all, row) => all + row[name], 0)
  return {
    segments: sum('segments'),
    reserved_bytes: sum('reserved_bytes'),
    allocated_bytes: sum('allocated_bytes'),
    pending_bytes: sum('pending_bytes'),
    free_bytes: sum('free_bytes'),
    free_blocks: sum('free_blocks'),
    largest_free_bytes: rows.reduce((most, row) => Math.max(most, row.largest_free_bytes), 0),
    free_segments: sum('free_segments'),
    ...known(rows, 'releasable_bytes'),
    ...known(rows, 'stranded_bytes'),
  }
}
