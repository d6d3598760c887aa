// A snapshot as flat arrays, so that a hundred thousand blocks travel from the worker and are drawn without an object each. Pure; made in the worker.
import { releasableOf } from '../../../../../agent/allocator/snapshot/pools.ts'
import type { Segment } from '../../../../../agent/allocator/snapshot/model.ts'
import type { Rules } from '../../../../../agent/allocator/snapshot/rules.ts'

export type MapPool = {
  readonly device: number
  readonly pool: string
  readonly stream: string
  readonly kind: 'small' | 'large'
  readonly expandable: boolean
  readonly bytes: number
  readonly segments: number
}
export const STATES = ['allocated', 'pending', 'free'] as const
export const NO_SITE = 255

/** Segments by pool (the largest pool first), within a pool the largest first. Block `i` of segment `s` is at `first[s] + i`. */
export type Packed = {
  readonly pools: readonly MapPool[]
  /** Per segment. */
  readonly pool: Uint32Array
  readonly bytes: Float64Array
  readonly addresses: readonly string[]
  /** One more than there are segments. */
  readonly first: Uint32Array
  /** Per block. */
  readonly offset: Float64Array
  readonly size: Float64Array
  /** A place in STATES. */
  readonly state: Uint8Array
  /** The rank of the allocation site among the device's largest, or NO_SITE. */
  readonly site: Uint8Array
  /** What the program asked for; NaN where the file does not say. */
  readonly requested: Float64Array
  /** Of a free block: bytes that a flush gives back. */
  readonly returned: Float64Array
  /** Not drawn: beyond the bounds, the smallest segments. */
  readonly leftOut: { readonly segments: number; readonly bytes: number }
}

/** Forty megabytes of arrays; a training run of days leaves a tenth of it. */
export const MOST_BLOCKS = 1_000_000
/** So many pools can be looked through by a person at all. */
export const MOST_POOLS = 200

type RankOf = (frames: readonly unknown[] | undefined) => number | undefined
export type Order = { readonly packed: Packed; readonly segments: readonly Segment[] }

const poolKey = ({ device, pool, stream, kind, expandable }: Segment): string => `${device} ${pool} ${stream} ${kind} ${expandable}`

export function pack(all: readonly Segment[], rules: Rules, rankOf: ReadonlyMap<number, RankOf>, most = MOST_BLOCKS): Order {
  const byPool = [...Map.groupBy(all, poolKey).values()]
    .map((members) => ({ members, bytes: members.reduce((sum, { bytes }) => sum + bytes, 0) }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_POOLS)
  // The largest segments of all pools get in first.
  let blocks = 0
  const inside = new Set<Segment>()
  for (const segment of byPool.flatMap(({ members }) => members).toSorted((a, b) => b.bytes - a.bytes)) {
    if (blocks + segment.blocks.length > most) continue
    blocks += segment.blocks.length
    inside.add(segment)
  }
  const shown = byPool.map(({ members, bytes }) => ({ members: members.filter((one) => inside.has(one)).toSorted((a, b) => b.bytes - a.bytes), bytes }))
  const segments = shown.flatMap(({ members }) => members)
  const packed = {
    pools: shown.flatMap(({ members: [first, ...rest], bytes }): MapPool[] => {
      if (first === undefined) return []
      const { device, pool, stream, kind, expandable } = first
      return [{ device, pool, stream, kind, expandable, bytes, segments: rest.length + 1 }]
    }),
    pool: Uint32Array.from(shown.filter(({ members }) => members.length > 0).flatMap(({ members }, i) => members.map(() => i))),
    bytes: Float64Array.from(segments, ({ bytes }) => bytes),
    addresses: segments.map(({ address }) => (address === undefined ? '' : `0x${address.toString(16)}`)),
    first: new Uint32Array(segments.length + 1),
    offset: new Float64Array(blocks),
    size: new Float64Array(blocks),
    state: new Uint8Array(blocks),
    site: new Uint8Array(blocks).fill(NO_SITE),
    requested: new Float64Array(blocks).fill(NaN),
    returned: new Float64Array(blocks),
    leftOut: { segments: all.length - segments.length, bytes: all.reduce((sum, one) => sum + (inside.has(one) ? 0 : one.bytes), 0) },
  }
  let at = 0
  for (const [s, segment] of segments.entries()) {
    packed.first[s] = at
    const rank = rankOf.get(segment.device)
    for (const block of segment.blocks) {
      packed.offset[at] = block.offset
      packed.size[at] = block.bytes
      packed.state[at] = STATES.indexOf(block.state)
      if (block.requestedBytes !== undefined) packed.requested[at] = block.requestedBytes
      if (block.state === 'free') packed.returned[at] = releasableOf(segment, block, rules)
      else if (block.state === 'allocated') packed.site[at] = Math.min(NO_SITE, rank?.(block.frames) ?? NO_SITE)
      at += 1
    }
  }
  packed.first[segments.length] = at
  return { packed, segments }
}

/** The last index whose value is not above; values rise. */
export function lastAtMost(values: ArrayLike<number>, wanted: number, from: number, to: number): number {
  let [low, high] = [from, to - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((values[middle] ?? Infinity) <= wanted) low = middle
    else high = middle - 1
  }
  return low
}

/** The segment of a block. */
export const segmentOf = ({ first, bytes }: Pick<Packed, 'first' | 'bytes'>, block: number): number => lastAtMost(first, block, 0, bytes.length)
/** The block of a segment in which a byte lies. */
export const blockAt = ({ first, offset }: Pick<Packed, 'first' | 'offset'>, segment: number, byte: number): number =>
  lastAtMost(offset, byte, first[segment] ?? 0, first[segment + 1] ?? 0)
