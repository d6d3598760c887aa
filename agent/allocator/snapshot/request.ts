// What a request of N bytes would meet: the exact rules of the caching allocator on the state that the file shows (pytorch-allocator.md, sections 3 and 4).
import { DEFAULT_POOL, type PoolKind, type Segment } from './model.ts'
import { releasableOf, type PoolFigures } from './pools.ts'
import { kindFor, mayTake, pageBytes, roundRequest, segmentBytes, splits, type Rules } from './rules.ts'

/**
 * free_block: a free block takes it, without asking CUDA. device: CUDA has room for it now. after_flush: it has once the cache is given back.
 * fails: out of memory. maybe: expandable segments, and the file does not show enough. depends: nothing says how much the device has free.
 */
export type RequestOutcome = 'free_block' | 'device' | 'after_flush' | 'fails' | 'maybe' | 'depends'

export type RequestAnswer = {
  readonly device: number
  readonly pool: string
  readonly stream: string
  readonly kind: PoolKind
  readonly request_bytes: number
  readonly rounded_bytes: number
  readonly outcome: RequestOutcome
  /** The free block that it would get; what is left of it is split off, or stays inside it and counts as allocated. */
  readonly block?: { readonly bytes: number; readonly rest_bytes: number; readonly rest_is_split_off: boolean }
  readonly largest_free_bytes: number
  /** What would be asked of CUDA: a segment, or pages of an expandable one. */
  readonly device_bytes: number
  /** What a flush gives back first. */
  readonly flush_bytes?: number
  /** How much the device must have free: without a flush, and with one. */
  readonly needs_free_bytes: number
  readonly needs_free_after_flush_bytes?: number
  readonly device_free_bytes?: number
  /** Whether that figure was given now, or comes from the out-of-memory error in the file. */
  readonly device_free_from?: 'flag' | 'error'
}

export type RequestQuestion = {
  readonly bytes: number
  readonly device: number
  readonly stream?: string
  readonly deviceFreeBytes?: number
  readonly deviceFreeFrom?: 'flag' | 'error'
}

type Row = Pick<Segment, 'device' | 'pool' | 'stream' | 'kind'>
const isOf = (row: Row, device: number, stream: string, kind: PoolKind): boolean =>
  row.device === device && row.pool === DEFAULT_POOL && row.stream === stream && row.kind === kind

/** The stream of a request unless one is given: the one that holds most of the default pool; PyTorch's default stream is 0. */
export function mainStream(pools: readonly PoolFigures[], device: number): string {
  const bytes = new Map<string, number>()
  for (const pool of pools)
    if (pool.device === device && pool.pool === DEFAULT_POOL) bytes.set(pool.stream, (bytes.get(pool.stream) ?? 0) + pool.reserved_bytes)
  let [found, most] = ['0', bytes.get('0') ?? 0]
  for (const [stream, held] of bytes) if (held > most) [found, most] = [stream, held]
  return found
}

/** Best fit: the smallest free block that is large enough. */
function bestFit(segments: readonly Segment[], rounded: number, rules: Rules): number | undefined {
  let best: number | undefined
  for (const { blocks } of segments)
    for (const { state, bytes } of blocks) if (state === 'free' && bytes >= rounded && (best === undefined || bytes < best)) best = bytes
  // Only the smallest is looked at: when max_split_size forbids that one, a larger one is not tried.
  return best !== undefined && mayTake(best, rounded, rules) ? best : undefined
}

type Hole = { readonly offset: number; readonly bytes: number }
/** What lies free in a segment once nothing waits for a stream any more: a flush waits for that first. */
function holesOf({ blocks }: Segment): readonly Hole[] {
  const holes: { offset: number; bytes: number }[] = []
  let open: { offset: number; bytes: number } | undefined
  for (const { state, offset, bytes } of blocks) {
    if (state === 'allocated') open = undefined
    else if (open === undefined) holes.push((open = { offset, bytes }))
    else open.bytes += bytes
  }
  return holes
}

