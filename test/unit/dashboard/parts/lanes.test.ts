// Frames and history together: history fills the holes, what came live stays, several series of one container are one lane.
import { describe, expect, test } from 'vitest'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import {
  HISTORY_METRICS,
  LANE,
  lastFigures,
  lastTotal,
  recordFrame,
  recordHistory,
  type AllocatorMeasure,
  type HistoryMetric,
} from '../../../../dashboard/src/parts/live/lanes.ts'
import { outsideContainers } from '../../../../dashboard/src/parts/live/owner.ts'
import { holderName } from '../../../../dashboard/src/text/names.ts'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'
import { container, frame, gpu } from '../helpers.ts'

const metric = (name: string): HistoryMetric => {
  const found = HISTORY_METRICS.find((each) => each.metric === `warpwatch_${name}`)
  if (found === undefined) throw new Error(`no history metric ${name}`)
  return found
}
const series = (labels: Record<string, string>, stepMs: number, points: readonly (readonly [number, number | null])[]): SeriesRow => {
  const values = points.map(([, value]) => value)
  return { metric: 'm', labels, step_ms: stepMs, t: points.map(([second]) => second * 1000), min: values, mean: values, max: values }
}

describe('lanes', () => {
  test('a reconnect leaves no hole: history fills the seconds between the frames and changes none of theirs', () => {
    const timeline = createTimeline()
    recordFrame(timeline, frame(1000_000, [gpu(0, { memory_used_bytes: 1 })]))
    recordFrame(timeline, frame(1005_000, [gpu(0, { memory_used_bytes: 5 })]))
    const points = [999, 1000, 1001, 1002, 1003, 1004, 1005].map((second) => [second, 9] as const)
    recordHistory(timeline, metric('gpu_memory_used_bytes'), [series({ uuid: 'GPU-0', gpu: '0' }, 1000, points)])
    const at = (second: number): number | undefined => timeline.at(LANE.used('GPU-0'), second)
    expect([999, 1000, 1001, 1004, 1005].map(at)).toEqual([9, 1, 9, 9, 5])
  })

  test('what the processes of a job do of a GPU is one lane, by the same names as the jobs of the page', () => {
    const timeline = createTimeline()
    const process = { process: 'python', uuid: 'GPU-0', gpu: '0' }
    const rows = [
      { ...process, pid: 1, slurm_job: '42', gpu_utilization_ratio: 0.5 },
      { ...process, pid: 2, slurm_job: '42', gpu_utilization_ratio: 0.25 },
      { ...process, pid: 3, slurm_job: '43' },
    ]
    recordFrame(timeline, frame(1000_000, [gpu(0)], [], rows))
    expect(['slurm:42', 'slurm:43'].map((job) => timeline.at(LANE.job('GPU-0', job), 1000))).toEqual([0.75, undefined])
  })

  test('a null of history stays a hole', () => {
    const timeline = createTimeline()
    timeline.advance(1010)
    const points = [[1000, 1] as const, [1001, null] as const, [1002, 3] as const]
    recordHistory(timeline, metric('gpu_power_watts'), [series({ uuid: 'GPU-0' }, 1000, points)])
    expect(timeline.at(LANE.power('GPU-0'), 1001)).toBeUndefined()
    expect(timeline.at(LANE.power('GPU-0'), 1002)).toBe(3)
  })

  test('a coarse step covers all its seconds', () => {
    const timeline = createTimeline()
    timeline.advance(1010)
    recordHistory(timeline, metric('gpu_power_watts'), [series({ uuid: 'GPU-0' }, 3000, [[1000, 7]])])
    expect([999, 1000, 1002, 1003].map((second) => timeline.at(LANE.power('GPU-0'), second))).toEqual([undefined, 7, 7, undefined])
  })

  test('MIG instances of one container are summed, and are no part of the whole GPU', () => {
    const timeline = createTimeline()
    timeline.advance(1010)
    const instances = ['1', '2'].map((gi) => series({ uuid: 'GPU-0', gi, container: 'a' }, 1000, [[1000, Number(gi)]]))
    recordHistory(timeline, metric('container_gpu_memory_bytes'), instances)
    recordHistory(timeline, metric('gpu_memory_used_bytes'), instances)
    expect(timeline.at(LANE.container('GPU-0', 'a'), 1000)).toBe(3)
    expect(timeline.at(LANE.used('GPU-0'), 1000)).toBeUndefined()
  })

  test('live rows and history name a container alike, also in a pod', () => {
    const timeline = createTimeline()
    const names = { container: 'main', namespace: 'ml', pod: 'train-0' }
    recordFrame(timeline, frame(1000_000, [gpu(0)], [container('main', { 'GPU-0': 4 }, names)]))
    recordHistory(timeline, metric('container_gpu_memory_bytes'), [series({ uuid: 'GPU-0', ...names }, 1000, [[999, 3]])])
    expect(timeline.keys(LANE.containers('GPU-0'))).toEqual([LANE.container('GPU-0', 'ml/train-0/main')])
  })

  test('processes outside containers are jobs of their own: by Slurm job, by unit or session, else by program', () => {
    const timeline = createTimeline()
    const row = { uuid: 'GPU-0', gpu: '0', process: 'python' }
    const session = { ...row, unit: 'session-3.scope' }
    const processes = [
      { ...session, pid: 1, gpu_memory_bytes: 2 },
      { ...session, pid: 2, gpu_memory_bytes: 3 },
      { ...row, pid: 3, slurm_job: '12', gpu_memory_bytes: 4 },
      { ...row, pid: 4, gpu_memory_bytes: 5 },
      { ...row, pid: 5, container: 'a', container_id: 'a-id', gpu_memory_bytes: 6 },
      { ...row, pid: 6 },
    ]
    recordFrame(timeline, { ...frame(1000_000, [gpu(0)], [container('a', { 'GPU-0': 6 })]), processes })
    const of = metric('process_gpu_memory_bytes')
    expect(of.query).toBe('&container=')
    recordHistory(timeline, of, [
      series({ uuid: 'GPU-0', gpu: '0', pid: '1', process: 'python', unit: 'session-3.scope' }, 1000, [[999, 7]]),
      series({ uuid: 'GPU-0', gpu: '0', pid: '9', process: 'sh', unit: 'session-3.scope' }, 1000, [[999, 1]]),
    ])
    const held = timeline.keys(LANE.containers('GPU-0')).map((lane) => [lane.slice(LANE.containers('GPU-0').length), timeline.at(lane, 1000)])
    expect(Object.fromEntries(held)).toEqual({ a: 6, 'unit:session-3.scope': 5, 'slurm:12': 4, 'process:python': 5 })
    expect(timeline.at(LANE.container('GPU-0', 'unit:session-3.scope'), 999)).toBe(8)
    expect(outsideContainers(processes, 'GPU-0', 'unit:session-3.scope').map(({ owner }) => owner)).toEqual([
      'session-3.scope (python, PID 2)',
      'session-3.scope (python, PID 1)',
    ])
    expect(['a', 'unit:session-3.scope', 'unit:ollama.service', 'slurm:12', 'process:python', 'ns/pod/main'].map((key) => holderName(key))).toEqual([
      'a',
      'session-3.scope',
      'ollama.service',
      'Slurm job 12',
      'python',
      'ns/pod/main',
    ])
  })

  test('what could not be read writes nothing', () => {
    const timeline = createTimeline()
    recordFrame(timeline, frame(1000_000, [{ uuid: 'GPU-0', index: 0 }]))
    expect(timeline.keys('')).toEqual([])
    expect(lastFigures(timeline, 'GPU-0')).toBeUndefined()
  })

  test('a GPU that was lost before the page opened has the total that history knows, not that of an instance of it', () => {
    const timeline = createTimeline()
    timeline.advance(1000)
    recordHistory(timeline, metric('gpu_memory_used_bytes'), [series({ uuid: 'GPU-0' }, 1000, [[900, 53]])])
    const total = metric('gpu_memory_total_bytes')
    recordHistory(timeline, total, [series({ uuid: 'GPU-0' }, 60_000, [[840, 80]]), series({ uuid: 'GPU-0', gi: '1' }, 60_000, [[840, 10]])])
    expect(lastFigures(timeline, 'GPU-0')).toEqual({ t: 900_000, figures: { memory_used_bytes: 53, memory_total_bytes: 80 } })
    expect(lastTotal(timeline, 'GPU-1')).toBeUndefined()
  })

  test('what the probes of a container say is summed over its processes, live and from history', () => {
    const timeline = createTimeline()
    const row = { process: 'python', uuid: 'GPU-0', gpu: '0', container: 'a', container_id: 'a-id' }
    const allocators = [
      { ...row, pid: 1, reserved_bytes: 5, active_bytes: 3 },
      { ...row, pid: 2, reserved_bytes: 7 },
    ]
    recordFrame(timeline, { ...frame(1000_000, [gpu(0)]), allocators })
    const past = ['1', '2'].map((pid) => series({ uuid: 'GPU-0', container: 'a', pid }, 1000, [[999, Number(pid)]]))
    recordHistory(timeline, metric('allocator_reserved_bytes'), past)
    const at = (measure: AllocatorMeasure, second: number): number | undefined => timeline.at(LANE.allocator(measure, 'GPU-0', 'a'), second)
    expect([at('reserved_bytes', 1000), at('active_bytes', 1000), at('inactive_split_bytes', 1000), at('reserved_bytes', 999)]).toEqual([12, 3, undefined, 3])
  })

  test('coarse steps keep the peaks of history', () => {
    const timeline = createTimeline(10, 60)
    timeline.advance(6059)
    const row = { ...series({ uuid: 'GPU-0' }, 60_000, [[6000, 100]]), max: [700] }
    recordHistory(timeline, metric('gpu_power_watts'), [row])
    expect(timeline.at(LANE.power('GPU-0'), 6030)).toBe(100)
    expect(timeline.peaks(LANE.power('GPU-0'))?.at(-1)).toBe(700)
  })
})
