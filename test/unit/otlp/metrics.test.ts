// What is sent of the present: every value of /metrics and no other, since when sums count, and who the hardware is.
import { describe, expect, test } from 'vitest'
import { createExposition } from '../../../agent/http/exposition.ts'
import { createResource } from '../../../agent/sinks/otlp/resource.ts'
import { createSimulation } from '../../../agent/sources/simulated.ts'
import { type SentMetrics } from '../../setup/otlp-decode.ts'
import { parseExposition } from '../http/parse-exposition.ts'
import { sentSeries, toldSeries } from './equal.ts'
import { ENERGY, GPU, host, metricOf, MS, only, T0 } from './collected.ts'

describe('one simulated minute', () => {
  test.each([
    ['healthy', 1],
    ['mig', 10],
    ['oom-fragmentation', 10],
  ])('every value of %s is the same on /metrics', (scenario, everySeconds) => {
    const { latest, collect } = host()
    const exposition = createExposition({ latest, dcgm: 'off', hostnameLabel: 'hostname', hostname: 'gpu-host' })
    const simulation = createSimulation({ scenario, seed: 7 }, T0, 0)
    let [series, kinds] = [0, new Set<string>()]
    for (let second = 0; second < 60; second++) {
      const t = T0 + second * 1_000
      for (const event of simulation.tick(t)) if (event.type === 'scrape') latest.apply(event)
      if (second % everySeconds !== 0) continue
      const sent = collect(t)
      exposition.invalidate()
      const page = parseExposition(exposition.page('text').body.toString('utf8'), 'text')
      const [over, shown] = [sentSeries(sent), toldSeries(page)]
      expect(over.size).toBe(shown.size)
      expect(Object.fromEntries([...over].filter(([key, value]) => shown.get(key) !== value))).toEqual({})
      series += over.size
      kinds = new Set([...kinds, ...sent.metrics.map(({ name }) => name), ...sent.containers.flatMap(({ metrics }) => metrics.map(({ name }) => name))])
    }
    expect(series).toBeGreaterThan((60 / everySeconds) * 300)
    expect(kinds.size).toBeGreaterThan(60)
  })
})

describe('what is told', () => {
  test('a series that is not read any more is not sent again', () => {
    const { scrape, collect } = host()
    scrape(T0, [['warpwatch_gpu_power_watts', GPU, 300]], 2_000)
    expect(only(collect(T0), 'hw.power').value).toBe(300)
    expect(collect(T0 + 2_001).metrics).toEqual([])
  })

  test('of a series that two groups tell the newer value counts, of equally old ones the later', () => {
    const { scrape, collect } = host()
    const tell = (t: number, group: string, value: number): void => scrape(T0 + t, [['warpwatch_gpu_power_watts', GPU, value]], 9_000, group)
    tell(0, 'a', 1)
    tell(0, 'b', 2)
    expect(only(collect(T0), 'hw.power').value).toBe(2)
    tell(1_000, 'a', 3)
    expect(only(collect(T0 + 1_000), 'hw.power').value).toBe(3)
  })

  test('gauges have no start, bytes and counts are whole, all else is not', () => {
    const { scrape, collect } = host()
    scrape(T0, [
      ['warpwatch_gpu_memory_used_bytes', GPU, 80 * 2 ** 30],
      ['warpwatch_gpu_power_watts', GPU, 300],
      ['warpwatch_container_cpu_limit_cores', { container: 'a', container_id: 'x' }, 1.5],
      ['warpwatch_container_cpu_limit_cores', { container: 'b', container_id: 'y' }, 2],
    ])
    const sent = collect(T0)
    expect(only(sent, 'hw.gpu.memory.usage')).toMatchObject({ whole: true, value: 80 * 2 ** 30, start: BigInt(T0) * MS, time: BigInt(T0) * MS })
    expect(only(sent, 'hw.power')).toMatchObject({ whole: false, value: 300, start: 0n, time: BigInt(T0) * MS })
    expect(sent.containers.flatMap(({ metrics }) => metrics.flatMap(({ points }) => points.map(({ whole, value }) => [whole, value])))).toEqual([
      [false, 1.5],
      [false, 2],
    ])
  })

  test('the conventions’ attributes of a GPU, joined from its info; ours carry the id', () => {
    const { scrape, collect } = host()
    const info = { ...GPU, name: 'NVIDIA H100', driver_version: '580.1', vbios_version: '96.00', serial: '165', pci_bus_id: '0000:01:00.0' }
    scrape(T0, [
      ['warpwatch_gpu_power_watts', GPU, 300],
      ['warpwatch_gpu_info', info, 1],
      ['warpwatch_gpu_memory_free_bytes', GPU, 5],
    ])
    const sent = collect(T0)
    const hardware = { 'hw.id': 'GPU-1', 'hw.name': 'GPU 0' }
    const who = { 'hw.model': 'NVIDIA H100', 'hw.driver_version': '580.1', 'hw.firmware_version': '96.00', 'hw.serial_number': '165' }
    expect(only(sent, 'hw.power').attributes).toEqual({ ...hardware, ...who, 'hw.vendor': 'NVIDIA', 'hw.type': 'gpu' })
    expect(only(sent, 'warpwatch.gpu.memory_free').attributes).toEqual(hardware)
    expect(only(sent, 'warpwatch.gpu.info').attributes).toEqual({ ...hardware, ...who, pci_bus_id: '0000:01:00.0' })
  })

  test('a MIG instance has an id of its own and its GPU as parent', () => {
    const { scrape, collect } = host()
    const instance = { ...GPU, gi: '1', ci: '0' }
    scrape(T0, [
      ['warpwatch_gpu_mig_info', { ...instance, mig_uuid: 'MIG-9', name: 'MIG 1g.10gb' }, 1],
      ['warpwatch_gpu_memory_used_bytes', instance, 5],
      ['warpwatch_gpu_memory_used_bytes', { ...instance, gi: '2' }, 6],
    ])
    const points = metricOf(collect(T0), 'hw.gpu.memory.usage')?.points ?? []
    expect(points.map(({ attributes }) => [attributes['hw.id'], attributes['hw.parent'], attributes['gi']])).toEqual([
      ['MIG-9', 'GPU-1', '1'],
      ['GPU-1/2/0', 'GPU-1', '2'],
    ])
  })

  test.each([
    ['registry.local:5000/ml/torch:2.7', { 'container.image.name': 'registry.local:5000/ml/torch', 'container.image.tags': ['2.7'] }],
    ['registry.local:5000/torch', { 'container.image.name': 'registry.local:5000/torch' }],
    ['torch@sha256:0123', { 'container.image.name': 'torch' }],
    ['torch:2@sha256:0123', { 'container.image.name': 'torch', 'container.image.tags': ['2'] }],
  ])('who uses it, and the image %s in its parts', (image, parts) => {
    const { scrape, collect } = host()
    const labels = {
      ...GPU,
      pid: '42',
      inner_pid: '7',
      process: 'python',
      container: 'job',
      container_id: '0123456789ab',
      image,
      namespace: 'ml',
      pod: 'job-0',
    }
    scrape(T0, [['warpwatch_process_gpu_memory_bytes', { ...labels, slurm_job: '77' }, 5]])
    expect(only(collect(T0), 'warpwatch.process.gpu_memory').attributes).toEqual({
      'hw.id': 'GPU-1',
      'hw.name': 'GPU 0',
      'process.pid': 42n,
      'process.vpid': 7n,
      'process.executable.name': 'python',
      'container.name': 'job',
      'container.id': '0123456789ab',
      'k8s.namespace.name': 'ml',
      'k8s.pod.name': 'job-0',
      slurm_job: '77',
      ...parts,
    })
  })
})

