// How PyTorch's caching allocator treats a request: rounding, pools, segments, which free blocks it may take (pytorch-allocator.md, section 3).
import type { AllocatorSettings, PoolKind } from './model.ts'

const MIB = 2 ** 20
/** kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc, kRoundLarge and the default of large_segment_size (c10/core/AllocatorConfig.h). */
const MIN_BLOCK = 512
const SMALL_REQUEST = MIB
const SMALL_SEGMENT = 2 * MIB
const OWN_SEGMENT_FROM = 10 * MIB
const SEGMENT_ROUNDING = 2 * MIB
const LARGE_SEGMENT = 20 * MIB
/** kRoundUpPowerOfTwoStart. */
const FIRST_INTERVAL = MIB

export type Rules = {
  readonly expandable: boolean
  readonly maxSplitBytes: number
  readonly maxNonSplitRoundingBytes: number
  readonly largeSegmentBytes: number
  readonly roundupDivisions: readonly number[]
}

/** A setting that the file only has in the text that was parsed last. */
function megabytes(text: string, name: string): number | undefined {
  const found = new RegExp(`(?:^|[,\\s])${name}\\s*:\\s*(\\d{1,6})(?=$|[,\\s])`).exec(text)?.[1]
  return found === undefined ? undefined : Number(found) * MIB
}

/** Defaults where the file says nothing; `expandableSeen` is what its segments are. */
export function rulesOf(settings: AllocatorSettings | undefined, expandableSeen: boolean): Rules {
  const text = settings?.text ?? ''
  return {
    expandable: settings?.expandable ?? expandableSeen,
    maxSplitBytes: settings?.maxSplitBytes ?? Infinity,
    maxNonSplitRoundingBytes: megabytes(text, 'max_non_split_rounding_mb') ?? LARGE_SEGMENT,
    largeSegmentBytes: megabytes(text, 'large_segment_size_mb') ?? LARGE_SEGMENT,
    roundupDivisions: settings?.roundupDivisions ?? [],
  }
}

/** The largest power of two that is not above. */
function powerBelow(bytes: number): number {
  const power = 2 ** Math.floor(Math.log2(bytes))
  return power > bytes ? power / 2 : power
}
const upTo = (bytes: number, step: number): number => Math.ceil(bytes / step) * step

function divisionsFor(bytes: number, rules: Rules): number {
  if (rules.roundupDivisions.length === 0) return 0
  const interval = Math.max(0, Math.log2(powerBelow(bytes) / FIRST_INTERVAL))
  return rules.roundupDivisions[Math.min(interval, rules.roundupDivisions.length - 1)] ?? 0
}

/** What a request of so many bytes takes. */
export function roundRequest(bytes: number, rules: Rules): number {
  if (bytes < MIN_BLOCK) return MIN_BLOCK
  const divisions = divisionsFor(bytes, rules)
  if (divisions <= 1 || bytes <= MIN_BLOCK * divisions) return upTo(bytes, MIN_BLOCK)
  const power = powerBelow(bytes)
  const step = power / powerBelow(divisions)
  return step < 1 ? power * 2 : upTo(bytes, step)
}

export const kindFor = (rounded: number): PoolKind => (rounded <= SMALL_REQUEST ? 'small' : 'large')

/** What is asked of cudaMalloc for a rounded request; the error text prints this figure as "Tried to allocate". */
export function segmentBytes(rounded: number, rules: Rules): number {
  if (rounded <= SMALL_REQUEST) return SMALL_SEGMENT
  return rounded < OWN_SEGMENT_FROM ? rules.largeSegmentBytes : upTo(rounded, SEGMENT_ROUNDING)
}

/** The unit in which expandable segments are mapped and unmapped. */
export const pageBytes = (kind: PoolKind, rules: Rules): number => (kind === 'small' ? SMALL_SEGMENT : rules.largeSegmentBytes)

/** Whether a free block of the right pool and stream may be taken. */
export function mayTake(blockBytes: number, rounded: number, rules: Rules): boolean {
  if (blockBytes < rounded) return false
  if (rounded < rules.maxSplitBytes) return blockBytes < rules.maxSplitBytes
  return blockBytes < rounded + rules.maxNonSplitRoundingBytes
}

/** Whether the rest of a block that was taken becomes a free block of its own. */
export function splits(blockBytes: number, rounded: number, kind: PoolKind, rules: Rules): boolean {
  const rest = blockBytes - rounded
  if (kind === 'small' || rules.expandable) return rest >= MIN_BLOCK
  return rounded < rules.maxSplitBytes && rest > SMALL_REQUEST
}

/** Bytes of a free block that can be unmapped: its whole pages. A run of mapped pages begins on a page. */
export function wholePages(offset: number, bytes: number, page: number): number {
  return Math.max(0, Math.floor((offset + bytes) / page) * page - upTo(offset, page))
}
