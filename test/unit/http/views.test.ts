// Rows of the present from a fixed store: every reading and every gap on the row that it speaks of.
import { expect, test } from 'vitest'
import { createViews } from '../../../agent/http/views.ts'
import { gpuGpmTensorActiveRatio } from '../../../agent/metrics/gpm.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { memoryExhaustionEarliestSeconds, memoryExhaustionLatestSeconds } from '../../../agent/metrics/incident.ts'
import { fillStore, filledStore, GPU0, GPU1, LOST, memoryUsed, scrape, T } from './fixture.ts'
import type { MetricDef } from '../../../agent/model/metric.ts'
import { makeSeries } from '../../../agent/model/series.ts'

const rowsOf = () => createViews({ latest: filledStore(), hostname: 'gpu-01' }).rows()

test('a GPU carries its measures by name, further labels as objects, and its gaps', () => {
  const [gpu] = rowsOf().gpus
  expect(gpu).toMatchObject({
    uuid: GPU0['uuid'],
    index: 0,
    name: 'NVIDIA H100 80GB HBM3',
    driver_version: '580.95.05',
    memory_used_bytes: 12_345_678_901,
    clock_hertz: { sm: 1_980_000_000, memory: 2_619_000_000 },
    throttle_active: { sw_power_cap: 1, hw_thermal_slowdown: 0 },
    ecc_errors_total: { corrected_volatile: 3 },
    gaps: [
      { measure: 'fan_speed_ratio', reason: 'not_supported', code: 3 },
      { measure: 'clock_hertz.video', reason: 'not_supported', code: 3 },
    ],
  })
  expect(gpu).not.toHaveProperty('fan_speed_ratio')
  expect(gpu).not.toHaveProperty('mig')
})

test('a MIG instance is a row of its GPU and leaves the whole GPU alone', () => {
  const gpu = rowsOf().gpus.find(({ uuid }) => uuid === GPU1['uuid'])
  expect(gpu?.memory_used_bytes).toBe(12_345_678_901)
  expect(gpu?.mig).toEqual([{ gi: '7', ci: '0', mig_uuid: 'MIG-1', name: 'NVIDIA H100 80GB HBM3 MIG 1g.10gb', memory_used_bytes: 1_073_741_824 }])
})

test('what is measured of a whole GPU instance stands with its compute instances, not as one more', () => {
  const latest = createLatestStore()
  const whole = { ...GPU1, gi: '7' }
  const of = (labels: Readonly<Record<string, string>>, value: number) => ({ series: makeSeries(memoryUsed, labels), value })
  const gap = { metric: gpuGpmTensorActiveRatio.name, labels: whole, reason: 'not_supported', code: 3 } as const
  latest.apply(scrape('gpu', 'memory', T, [of({ ...whole, ci: '0' }, 5), of({ ...whole, ci: '1' }, 6), of({ ...GPU1, gi: '9' }, 8)]))
  latest.apply(scrape('gpu', 'gpm', T, [], [gap]))
  const shared = { gi: '7', gaps: [{ measure: 'gpm_tensor_active_ratio', reason: 'not_supported', code: 3 }] }
  expect(createViews({ latest, hostname: 'gpu-01' }).rows().gpus[0]?.mig).toEqual([
    { ...shared, ci: '0', memory_used_bytes: 5 },
    { ...shared, ci: '1', memory_used_bytes: 6 },
    { gi: '9', ci: '', memory_used_bytes: 8 },
  ])
})

test('a GPU that is lost keeps its name and bus address, whether anybody looked before or not', () => {
  const latest = filledStore()
  const views = createViews({ latest, hostname: 'gpu-01' })
  views.invalidate()
  latest.expire(T + 3_600_000)
  latest.apply(scrape('gpu', 'nvml', T + 3_600_000, [], [{ metric: 'gpu', labels: { gpu: '0', uuid: GPU0['uuid'] ?? '' }, reason: 'gpu_lost' }]))
  views.invalidate()
  expect(views.rows().gpus).toEqual([
    { uuid: GPU0['uuid'], index: 0, name: 'NVIDIA H100 80GB HBM3', pci_bus_id: '00000000:07:00.0', gaps: [{ measure: 'gpu', reason: 'gpu_lost' }] },
  ])
})

test('a lost GPU still has a row, with the reason and nothing else', () => {
  expect(rowsOf().gpus.find(({ uuid }) => uuid === LOST['uuid'])).toEqual({
    uuid: LOST['uuid'],
    index: 2,
    gaps: [{ measure: 'gpu', reason: 'gpu_lost', code: 15, detail: 'nvmlDeviceGetHandleByIndex_v2: GPU is lost' }],
  })
})

