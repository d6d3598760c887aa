// Figures beside figures: a logger's line glued behind a bar, counters that are called global, results in a list, work on a model's layers.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}

test('a line glued behind a bar has a time of its own, and no step in it', () => {
  const seen = read(
    'Training:  50%|#####     | 4/8 [00:02<00:02,  2.00it/s]',
    'Training: 100%|##########| 8/8 [00:04<00:00,  2.00it/s]2031-02-03 04:05:06,789 - INFO - Train Loss: 0.25',
  )
  expect(seen).toMatchObject({ step: 8, total: 8, loss: 0.25 })
})

test('a global step beside an epoch counts as any other', () => {
  const seen = read('Epoch 3, global step 900: score was not in top 1', 'Epoch 4, global step 1200: score was not in top 1')
  expect(seen).toMatchObject({ step: 1200, epoch: 4 })
})

test.each([
  ['results by part', ['  part means (3):', '  chunk 01: -11.98', '  chunk 02: -11.79', '  chunk 03: -11.90', '  chunk 04: -11.91']],
  ['the plan of a database', ['  "Startup Cost": 0.00,', '  "Total Cost": 11.57,', '  "Startup Cost": 1.00,', '  "Total Cost": 12.59,']],
  ['costs of routes', ['route_a cost: 13.81', 'route_b cost: 12.92', 'route_a cost: 11.03', 'route_b cost: 12.44']],
])('%s are none', (_, lines) => {
  expect(read(...lines)).toBeUndefined()
})

describe('work on layers', () => {
  test('is what a job that compresses a model does', () => {
    expect(read('Compressing layers:  25%|##5       | 8/32 [04:00<12:00, 30.00s/it]')).toMatchObject({ step: 8, total: 32, etaSeconds: 720 })
  })
  test('files are compressed before or after', () => {
    expect(read('Compressing shards:  25%|##5       | 8/32 [04:00<12:00, 30.00s/it]')).toBeUndefined()
  })
})
