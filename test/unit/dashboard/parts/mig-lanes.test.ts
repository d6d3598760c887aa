// The charts of a GPU's MIG instances: frames and history fill a lane for each, and the GPU's own lane has none of them.
import { expect, test } from 'vitest'
import { closeUp, migLane } from '../../../../dashboard/src/features/gpus/measures.ts'
import { LANE, recordHistory } from '../../../../dashboard/src/parts/live/lanes.ts'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'
import { frame, GIB, gpu } from '../helpers.ts'

const series = (labels: Record<string, string>, value: number) => ({
  metric: 'warpwatch_gpu_memory_used_bytes',
  labels: { uuid: 'GPU-1', ...labels },
  step_ms: 1_000,
  t: [98_000, 99_000],
  min: [value, value],
  mean: [value, value],
  max: [value, value],
})

test('each instance has what it holds, now and before', () => {
  const close = closeUp('GPU-1')
  const timeline = createTimeline()
  const mig = [
    { gi: '1', ci: '0', memory_used_bytes: 3 * GIB },
    { gi: '2', ci: '0' },
  ]
  close.record(timeline, frame(100_000, [gpu(1, { mig }), gpu(2, { mig: [{ gi: '1', ci: '0', memory_used_bytes: 9 * GIB }] })]))
  for (const metric of close.metrics.filter((each) => each.metric === 'warpwatch_gpu_memory_used_bytes'))
    recordHistory(timeline, metric, [series({}, 20), series({ gi: '1', ci: '0' }, 5), series({ gi: '2', ci: '0' }, 7)])
  expect([98, 99, 100].map((second) => timeline.at(migLane('GPU-1', '1', '0'), second))).toEqual([5, 5, 3 * GIB])
  expect([98, 100].map((second) => timeline.at(migLane('GPU-1', '2', '0'), second))).toEqual([7, undefined])
  expect([99, 100].map((second) => timeline.at(LANE.used('GPU-1'), second))).toEqual([20, 10 * GIB])
  expect(timeline.keys('measure GPU-2')).toEqual([])
})