test('a container has its identity, GPU memory by UUID summed over instances, and what it asked for in the order of the host', () => {
  expect(rowsOf().containers).toEqual([
    {
      container_id: '0123456789ab',
      container: 'trainer',
      image: 'registry.example/train:1',
      compose_project: 'lab',
      compose_service: 'trainer',
      cpu_seconds_total: 100,
      gpu_memory_bytes: { [GPU0['uuid'] ?? '']: 4_000, [GPU1['uuid'] ?? '']: 1_200 },
      gpus_requested: `${GPU0['uuid']},${GPU1['uuid']}`,
      gaps: [{ measure: 'memory_bytes', reason: 'no_permission', code: 13 }],
    },
  ])
})

test('a process whose memory cannot be read is there without it', () => {
  const [known, hidden] = rowsOf().processes
  expect(known).toMatchObject({ pid: 4242, process: 'python3', gpu: '0', uuid: GPU0['uuid'], gpu_memory_bytes: 4_000, container: 'trainer', type: 'C' })
  expect(hidden).toEqual({ pid: 77, process: 'Xorg', gpu: '1', uuid: GPU1['uuid'], gaps: [{ measure: 'gpu_memory_bytes', reason: 'not_supported' }] })
})

test('the host has its measures, and the gaps of whole sources', () => {
  expect(rowsOf().host).toMatchObject({
    hostname: 'gpu-01',
    memory_available_bytes: 64_000_000_000,
    disk_free_bytes: { '/': 1e9, '/data': 2e9 },
    gaps: [{ measure: 'kernel-log', reason: 'no_permission', code: 1, detail: '/dev/kmsg: permission denied' }],
  })
})

test('CPU cores are the rise of the CPU seconds, and absent without two scrapes close together', () => {
  const store = createLatestStore()
  const views = createViews({ latest: store, hostname: 'h' })
  const cores = (t: number, seconds: number): number | undefined => {
    fillStore(store, t, seconds)
    views.invalidate()
    return views.rows().containers[0]?.cpu_cores
  }
  expect(cores(T, 100)).toBeUndefined()
  expect(cores(T + 1_000, 101.5)).toBe(1.5)
  expect(cores(T + 1_000, 101.5)).toBe(1.5)
  expect(cores(T + 3_000, 101.5)).toBe(0)
  expect(cores(T + 4_000, 1)).toBeUndefined() // restarted
  expect(cores(T + 5_000, 3)).toBe(2)
  expect(cores(T + 120_000, 90)).toBeUndefined()
})

test('rows are built once per tick', () => {
  const store = filledStore()
  const views = createViews({ latest: store, hostname: 'h' })
  const rows = views.rows()
  store.apply(scrape('gpu', GPU0['uuid'] ?? '', T + 1_000, [{ series: makeSeries(memoryUsed, GPU0), value: 7 }]))
  expect(views.rows()).toBe(rows)
  views.invalidate()
  expect(views.rows().gpus[0]?.memory_used_bytes).toBe(7)
  expect(views.rows().gpus[0]).not.toHaveProperty('power_watts')
})

test('of two readings of one measure the newer one stays, in whatever order they came', () => {
  const store = createLatestStore()
  store.apply(scrape('new', '', T + 5, [{ series: makeSeries(memoryUsed, GPU0), value: 1 }]))
  store.apply(scrape('old', '', T, [{ series: makeSeries(memoryUsed, GPU0), value: 2 }]))
  expect(createViews({ latest: store, hostname: 'h' }).rows().gpus[0]?.memory_used_bytes).toBe(1)
})

test('a forecast stands on the GPU whose memory runs out, by the process that fails', () => {
  const latest = createLatestStore()
  const of = (def: MetricDef, pid: string, value: number) => ({ series: makeSeries(def, { ...GPU0, pid, container: 'trainer' }), value })
  latest.apply(scrape('gpu', 'memory', T, [{ series: makeSeries(memoryUsed, GPU0), value: 5 }]))
  latest.apply(
    scrape('incidents', 'forecasts', T, [
      of(memoryExhaustionEarliestSeconds, '7', 1_200),
      of(memoryExhaustionEarliestSeconds, '8', 60),
      of(memoryExhaustionLatestSeconds, '7', 2_100),
    ]),
  )
  const [gpu] = createViews({ latest, hostname: 'gpu-01' }).rows().gpus
  expect(gpu).toMatchObject({
    memory_used_bytes: 5,
    memory_exhaustion_earliest_seconds: { '7_trainer': 1_200, '8_trainer': 60 },
    memory_exhaustion_latest_seconds: { '7_trainer': 2_100 },
  })
  latest.apply(scrape('incidents', 'forecasts', T + 1_000, []))
  expect(createViews({ latest, hostname: 'gpu-01' }).rows().gpus[0]).not.toHaveProperty('memory_exhaustion_earliest_seconds')
})
