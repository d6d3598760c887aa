// A chart saved as a table: what was not read is empty, names from outside stay text.
import { expect, test } from 'vitest'
import { laneTable } from '../../../../dashboard/src/parts/chart/lane-table.ts'
import { csvOf } from '../../../../dashboard/src/parts/chart/tools/csv.ts'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'

test('one row a time in UTC, one column a line', () => {
  const text = csvOf({
    name: 'x',
    columns: ['used bytes', 'a,"b"'],
    seconds: [1_770_000_000, 1_770_000_001],
    values: [[1, null], Float64Array.of(NaN, 0.1 + 0.2)],
  })
  expect(text).toBe('time,used bytes,"a,""b"""\r\n2026-02-02T02:40:00Z,1,\r\n2026-02-02T02:40:01Z,,0.3\r\n')
})
test('a name that a spreadsheet would run is kept a text', () => {
  expect(csvOf({ name: 'x', columns: ['=cmd()', '@x', '-1', 'plain'], seconds: [], values: [] })).toBe("time,'=cmd(),'@x,'-1,plain\r\n")
})
test('lanes by the second are as they were read', () => {
  const timeline = createTimeline(3)
  timeline.put('used', 101, 5)
  timeline.put('used', 102, 6)
  const lanes = [
    { label: 'used', lane: 'used' },
    { label: 'nothing', lane: 'nothing' },
  ]
  expect(csvOf(laneTable('gpu-0', timeline, lanes))).toBe('time,used\r\n1970-01-01T00:01:40Z,\r\n1970-01-01T00:01:41Z,5\r\n1970-01-01T00:01:42Z,6\r\n')
})
test('coarse lanes have their highest beside the mean', () => {
  const timeline = createTimeline(2, 10)
  timeline.fill('used', 100, 120, 5, 9)
  timeline.put('used', 119, 5)
  const { columns, values } = laneTable('gpu-0', timeline, [{ label: 'used', lane: 'used' }])
  expect(columns).toEqual(['used (mean)', 'used (highest)'])
  expect(values.map((column) => Array.from(column).at(-1))).toEqual([5, 5])
})
