// A snapshot as the page gets it, and the map's pixels: what a column shows is what its bytes are.
import { shareText } from '../../../../agent/text/figures.ts'
import { describe, expect, test } from 'vitest'
import { analyse } from '../../../../agent/allocator/snapshot/analyse.ts'
import { SnapshotError } from '../../../../agent/allocator/snapshot/error.ts'
import { readSnapshot } from '../../../../agent/allocator/snapshot/file.ts'
import { paintMap, type Paints } from '../../../../dashboard/src/features/allocator/snapshot/map/paint.ts'
import { layOut, ROW } from '../../../../dashboard/src/features/allocator/snapshot/map/layout.ts'
import { NO_SITE, pack } from '../../../../dashboard/src/features/allocator/snapshot/packed.ts'
import { answerTo, openSnapshot, placeOfBlock } from '../../../../dashboard/src/features/allocator/snapshot/report.ts'
import { freeText } from '../../../../dashboard/src/text/allocator.ts'
import { MARKUP, trainingSnapshot } from '../../../setup/snapshot-file.ts'
import { jitPickle } from '../../allocator/snapshot/pickler.ts'
import { block, frames, free, GIB, MIB, segment, snapshot } from '../../allocator/snapshot/scene.ts'

const PAINTS: Paints = { ground: 0, sites: [1, 2, 3], pending: [4, 5], hole: [6, 7], cache: 8 }
const scene = () =>
  openSnapshot(
    jitPickle(
      snapshot([
        segment([block(8 * MIB, 'active_allocated', { frames: frames('step') }), free(4 * MIB), block(2 * MIB, 'active_pending_free'), block(2 * MIB)]),
        segment([free(4 * MIB)]),
      ]),
    ),
  )
/** The rows of pixels of one column of the first segment. */
function columnOf(value: ReturnType<typeof scene>['report'], x: number, width = 160): readonly number[] {
  const { packed } = value
  const layout = layOut(packed, [0, 1], width, 0)
  const height = Math.ceil(layout.height)
  const pixels = new Uint32Array(width * height)
  paintMap({ pixels, width, height, ratio: 1, top: 0 }, packed, layout, PAINTS)
  const top = layout.y[0] ?? 0
  return Array.from({ length: ROW }, (_, i) => pixels[(top + i) * width + x] ?? -1)
}

describe('pixels', () => {
  // A row is 1 MiB at least: the first segment takes 16 rows, so the first column of each row is looked at by its state.
  const { report } = scene()
  const layout = layOut(report.packed, [0, 1], 160, 0)
  const rows = Array.from(layout.y.slice(0, 16), (y) => y)
  const height = Math.ceil(layout.height)
  const pixels = new Uint32Array(160 * height)
  paintMap({ pixels, width: 160, height, ratio: 1, top: 0 }, report.packed, layout, PAINTS)
  const seen = (row: number): ReadonlySet<number> => new Set(pixels.slice((rows[row] ?? 0) * 160 + 2, (rows[row] ?? 0) * 160 + 150))

  test('live blocks by site, holes and what waits hatched, cache plain', () => {
    expect(rows).toHaveLength(16)
    expect(seen(0)).toEqual(new Set([1]))
    expect(seen(9)).toEqual(new Set(PAINTS.hole))
    expect(seen(13)).toEqual(new Set(PAINTS.pending))
    expect(seen(15)).toEqual(new Set([3]))
    const cache = layout.y[16] ?? 0
    expect(pixels[cache * 160 + 2]).toBe(8)
  })
  test('many blocks in one column share its height: live above holes', () => {
    const blocks = Array.from({ length: 4_000 }, (_, i) => (i % 4 === 3 ? free(64 * 1024) : block(64 * 1024)))
    const opened = openSnapshot(jitPickle(snapshot([segment(blocks), segment([free(2 * GIB)])])))
    const of = opened.report.packed.bytes.findIndex((bytes) => bytes < GIB)
    const map = layOut(opened.report.packed, [of], 30, 0)
    const canvas = new Uint32Array(30 * Math.ceil(map.height))
    paintMap({ pixels: canvas, width: 30, height: Math.ceil(map.height), ratio: 1, top: 0 }, opened.report.packed, map, PAINTS)
    const column = Array.from({ length: ROW }, (_, i) => canvas[((map.y[0] ?? 0) + i) * 30 + 10])
    expect(column.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 3))
    expect(column.slice(12).every((pixel) => pixel === 6 || pixel === 7)).toBe(true)
  })
  test('beyond the width nothing is written', () => {
    expect(columnOf(report, 159)).toHaveLength(ROW)
    expect(pixels.length).toBe(160 * height)
  })
})

