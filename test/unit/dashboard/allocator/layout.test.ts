// Where segments are in the picture: every byte once, to scale, within the width; and from a point back to its block.
import { describe, expect, test } from 'vitest'
import { readSnapshot } from '../../../../agent/allocator/snapshot/file.ts'
import { rulesOf } from '../../../../agent/allocator/snapshot/rules.ts'
import {
  boxesOf,
  chosenSegments,
  firstPiece,
  layOut,
  mostZoom,
  pieceAt,
  ROW,
  type Layout,
} from '../../../../dashboard/src/features/allocator/snapshot/map/layout.ts'
import { blockAt, pack, segmentOf } from '../../../../dashboard/src/features/allocator/snapshot/packed.ts'
import { trainingSnapshot } from '../../../setup/snapshot-file.ts'

const { segments, settings } = readSnapshot(trainingSnapshot())
const { packed } = pack(segments, rulesOf(settings, false), new Map())
const all = chosenSegments(packed, { device: 0, pool: undefined })
const pieces = ({ segment, x, y, from, to }: Layout) => Array.from(segment, (of, i) => ({ of, x: x[i] ?? 0, y: y[i] ?? 0, from: from[i] ?? 0, to: to[i] ?? 0 }))

describe.each([
  [300, 0],
  [960, 0],
  [960, 4],
])('%i pixels wide, doubled %i times', (width, zoom) => {
  const layout = layOut(packed, all, width, zoom)
  const found = pieces(layout)
  test('every byte of every segment stands there once, in order', () => {
    const next = new Map<number, number>()
    for (const { of, from, to } of found) {
      expect(from).toBe(next.get(of) ?? 0)
      next.set(of, to)
    }
    expect(next).toEqual(new Map(all.map((one) => [one, packed.bytes[one]])))
  })
  test('nothing sticks out, nothing lies over another', () => {
    let [end, row] = [0, -1]
    for (const { x, y, from, to } of found) {
      const right = x + Math.max(2, (to - from) / layout.bytesPerPixel)
      expect(right).toBeLessThanOrEqual(width + 0.01)
      expect(y === row ? x >= end : y >= row + ROW, `at ${x}, ${y}`).toBe(true)
      ;[end, row] = [right, y]
    }
    expect(layout.height).toBeGreaterThanOrEqual(row + ROW)
  })
  test('the middle of a block’s box leads back to the block', () => {
    for (let block = 0; block < packed.size.length; block += 37) {
      const from = packed.offset[block] ?? 0
      const [box] = boxesOf(layout, segmentOf(packed, block), from, from + (packed.size[block] ?? 0))
      if (box === undefined) throw new Error(`block ${block}: expected a box, came none`)
      // Narrower than a pixel it shares its place with others.
      if ((packed.size[block] ?? 0) < 3 * layout.bytesPerPixel) continue
      const x = box.x + box.width / 2
      const piece = pieceAt(layout, x, box.y + ROW / 2)
      if (piece === undefined) throw new Error(`block ${block}: expected a piece under it, came none`)
      expect(blockAt(packed, layout.segment[piece] ?? 0, (layout.from[piece] ?? 0) + (x - (layout.x[piece] ?? 0)) * layout.bytesPerPixel)).toBe(block)
    }
  })
  test('the first piece in sight is the first of its row', () => {
    for (const y of [0, layout.height / 3, layout.height / 2]) {
      const first = firstPiece(layout, y)
      expect(layout.y[first] ?? 0).toBeGreaterThanOrEqual(y - ROW)
      expect(layout.y[first - 1] ?? -Infinity).toBeLessThan(y - ROW)
    }
  })
})

test('a pool alone, and another device, choose their segments', () => {
  const [, , graph] = packed.pools
  expect(graph).toMatchObject({ pool: '0,1', segments: 1 })
  expect(chosenSegments(packed, { device: 0, pool: 2 }).map((one) => packed.pool[one])).toEqual([2])
  expect(chosenSegments(packed, { device: 1, pool: undefined })).toEqual([])
  expect(layOut(packed, [], 500, 0)).toMatchObject({ heads: [] })
})

test('zooming ends before the picture is higher than a browser takes', () => {
  const total = 2 ** 43
  const zoom = mostZoom(total)
  expect(zoom).toBeGreaterThan(5)
  expect(24 * 2 ** zoom * ROW).toBeLessThan(4_000_000)
  expect(mostZoom(0)).toBe(0)
})
