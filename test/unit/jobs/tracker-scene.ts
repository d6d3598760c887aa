// What tests of the job tracker share: a tracker of their own, the events of containers, and seconds of a GPU.
import { beforeEach } from 'vitest'
import { rowOf } from '../../../agent/jobs/live-run.ts'
import { createJobTracker, type JobTracker } from '../../../agent/jobs/tracker.ts'
import { gpuUtilizationRatio } from '../../../agent/metrics/gpu-load.ts'
import { gpuPowerWatts } from '../../../agent/metrics/gpu-power.ts'
import { processGpuMemoryBytes } from '../../../agent/metrics/process.ts'
import type { ContainerEvent } from '../../../agent/model/event.ts'
import type { StoredRun } from '../../../agent/model/job.ts'
import type { CardCheckpoint } from '../../../agent/model/ledger.ts'
import type { MetricDef } from '../../../agent/model/metric.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'

export const T = 1_800_000_000_000
export const GIB = 2 ** 30
export const A = { container: 'train', container_id: 'aaaaaaaaaaaa' }
export const B = { container: 'serve', container_id: 'bbbbbbbbbbbb' }
export const GPU = { gpu: '0', uuid: 'GPU-0' }

export const reading = (metric: MetricDef, labels: Labels, value: number): Reading => ({ series: makeSeries(metric, labels), value })

/** A new tracker before each test of the file. */
export function useTracker() {
  let tracker: JobTracker
  let numbers: Map<string, number>
  const make = (): JobTracker =>
    createJobTracker({
      nextRun(id) {
        numbers.set(id, (numbers.get(id) ?? 0) + 1)
        return numbers.get(id) ?? 1
      },
    })
  beforeEach(() => {
    numbers = new Map()
    tracker = make()
  })
  const event = (of: typeof A, action: string, t: number, more: Partial<ContainerEvent> = {}): void =>
    tracker.ingest({ type: 'container', t, action, ...of, ...more })
  const scrape = (source: string, group: string, t: number, readings: readonly Reading[]): void =>
    tracker.ingest({ type: 'scrape', t, source, group, ttlMs: 3_000, durationMs: 0, readings, gaps: [] })
  /** One second of a GPU: how busy (undefined: cut by MIG), at how many watts, and who holds how much of it. */
  const second = (t: number, ratio: number | undefined, watts: number, held: readonly (readonly [Labels, number])[]): void => {
    scrape('gpu', '0/fast', t, [...(ratio === undefined ? [] : [reading(gpuUtilizationRatio, GPU, ratio)]), reading(gpuPowerWatts, GPU, watts)])
    scrape(
      'gpu',
      '0/processes',
      t,
      held.map(([labels, bytes]) => reading(processGpuMemoryBytes, { ...GPU, ...labels }, bytes)),
    )
  }
  const rows = () => tracker.live().map(rowOf)
  const named = (name: string) => rows().filter(({ job }) => job === name)
  /** As a new agent that finds what the one before had stored. */
  const restarted = (checkpoints: readonly CardCheckpoint[] = []): readonly StoredRun[] => {
    const stored = tracker.changed(true)
    tracker = make()
    tracker.restore(stored, checkpoints)
    return stored
  }
  return { tracker: () => tracker, event, scrape, second, rows, named, restarted }
}