describe('what the page is told', () => {
  const opened = openSnapshot(trainingSnapshot())
  const { report } = opened
  const plain = readSnapshot(trainingSnapshot())

  test('is what the command says, and questions are answered as it answers them', () => {
    const { request: _none, ...whole } = analyse(plain, { top: 8 }).analysis
    expect(report.analysis).toEqual({ ...whole, unknown: whole.unknown.map((line) => line.replace(' (give it with --free)', '')) })
    for (const [requestBytes, deviceFreeBytes] of [
      [GIB, undefined],
      [50 * GIB, GIB],
      [512, 0],
    ] as const)
      expect(answerTo(opened, { requestBytes, device: 0, ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }) })).toEqual(
        analyse(plain, { requestBytes, device: 0, ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }) }).analysis.request,
      )
  })
  test('rows and arrays add up to the analysis', () => {
    const [device] = report.analysis.devices
    const sum = (of: (row: (typeof report.segments)[number]) => number): number => report.segments.reduce((all, row) => all + of(row), 0)
    expect([sum((row) => row.liveBytes), sum((row) => row.pendingBytes), sum((row) => row.holeBytes), sum((row) => row.cacheBytes)]).toEqual([
      device?.allocated_bytes,
      device?.pending_bytes,
      device?.stranded_bytes,
      device?.releasable_bytes,
    ])
    expect(report.packed.size.reduce((all, bytes) => all + bytes, 0)).toBe(device?.reserved_bytes)
  })
  test('a block’s place is who allocated it, as text', () => {
    const evil = [...report.packed.site].findIndex((rank) => rank !== NO_SITE && (report.siteNames[0]?.[rank] ?? '').includes(MARKUP))
    expect(placeOfBlock(opened, evil)).toMatchObject({
      recorded: true,
      operation: 'cross_entropy',
      callers: [expect.stringContaining('train.py:88'), expect.stringContaining('train.py:140')],
    })
    const unused = [...report.packed.state].indexOf(2)
    expect(placeOfBlock(opened, unused)).toEqual({ text: 'no history recorded', callers: [], recorded: false })
  })
  test('beyond the bounds the smallest segments are left out, and counted', () => {
    const { packed, segments } = pack(plain.segments, analyse(plain).rules, new Map(), 500)
    expect(packed.size.length).toBeLessThanOrEqual(500)
    expect(packed.first.at(-1)).toBe(packed.size.length)
    expect(packed.leftOut.segments).toBe(plain.segments.length - segments.length)
    expect(packed.leftOut.bytes + packed.bytes.reduce((all, bytes) => all + bytes, 0)).toBe(report.analysis.devices[0]?.reserved_bytes)
  })
  test('what is no snapshot is refused in words', () => {
    expect(() => openSnapshot(new TextEncoder().encode('hello'))).toThrow(SnapshotError)
  })
})

test('words of free blocks, and shares', () => {
  expect([freeText(4, 0), freeText(4, 4), freeText(4 * MIB, MIB)].map((words) => words.split(/[,:]/)[1])).toEqual([
    ' in a hole between live blocks',
    ' cache',
    ' a flush gives back 1 MiB of it',
  ])
  expect([shareText(0, 0), shareText(0, 5), shareText(1, 10_000), shareText(1, 30), shareText(1, 2)]).toEqual(['0 %', '0.0 %', '<0.1 %', '3.3 %', '50 %'])
})
