// The picture: every byte in exactly one run, never more runs than asked, and an SVG that is XML whatever a file holds.
import { XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { analyse } from '../../../../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../../../../agent/allocator/snapshot/file.ts'
import { pictureOf, type Picture } from '../../../../agent/allocator/snapshot/picture.ts'
import { escapeXml, svgOf } from '../../../../agent/allocator/snapshot/svg.ts'
import { jitPickle, type Plain } from './pickler.ts'
import { block, frames, free, MIB, segment, snapshot } from './scene.ts'

function drawn(value: Plain, maxRuns?: number): { readonly picture: Picture; readonly svg: string } {
  const read = readSnapshot(jitPickle(value))
  const { analysis, rules, rankOf } = analyse(read)
  const picture = pictureOf({ snapshot: read, rules, rankOf, ...(maxRuns === undefined ? {} : { maxRuns }) })
  return { picture, svg: svgOf(picture, analysis.devices, 'file <&> "1"') }
}
const runsOf = (picture: Picture) => picture.pools.flatMap((pool) => pool.segments.flatMap((one) => one.runs))

test('runs: state, bytes and group of each block, equal neighbours as one', () => {
  const here = frames('empty', 'step')
  const { picture } = drawn(
    snapshot([
      segment([
        block(10 * MIB, 'active_allocated', { frames: here }),
        block(10 * MIB, 'active_allocated', { frames: here }),
        free(10 * MIB),
        block(5 * MIB),
        block(5 * MIB, 'active_pending_free'),
      ]),
      segment([free(20 * MIB)]),
    ]),
  )
  expect(picture.pools).toHaveLength(1)
  expect(picture.pools[0]?.segments[0]?.runs).toEqual([
    [0, 0.5, 'allocated', 20 * MIB, 0, 0],
    [0.5, 0.25, 'stranded', 10 * MIB, null, 10 * MIB],
    [0.75, 0.125, 'allocated', 5 * MIB, null, 0],
    [0.875, 0.125, 'pending', 5 * MIB, null, 0],
  ])
  expect(picture.pools[0]?.segments[1]?.runs).toEqual([[0, 1, 'releasable', 20 * MIB, null, 20 * MIB]])
  expect(picture.runs).toBe(5)
})

describe.each([20, 100, 1000])('at most %i runs', (maxRuns) => {
  const blocks = Array.from({ length: 3000 }, (_, i) => (i % 2 === 0 ? block(512 * (1 + (i % 7))) : free(512 * (1 + (i % 5)))))
  const segments = [
    segment([...blocks, block(40 * MIB), ...blocks]),
    ...Array.from({ length: 300 }, () => segment([block(MIB), free(MIB)], { segment_type: 'small' })),
  ]
  const { picture, svg } = drawn(snapshot(segments), maxRuns)
  test('and no byte is lost', () => {
    expect(picture.runs).toBeLessThanOrEqual(maxRuns)
    expect(runsOf(picture)).toHaveLength(picture.runs)
    for (const pool of picture.pools) {
      const shown = pool.segments.reduce((sum, one) => sum + one.bytes, 0)
      expect(shown + pool.left_out.bytes).toBe(pool.bytes)
      for (const one of pool.segments) {
        expect(one.runs.reduce((sum, run) => sum + run[3], 0)).toBe(one.bytes)
        expect(one.runs.reduce((sum, run) => sum + run[5], 0)).toBe(one.free_bytes)
        expect(one.runs.reduce((end, [start, width]) => (Math.abs(start - end) < 1e-9 ? start + width : Number.NaN), 0)).toBeCloseTo(1)
      }
    }
  })
  test('and a picture of a bounded size', () => {
    expect(svg.length).toBeLessThan(20_000 + maxRuns * 600)
  })
})

test('the SVG is XML without a script, whatever the names are', () => {
  const hostile = [{ filename: '</style><script>alert(1)</script>', name: '\u0000\u001b]0;x\u0007&"\'\ud800', line: 3 }]
  const { svg } = drawn(snapshot([segment([block(2 * MIB, 'active_allocated', { frames: hostile }), free(2 * MIB)])]))
  expect(svg).not.toContain('<script')
  expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  expect(svg).toContain('file &lt;&amp;&gt; &quot;1&quot;')
  expect(svg).toContain('prefers-color-scheme:dark')
  expect(XMLValidator.validate(svg)).toBe(true)
  expect(escapeXml('a\ud800b\u{1f600}')).toBe('a·b\u{1f600}')
})
