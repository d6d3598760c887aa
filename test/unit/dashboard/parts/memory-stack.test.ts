// The stacked memory: its top is always what is used, its layers never shrink below those under them, and holes stay holes.
import * as fc from '../../../setup/fast-check.ts'
import { container, frame, GIB, gpu } from '../helpers.ts'
import { describe, expect, test } from 'vitest'
import { cellRows, type Columns, createColumnBook, traceRows } from '../../../../dashboard/src/parts/chart/columns.ts'
import { sharesAt } from '../../../../dashboard/src/parts/gpu/shares.ts'
import { keptBytes, layerBytes, layersOf, stackRows } from '../../../../dashboard/src/parts/gpu/stack.ts'
import { LANE, recordFrame } from '../../../../dashboard/src/parts/live/lanes.ts'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'

const plain = (columns: Columns): (number | null)[][] => columns.map((column) => Array.from<number | null>(column))
const bytes = fc.integer({ min: 0, max: 80 }).map((gib) => gib * GIB)

describe('stack', () => {
  test('containers, host processes and unattributed memory add up to what is used', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.oneof(bytes, fc.constant(NaN)), { maxLength: 5 }), fc.oneof(bytes, fc.constant(NaN)), (used, held, unattributed) => {
        const rest = layerBytes(used, held, unattributed)
        const sum = held.filter((value) => !Number.isNaN(value)).reduce((a, b) => a + b, 0)
        expect(rest.host).toBeGreaterThanOrEqual(0)
        expect(rest.unattributed).toBeGreaterThanOrEqual(0)
        expect(sum + rest.host + rest.unattributed).toBe(Math.max(used, sum))
        expect(Number.isNaN(unattributed) && rest.host > 0).toBe(false)
      }),
    )
  })

  test('rows come from the top layer down, each at least as high as the next', () => {
    const timeline = createTimeline(5)
    recordFrame(timeline, frame(1000_000, [gpu(0)], [container('b', { 'GPU-0': 2 * GIB }), container('a', { 'GPU-0': 3 * GIB })]))
    recordFrame(timeline, frame(1003_000, [gpu(0, { memory_used_bytes: 4 * GIB })], [container('b', { 'GPU-0': 2 * GIB })]))
    const layers = layersOf(timeline, 'GPU-0')
    expect(layers.map((layer) => layer.key)).toEqual(['a', 'b', 'processes outside containers', 'unattributed'])
    const rows = plain(stackRows(timeline, 'GPU-0', layers, createColumnBook()))
    const inGib = rows.slice(1).map((row) => row.map((value) => (value === null ? null : value / GIB)))
    expect(rows[0]).toEqual([999, 1000, 1001, 1002, 1003])
    expect(inGib).toEqual([
      [null, 10, null, null, 4],
      [null, 9, null, null, 3],
      [null, 5, null, null, 2],
      [null, 3, null, null, 0],
    ])
  })

  test('a lone missed second is drawn over', () => {
    const timeline = createTimeline(4)
    recordFrame(timeline, frame(1000_000, [gpu(0)]))
    recordFrame(timeline, frame(1002_000, [gpu(0)]))
    const [, top] = plain(stackRows(timeline, 'GPU-0', layersOf(timeline, 'GPU-0'), createColumnBook()))
    expect(top).toEqual([null, 10 * GIB, 10 * GIB, 10 * GIB])
  })

  test('a hole of more than a second stays a hole in every layer', () => {
    const timeline = createTimeline(6)
    recordFrame(timeline, frame(1000_000, [gpu(0)]))
    recordFrame(timeline, frame(1004_000, [gpu(0)]))
    const rows = plain(stackRows(timeline, 'GPU-0', layersOf(timeline, 'GPU-0'), createColumnBook()))
    for (const row of rows.slice(1)) expect(row.slice(2, 4)).toEqual([null, null])
  })
})

describe('seconds that share a pixel', () => {
  const timeline = createTimeline(8)
  for (const [second, gib] of [1, 2, 9, 3, 4].entries())
    recordFrame(timeline, frame((1001 + second) * 1000, [gpu(0, { memory_used_bytes: gib * GIB })], [container('a', { 'GPU-0': (gib - 1) * GIB })]))
  const drawn = (): (number | null)[][] => plain(stackRows(timeline, 'GPU-0', layersOf(timeline, 'GPU-0'), createColumnBook(), 3))

  test('are drawn as the one in which most was used, with what everybody held then', () => {
    expect(drawn()).toEqual([
      [998, 1001, 1003, 1005],
      [null, 1 * GIB, 9 * GIB, 4 * GIB],
      [null, 0, 8 * GIB, 3 * GIB],
      [null, 0, 8 * GIB, 3 * GIB],
    ])
  })

  test('stay together as time goes on', () => {
    recordFrame(timeline, frame(1006_000, [gpu(0, { memory_used_bytes: 5 * GIB })], []))
    expect(drawn()[0]).toEqual([1001, 1003, 1006])
  })
})

