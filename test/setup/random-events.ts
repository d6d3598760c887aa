// Random seconds of a host for property tests of detectors: readings of the metrics that they watch with values that mean something, odd ones, gaps, jumps of time.
import * as fc from './fast-check.ts'
import type { AllocatorSample, AllocatorStats, Event } from '../../agent/model/event.ts'
import { metricNamed } from '../../agent/catalogue.ts'
import { GAP_REASONS } from '../../agent/model/reading.ts'
import { makeSeries } from '../../agent/model/series.ts'
import { T, uuid } from '../unit/incidents/scene.ts'

export type RandomSecond = { readonly t: number; readonly events: readonly Event[] }

const GIB = 2 ** 30
/** What labels may say; of those that are not here anything short. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  pid: ['7', '4242'],
  gi: ['1', '2'],
  ci: ['0'],
  process: ['python'],
  container: ['trainer', 'web'],
  container_id: ['0123456789ab', 'ba9876543210'],
  type: ['C', 'G', 'replay', 'crc_data', 'uncorrected', 'corrected'],
  scope: ['volatile', 'aggregate'],
  reason: ['hw_slowdown', 'sw_power_cap', 'sw_thermal_slowdown', 'gpu_idle', 'status'],
  threshold: ['slowdown', 'memory_max'],
  domain: ['sm', 'memory'],
  link: ['0', '1', '2'],
  by: ['device_request', 'privileged'],
  mode: ['user', 'idle', 'system'],
  kind: ['some', 'full'],
  resource: ['io', 'cpu', 'memory'],
  target: ['ui'],
}
const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 2, 16, 0.5, 0.97, 90, 700, 1.755e9, 1.98e9, GIB, 30 * GIB, 79 * GIB, 80 * GIB) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1e15, noNaN: true }) },
)
/** Half of the labels beside GPU and pid are left out, as where nobody knows them. */
const readingOf = (names: readonly string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.integer({ min: 0, max: 2 }), fc.nat(), fc.nat(), value).map(([name, gpu, pick, kept, amount]) => {
    const metric = metricNamed(name)
    if (metric === undefined) throw new Error(`expected a metric of the catalogue, got ${name}`)
    const labels: Record<string, string> = {}
    metric.labels.forEach((label, at) => {
      if (label === 'gpu') labels[label] = String(gpu)
      else if (label === 'uuid') labels[label] = uuid(gpu)
      else if (label === 'pid' || ((kept >> (at % 16)) & 1) === 0) labels[label] = LABELS[label]?.[(pick >> (at % 16)) % (LABELS[label]?.length ?? 1)] ?? 'x'
    })
    return { series: makeSeries(metric, labels), value: amount }
  })
const gap = fc.record({
  metric: fc.constantFrom('gpu', 'containers', 'host', 'warpwatch_process_gpu_memory_bytes'),
  labels: fc.constantFrom({}, { gpu: '0' }, { gpu: '1', uuid: uuid(1) }),
  reason: fc.constantFrom(...GAP_REASONS),
})
const bytes = fc.constantFrom(0, GIB, 20 * GIB, 70 * GIB, 81 * GIB)
const stats: fc.Arbitrary<AllocatorStats> = fc.record(
  {
    allocated_bytes: bytes,
    reserved_bytes: bytes,
    active_bytes: bytes,
    inactive_split_bytes: bytes,
    num_alloc_retries: fc.nat(20),
    num_ooms: fc.nat(3),
  },
  { requiredKeys: [] },
)
const probed = fc.record({ pid: fc.constantFrom(7, 4242), gpu: fc.nat(2), stats, expandable: fc.boolean(), limit: fc.option(bytes) })

/** Whole seconds of a source or two each; time goes on, does not move, jumps ahead, and sometimes back. */
export function randomSeconds(watches: readonly string[]): fc.Arbitrary<readonly RandomSecond[]> {
  const names = [...new Set([...watches, 'warpwatch_gpu_memory_used_bytes', 'warpwatch_gpu_memory_free_bytes', 'warpwatch_process_gpu_memory_bytes'])]
  const second = fc.record({
    step: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(1, 1, 5, 15) }, { weight: 1, arbitrary: fc.constantFrom(0, 600, 90_000, -20, -7_200) }),
    source: fc.constantFrom('gpu', 'containers', 'host', 'allocator', 'targets'),
    group: fc.constantFrom('', 'a'),
    readings: fc.array(readingOf(names), { maxLength: 12 }),
    gaps: fc.array(gap, { maxLength: 2 }),
    probes: fc.array(probed, { maxLength: 2 }),
    other: fc.constantFrom('none', 'none', 'oom', 'die', 'start', 'log'),
  })
  return fc.array(second, { minLength: 1, maxLength: 40 }).map((seconds) => {
    let t = T
    return seconds.map(({ step, source, group, readings, gaps, probes, other }): RandomSecond => {
      t += step * 1_000
      const samples = probes.map(({ pid, gpu, stats: said, expandable, limit }): AllocatorSample => ({
        type: 'allocator',
        t,
        pid,
        uuid: uuid(gpu),
        expandable,
        limit_bytes: limit,
        stats: said,
      }))
      const reported = { container: 'trainer', container_id: '0123456789ab' }
      const more: readonly Event[] =
        other === 'none'
          ? []
          : other === 'oom'
            ? [{ type: 'allocator_oom', t, pid: 4242, uuid: uuid(0), request_bytes: GIB, stats: {} }]
            : other === 'log'
              ? [{ type: 'log', t, stream: 'container', origin: reported, text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.' }]
              : [{ type: 'container', t, action: other, ...reported, ...(other === 'die' ? { exit_code: 1 } : {}) }]
      return { t, events: [{ type: 'scrape', t, source, group, ttlMs: 30_000, durationMs: 1, readings, gaps }, ...samples, ...more] }
    })
  })
}
