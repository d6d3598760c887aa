// Where each segment of a snapshot is in the picture: to scale, from left to right, wrapped like text; small ones side by side. Pure.
import { lastAtMost, type Packed } from '../packed.ts'

export const ROW = 16
export const ROW_GAP = 5
const HEAD = 24
const POOL_GAP = 10
/** Between neighbours in a row. */
const GAP = 3
const LEAST_WIDTH = 2
/** Rows of all memory before anybody zooms. */
const ROWS = 24
/** Browsers end pages at some tens of millions of pixels. */
const MOST_HEIGHT = 4_000_000
const LEAST_ROW_BYTES = 2 ** 20

export type Head = { readonly pool: number; readonly y: number }
/** Pieces of segments, in the order of the picture: parallel arrays. */
export type Layout = {
  readonly width: number
  readonly height: number
  readonly bytesPerPixel: number
  readonly heads: readonly Head[]
  readonly segment: Uint32Array
  readonly x: Float64Array
  readonly y: Float64Array
  readonly from: Float64Array
  readonly to: Float64Array
}

export type Choice = { readonly device: number; readonly pool: number | undefined }
/** The segments that a choice shows, in order. */
export function chosenSegments({ pool, pools }: Pick<Packed, 'pool' | 'pools'>, choice: Choice): readonly number[] {
  const found: number[] = []
  pool.forEach((of, segment) => {
    if (choice.pool === undefined ? pools[of]?.device === choice.device : of === choice.pool) found.push(segment)
  })
  return found
}

const rowBytesAt = (total: number, zoom: number): number => Math.max(LEAST_ROW_BYTES, Math.ceil(total / ROWS / 2 ** zoom))
/** So often the picture can be doubled before it is too high, or as fine as it gets. */
export function mostZoom(total: number): number {
  let zoom = 0
  while (rowBytesAt(total, zoom) > LEAST_ROW_BYTES && ROWS * 2 ** (zoom + 1) * (ROW + ROW_GAP) < MOST_HEIGHT) zoom += 1
  return zoom
}

export function layOut(packed: Packed, segments: readonly number[], width: number, zoom: number): Layout {
  const total = segments.reduce((sum, one) => sum + (packed.bytes[one] ?? 0), 0)
  const bytesPerPixel = rowBytesAt(total, Math.min(zoom, mostZoom(total))) / Math.max(1, width)
  const heads: Head[] = []
  const [segment, xs, ys, from, to]: number[][] = [[], [], [], [], []]
  let [x, y, pool] = [0, 0, -1]
  const newRow = (): void => {
    x = 0
    y += ROW + ROW_GAP
  }
  for (const one of segments) {
    const bytes = packed.bytes[one] ?? 0
    const of = packed.pool[one] ?? 0
    if (of !== pool) {
      if (pool !== -1) y += ROW + ROW_GAP + POOL_GAP
      heads.push({ pool: of, y })
      y += HEAD
      x = 0
      pool = of
    }
    const wide = Math.max(LEAST_WIDTH, bytes / bytesPerPixel)
    if (x > 0 && x + wide > width) newRow()
    for (let at = 0; at < bytes || at === 0;) {
      const end = Math.min(bytes, at + width * bytesPerPixel)
      segment?.push(one)
      xs?.push(x)
      ys?.push(y)
      from?.push(at)
      to?.push(end)
      x += Math.max(LEAST_WIDTH, (end - at) / bytesPerPixel)
      if (end >= bytes) break
      at = end
      newRow()
    }
    x += wide < 6 ? 1 : GAP
    if (x >= width) newRow()
  }
  return {
    width,
    height: y + (x > 0 ? ROW : 0) + 4,
    bytesPerPixel,
    heads,
    segment: Uint32Array.from(segment ?? []),
    x: Float64Array.from(xs ?? []),
    y: Float64Array.from(ys ?? []),
    from: Float64Array.from(from ?? []),
    to: Float64Array.from(to ?? []),
  }
}

/** The first piece whose row is not above `y`. */
export function firstPiece({ y: ys }: Layout, y: number): number {
  const at = lastAtMost(ys, y - ROW - 1, 0, ys.length)
  return (ys[at] ?? Infinity) < y - ROW ? at + 1 : at
}

/** The piece under a point; undefined between them. */
export function pieceAt(layout: Layout, x: number, y: number): number | undefined {
  for (let i = firstPiece(layout, y); i < layout.y.length && (layout.y[i] ?? Infinity) <= y; i++) {
    const [left = 0, top = 0, from = 0, to = 0] = [layout.x[i], layout.y[i], layout.from[i], layout.to[i]]
    if (y < top + ROW && x >= left && x < left + Math.max(LEAST_WIDTH, (to - from) / layout.bytesPerPixel)) return i
  }
  return undefined
}

export type Box = { readonly x: number; readonly y: number; readonly width: number }
/** Where some bytes of a segment stand: a box for each row that they touch. */
export function boxesOf(layout: Layout, segment: number, from: number, to: number): readonly Box[] {
  const boxes: Box[] = []
  for (let i = layout.segment.indexOf(segment); i >= 0 && layout.segment[i] === segment; i++) {
    const [left = 0, y = 0, start = 0, end = 0] = [layout.x[i], layout.y[i], layout.from[i], layout.to[i]]
    const [low, high] = [Math.max(from, start), Math.min(to, end)]
    if (low < high) boxes.push({ x: left + (low - start) / layout.bytesPerPixel, y, width: Math.max(LEAST_WIDTH, (high - low) / layout.bytesPerPixel) })
  }
  return boxes
}