describe('what PyTorch keeps', () => {
  test('is never more than the driver counts, nor than what is reserved without being used', () => {
    const amount = fc.oneof(fc.integer({ min: 0, max: 80 }), fc.constant(NaN))
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 80 }), amount, amount, amount, (held, reserved, active, split) => {
        const { cache, stranded } = keptBytes(held, reserved, active, split)
        expect(Math.min(cache, stranded)).toBeGreaterThanOrEqual(0)
        expect(cache + stranded).toBe(Number.isNaN(reserved + active) ? 0 : Math.max(0, Math.min(reserved - active, held)))
        expect(stranded > split).toBe(false)
      }),
    )
  })

  test('lies on top of what its container uses: stranded first, then the cache', () => {
    const timeline = createTimeline(3)
    const row = { pid: 1, process: 'python', uuid: 'GPU-0', gpu: '0', container: 'a', container_id: 'a-id' }
    const reported = frame(1000_000, [gpu(0)], [container('a', { 'GPU-0': 6 * GIB })])
    recordFrame(timeline, { ...reported, allocators: [{ ...row, reserved_bytes: 5 * GIB, active_bytes: 2 * GIB, inactive_split_bytes: GIB }] })
    // A second without the probe's word: it holds.
    recordFrame(timeline, { ...reported, t: 1001_000 })
    const layers = layersOf(timeline, 'GPU-0')
    expect(layers.map(({ kind }) => kind)).toEqual(['container', 'stranded', 'cache', 'host', 'unattributed'])
    const rows = plain(stackRows(timeline, 'GPU-0', layers, createColumnBook()))
    const inGib = rows.slice(1).map((each) => each.map((value) => (value === null ? null : value / GIB)))
    expect(inGib).toEqual([
      [null, 10, 10],
      [null, 9, 9],
      [null, 6, 6],
      [null, 4, 4],
      [null, 3, 3],
    ])
    const [first] = sharesAt(timeline, 'GPU-0', layers, 1001)
    expect(first).toEqual({ layer: { kind: 'container', key: 'a' }, bytes: 6 * GIB, kept: { cache: 2 * GIB, stranded: GIB } })
  })
})

describe('very many containers', () => {
  test('share a layer where they are small, and nothing of them is lost', () => {
    const timeline = createTimeline(3)
    const many = Array.from({ length: 20 }, (_, i) => container(`job-${i}`, { 'GPU-0': (i + 1) * 2 ** 20 }))
    recordFrame(timeline, frame(1000_000, [gpu(0)], many))
    const layers = layersOf(timeline, 'GPU-0')
    const others = layers.find(({ members }) => members !== undefined)
    expect(layers.filter(({ kind }) => kind === 'container')).toHaveLength(13)
    expect(others?.key).toBe('8 others')
    expect(others?.members?.toSorted()).toEqual(Array.from({ length: 8 }, (_, i) => `job-${i}`))
    const held = sharesAt(timeline, 'GPU-0', layers, 1000).filter(({ layer }) => layer.kind === 'container')
    expect(held.find(({ layer }) => layer.members !== undefined)?.bytes).toBe(36 * 2 ** 20)
    const rows = plain(stackRows(timeline, 'GPU-0', layers, createColumnBook()))
    // From the top: unattributed, host, the others, which are on the twelve that are large.
    expect([rows[3]?.at(-1), rows[4]?.at(-1)]).toEqual([210 * 2 ** 20, 174 * 2 ** 20])
  })
})

describe('coarse charts', () => {
  test('stand at the end of each cell, with the highest behind the means', () => {
    const timeline = createTimeline(3, 10)
    timeline.advance(1005)
    timeline.fill(LANE.used('GPU-0'), 990, 1000, 4 * GIB, 9 * GIB)
    timeline.put(LANE.used('GPU-0'), 1005, 2 * GIB)
    timeline.fill(LANE.power('GPU-0'), 980, 1000, 100, 300)
    const layers = layersOf(timeline, 'GPU-0')
    expect(plain(stackRows(timeline, 'GPU-0', layers, createColumnBook()))).toEqual([
      [989, 999, 1005],
      [null, 4 * GIB, 2 * GIB],
      [null, 0, 0],
      [null, 9 * GIB, 2 * GIB],
    ])
    expect(plain(traceRows(timeline, LANE.power('GPU-0'), createColumnBook()))).toEqual([
      [989, 999, 1005],
      [100, 100, null],
      [300, 300, null],
    ])
    expect(plain(cellRows(timeline, ['nothing'], createColumnBook()))).toEqual([[], [], []])
  })
})

describe('small charts', () => {
  test('show the highest of each step, keep holes, and do not change their shape as time goes on', () => {
    const timeline = createTimeline(9)
    const lane = LANE.power('GPU-0')
    for (const [second, watts] of [100, 7, 0, 3, 5, 4].entries()) timeline.put(lane, 1002 + second, watts)
    const book = createColumnBook()
    expect(plain(traceRows(timeline, lane, book, 3))).toEqual([
      [999, 1002, 1005],
      [null, 100, 5],
    ])
    timeline.put(lane, 1011, 1)
    expect(plain(traceRows(timeline, lane, book, 3))).toEqual([
      [1002, 1005, 1008, 1011],
      [7, 5, null, 1],
    ])
    timeline.advance(1012)
    expect(plain(traceRows(timeline, lane, book, 3))[0]).toEqual([1002, 1005, 1008, 1011])
  })
})