describe('since when sums count', () => {
  const startOf = (sent: SentMetrics): number => Number(only(sent, 'hw.energy').start / MS) - T0

  test('from the first delivered time; a value that fell starts over', () => {
    const { scrape, collect } = host()
    const at = (t: number, value: number): number => {
      scrape(T0 + t, [[ENERGY, GPU, value]])
      return startOf(collect(T0 + t))
    }
    expect([at(0, 100), at(1_000, 150), at(2_000, 150), at(3_000, 20), at(4_000, 30)]).toEqual([0, 0, 0, 3_000, 3_000])
  })

  test('a first point that did not arrive is told as a first point again', () => {
    const { scrape, collect } = host()
    scrape(T0, [[ENERGY, GPU, 100]])
    collect(T0, false)
    scrape(T0 + 1_000, [[ENERGY, GPU, 150]])
    expect(startOf(collect(T0 + 1_000, false))).toBe(1_000)
    scrape(T0 + 2_000, [[ENERGY, GPU, 160]])
    expect(startOf(collect(T0 + 2_000))).toBe(2_000)
    scrape(T0 + 3_000, [[ENERGY, GPU, 170]])
    expect(startOf(collect(T0 + 3_000))).toBe(2_000)
  })

  test('what was away goes on, after more than an hour it starts over', () => {
    const { scrape, collect } = host()
    scrape(T0, [[ENERGY, GPU, 100]])
    collect(T0)
    const other = (t: number): void => {
      scrape(T0 + t, [['warpwatch_gpu_power_watts', GPU, 1]])
      collect(T0 + t)
    }
    other(1_800_000)
    scrape(T0 + 1_900_000, [[ENERGY, GPU, 200]])
    expect(startOf(collect(T0 + 1_900_000))).toBe(0)
    other(1_900_000 + 3_600_001)
    scrape(T0 + 6_000_000, [[ENERGY, GPU, 300]])
    expect(startOf(collect(T0 + 6_000_000))).toBe(6_000_000)
  })

  test('a clock that was set back starts over; a sum that may fall does not', () => {
    const { scrape, collect } = host()
    scrape(T0, [[ENERGY, GPU, 100]])
    collect(T0)
    scrape(T0 - 100_000, [[ENERGY, GPU, 110]])
    expect(startOf(collect(T0 - 100_000))).toBe(-100_000)
    const memory = host()
    memory.scrape(T0, [['warpwatch_gpu_memory_used_bytes', GPU, 9]])
    memory.collect(T0)
    memory.scrape(T0 + 1_000, [['warpwatch_gpu_memory_used_bytes', GPU, 3]])
    expect(only(memory.collect(T0 + 1_000), 'hw.gpu.memory.usage').start).toBe(BigInt(T0) * MS)
  })
})

test('the resource says whose data it is; what the user sets goes before', () => {
  const { resource: found, schemaUrl, scope } = host().collect(T0)
  expect(found).toMatchObject({ 'service.name': 'warpwatch', 'host.name': 'gpu-host' })
  expect(found['service.version']).toBe(scope.version)
  expect(found['service.instance.id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(schemaUrl).toMatch(/^https:\/\/opentelemetry\.io\/schemas\/1\.\d+\.0$/)
  const own = createResource({ hostname: 'h', procRoot: '/proc', dataDir: '/d', extra: { 'service.name': 'gpus', team: 'ml' } })
  expect(own.attributes).toMatchObject({ 'service.name': 'gpus', team: 'ml', 'host.name': 'h' })
})
