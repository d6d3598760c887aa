// The lines of a job's charts: what their legends may show as the figure of now.
import { expect, test } from 'vitest'
import { newest, whileHeld } from '../../../../dashboard/src/features/jobs/page/lines.ts'

const line = (values: readonly (number | null)[]) => ({ label: 'GPU 3', slot: 3, values })

test('a reading that is on its way does not empty the legend, one that stopped does', () => {
  expect(newest(line([1, 2, 3, null, null]))).toBe(3)
  expect(newest(line([1, 2, 3, null, null, null]))).toBeUndefined()
  expect(newest(line([]))).toBeUndefined()
})

test('how busy a GPU is ends with the job’s memory on it', () => {
  const lines = (label: string, values: readonly (number | null)[]) => ({ t: [1, 2, 3], lines: [{ label, slot: 6, values }] })
  const held = lines('GPU 6', [5, 5, null])
  expect(whileHeld(lines('GPU 6', [0.9, 0.8, 0.7]), held).lines[0]?.values).toEqual([0.9, 0.8, null])
  expect(whileHeld(lines('GPU 7', [0.9, 0.8, 0.7]), held).lines[0]?.values).toEqual([null, null, null])
})