/** The least that must be mapped for an expandable request: all but what may be free on the mapped pages to both sides of a gap. */
function leastPages(segments: readonly Segment[], rounded: number, page: number): number {
  let [before, behind] = [0, 0]
  for (const segment of segments) {
    if (!segment.expandable) continue
    for (const { offset, bytes } of holesOf(segment)) {
      const [firstPage, lastPage] = [Math.ceil(offset / page) * page, Math.floor((offset + bytes) / page) * page]
      // A flush unmaps the whole pages of a hole, which makes a gap there; a run of mapped pages has one at each end.
      const hasPages = lastPage > firstPage
      if (hasPages || offset + bytes === segment.bytes) before = Math.max(before, Math.min(bytes, firstPage - offset))
      if (hasPages || offset === 0) behind = Math.max(behind, Math.min(bytes, offset + bytes - lastPage))
    }
  }
  return Math.max(1, Math.ceil((rounded - before - behind) / page)) * page
}

/** What a flush gives back: the default pool of every stream. A private pool is flushed only once it is unused, which no file shows. */
function flushBytes(segments: readonly Segment[], pools: readonly PoolFigures[], rules: Rules, device: number): number | undefined {
  if (segments.length === 0) {
    const rows = pools.filter((row) => row.device === device && row.pool === DEFAULT_POOL)
    return rows.some((row) => row.releasable_bytes === undefined) ? undefined : rows.reduce((sum, row) => sum + (row.releasable_bytes ?? 0), 0)
  }
  let sum = 0
  for (const segment of segments) {
    if (segment.device !== device || segment.pool !== DEFAULT_POOL) continue
    for (const hole of holesOf(segment)) sum += releasableOf(segment, hole, rules)
  }
  return sum
}

export function answerRequest(segments: readonly Segment[], pools: readonly PoolFigures[], rules: Rules, question: RequestQuestion): RequestAnswer {
  const { bytes, device, deviceFreeBytes } = question
  const stream = question.stream ?? mainStream(pools, device)
  const rounded = roundRequest(bytes, rules)
  const kind = kindFor(rounded)
  const mine = segments.filter((segment) => isOf(segment, device, stream, kind))
  const rows = pools.filter((row) => isOf(row, device, stream, kind))
  const largest = rows.reduce((most, row) => Math.max(most, row.largest_free_bytes), 0)
  // The probe's figures have no blocks: the largest one is then the block, unless a setting that is not known forbids it.
  const block = segments.length > 0 ? bestFit(mine, rounded, rules) : largest >= rounded ? largest : undefined
  const page = pageBytes(kind, rules)
  const deviceBytes = rules.expandable ? Math.ceil(rounded / page) * page : segmentBytes(rounded, rules)
  const flush = flushBytes(segments, pools, rules, device)

  const outcome = (): RequestOutcome => {
    if (block !== undefined) return 'free_block'
    if (deviceFreeBytes === undefined) return 'depends'
    if (deviceFreeBytes >= deviceBytes) return 'device'
    if (flush === undefined) return 'maybe'
    if (deviceFreeBytes + flush >= deviceBytes) return 'after_flush'
    return rules.expandable && deviceFreeBytes + flush >= leastPages(mine, rounded, page) ? 'maybe' : 'fails'
  }
  const rest = block === undefined ? 0 : block - rounded
  return {
    device,
    pool: DEFAULT_POOL,
    stream,
    kind,
    request_bytes: bytes,
    rounded_bytes: rounded,
    outcome: outcome(),
    ...(block === undefined ? {} : { block: { bytes: block, rest_bytes: rest, rest_is_split_off: splits(block, rounded, kind, rules) } }),
    largest_free_bytes: largest,
    device_bytes: deviceBytes,
    ...(flush === undefined ? {} : { flush_bytes: flush, needs_free_after_flush_bytes: block === undefined ? Math.max(0, deviceBytes - flush) : 0 }),
    needs_free_bytes: block === undefined ? deviceBytes : 0,
    ...(deviceFreeBytes === undefined ? {} : { device_free_bytes: deviceFreeBytes, device_free_from: question.deviceFreeFrom ?? 'flag' }),
  }
}
