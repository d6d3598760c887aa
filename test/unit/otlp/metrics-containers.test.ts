// Containers over OTLP: resources of their own, and what they become without an id or after their end.
import { describe, expect, test } from 'vitest'
import { GPU, host, metricOf, only, T0 } from './collected.ts'

describe('containers', () => {
  const JOB = { container: 'job', container_id: '0123456789ab', image: 'ml/torch:2.7', namespace: 'ml', pod: 'job-0' }
  test('are resources of their own, on the agent’s host; the points keep the id', () => {
    const { scrape, collect } = host()
    scrape(T0, [
      ['warpwatch_gpu_power_watts', GPU, 300],
      ['warpwatch_container_cpu_seconds_total', { ...JOB, compose_service: 'trainer' }, 12.5],
      ['warpwatch_container_memory_bytes', JOB, 7],
      ['warpwatch_container_info', { ...JOB, runtime: 'docker' }, 1],
      ['warpwatch_container_gpu_memory_bytes', { ...JOB, ...GPU }, 9],
      ['warpwatch_container_memory_bytes', { container: 'other', container_id: 'ba9876543210' }, 8],
      ['warpwatch_process_gpu_memory_bytes', { ...JOB, ...GPU, pid: '7', process: 'python' }, 9],
    ])
    const sent = collect(T0)
    expect(sent.metrics.map(({ name }) => name)).toEqual(['hw.power', 'warpwatch.process.gpu_memory'])
    expect(sent.containers).toHaveLength(2)
    const [job, other] = sent.containers
    const shared = { 'host.name': 'gpu-host', ...(sent.resource['host.id'] === undefined ? {} : { 'host.id': sent.resource['host.id'] }) }
    expect(job?.resource).toEqual({
      ...shared,
      'container.name': 'job',
      'container.id': '0123456789ab',
      'container.image.name': 'ml/torch',
      'container.image.tags': ['2.7'],
      'container.runtime.name': 'docker',
      'k8s.namespace.name': 'ml',
      'k8s.pod.name': 'job-0',
    })
    expect(other?.resource).toEqual({ ...shared, 'container.name': 'other', 'container.id': 'ba9876543210' })
    expect(Object.fromEntries((job?.metrics ?? []).map(({ name, points }) => [name, points.map(({ attributes }) => attributes)]))).toEqual({
      'container.cpu.time': [{ 'container.id': '0123456789ab', compose_service: 'trainer' }],
      'container.memory.working_set': [{ 'container.id': '0123456789ab' }],
      'warpwatch.container.info': [{ 'container.id': '0123456789ab' }],
      'warpwatch.container.gpu_memory': [{ 'container.id': '0123456789ab', 'hw.id': 'GPU-1', 'hw.name': 'GPU 0' }],
    })
    // A process in it is measured by itself, and says whose it is.
    expect(metricOf(sent, 'warpwatch.process.gpu_memory')?.points[0]?.attributes).toMatchObject({ 'container.name': 'job', 'k8s.pod.name': 'job-0' })
  })

  test('CPU time comes by mode or as a total, never both; of a store that adds up it is the same', () => {
    const { scrape, collect } = host()
    const whole = { container: 'whole', container_id: 'ba9876543210' }
    scrape(T0, [
      ['warpwatch_container_cpu_seconds_total', JOB, 12.5],
      ['warpwatch_container_cpu_mode_seconds_total', { ...JOB, mode: 'user' }, 10],
      ['warpwatch_container_cpu_mode_seconds_total', { ...JOB, mode: 'system' }, 2.5],
      ['warpwatch_container_cpu_seconds_total', whole, 3],
      ['process_cpu_seconds_total', {}, 1.5],
      ['warpwatch_agent_cpu_mode_seconds_total', { mode: 'user' }, 1],
      ['warpwatch_agent_cpu_mode_seconds_total', { mode: 'system' }, 0.5],
    ])
    const sent = collect(T0)
    const pointsOf = (metrics: typeof sent.metrics) =>
      metrics.flatMap(({ name, points }) => points.map(({ attributes, value }) => [name, attributes['cpu.mode'], value]))
    expect(pointsOf(sent.metrics)).toEqual([
      ['process.cpu.time', 'user', 1],
      ['process.cpu.time', 'system', 0.5],
    ])
    expect(sent.containers.map(({ metrics }) => pointsOf(metrics))).toEqual([
      [
        ['container.cpu.time', 'user', 10],
        ['container.cpu.time', 'system', 2.5],
      ],
      [['container.cpu.time', undefined, 3]],
    ])
    // The modes are gone: the total is sent again.
    scrape(T0 + 6_000, [['warpwatch_container_cpu_seconds_total', JOB, 14]], 60_000)
    expect(pointsOf(collect(T0 + 6_000).containers[0]?.metrics ?? [])).toEqual([['container.cpu.time', undefined, 14]])
  })

  test('that are gone have no resource any more', () => {
    const { scrape, collect } = host()
    scrape(T0, [['warpwatch_container_memory_bytes', JOB, 7]], 2_000)
    expect(collect(T0).containers).toHaveLength(1)
    expect(collect(T0 + 2_001).containers).toEqual([])
  })

  test('without an id stay on the agent’s resource, with all that is known', () => {
    const { scrape, collect } = host()
    scrape(T0, [['warpwatch_container_memory_bytes', { container: 'job' }, 7]])
    expect(only(collect(T0), 'container.memory.working_set').attributes).toEqual({ 'container.name': 'job' })
  })
})
