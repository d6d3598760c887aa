// Two GPUs or two jobs in one chart: a line and a colour each, on one scale.
import { expect, test } from 'vitest'
import { asOne, beside, gridOf, NO_LINES } from '../../../../dashboard/src/features/jobs/page/lines.ts'

const grid = gridOf(0, 20_000, 10_000)
const series = (value: number) => ({
  metric: 'm',
  labels: {},
  step_ms: 10_000,
  t: [0, 10_000, 20_000],
  min: [value, value, value],
  mean: [value, value, value],
  max: [value, value, value],
})

test('each job is one line, in a colour of its own whether the other has readings or not', () => {
  const [own, theirs] = [asOne('a', [series(1), series(2)], grid), asOne('b', [series(5)], grid)]
  expect(beside(own, theirs)).toEqual({
    t: [0, 10, 20],
    lines: [
      { label: 'a', slot: 0, values: [3, 3, 3] },
      { label: 'b', slot: 1, values: [5, 5, 5] },
    ],
  })
  expect(beside(asOne('a', [], grid), theirs).lines.map(({ slot }) => slot)).toEqual([1])
  expect(beside(own, NO_LINES).lines.map(({ slot }) => slot)).toEqual([0])
})
