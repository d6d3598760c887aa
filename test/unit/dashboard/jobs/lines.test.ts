// The lines of a job's charts: what their legends may show as the figure of now.
import { expect, test } from 'vitest'
import { newest } from '../../../../dashboard/src/features/jobs/page/lines.ts'

const line = (values: readonly (number | null)[]) => ({ label: 'GPU 3', slot: 3, values })

test('a reading that is on its way does not empty the legend, one that stopped does', () => {
  expect(newest(line([1, 2, 3, null, null]))).toBe(3)
  expect(newest(line([1, 2, 3, null, null, null]))).toBeUndefined()
  expect(newest(line([]))).toBeUndefined()
})
