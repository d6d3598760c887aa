// Incidents as log records: each told once when it fires and once when it is over, with facts and subject; a bounded number waits.
import { describe, expect, test } from 'vitest'
import { ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer'
import { summaryOf } from '../../../agent/model/incident.ts'
import { createIncidentQueue } from '../../../agent/sinks/otlp/incident-queue.ts'
import { recordOf, type IncidentEvent } from '../../../agent/sinks/otlp/records.ts'
import { createResource } from '../../../agent/sinks/otlp/resource.ts'
import { decodeLogs, type SentRecord } from '../../setup/otlp-decode.ts'
import { incident } from './driven.ts'

const resource = createResource({ hostname: 'gpu-host', procRoot: '/proc', dataDir: '/data', extra: {} })
const NOW = 1_763_600_010_000
const sent = (of: ReturnType<typeof incident>, event: IncidentEvent): SentRecord => {
  const logs = decodeLogs(ProtobufLogsSerializer.serializeRequest([recordOf(summaryOf(of), event, resource, NOW)]) ?? new Uint8Array())
  expect(logs.resource).toMatchObject({ 'service.name': 'warpwatch', 'host.name': 'gpu-host' })
  const [record] = logs.records
  if (record === undefined) throw new Error('expected a record')
  return record
}

describe('a record', () => {
  test('of an incident that fires', () => {
    expect(sent(incident('a1'), 'firing')).toEqual({
      eventName: 'warpwatch.incident.firing',
      timeUnixNano: 1_763_600_001_500_000_000n,
      observedTimeUnixNano: 1_763_600_010_000_000_000n,
      severityNumber: 17,
      severityText: 'ERROR',
      droppedAttributesCount: 0,
      body: 'It needed 2 GiB and 1 GiB was free.',
      attributes: {
        'hw.id': 'GPU-1',
        'hw.name': 'GPU 0',
        'hw.model': 'NVIDIA H100',
        'container.name': 'job',
        'container.id': '0123456789ab',
        'container.image.name': 'ml/torch',
        'container.image.tags': ['2.7'],
        'k8s.namespace.name': 'ml',
        'k8s.pod.name': 'job-0',
        'process.pid': 42n,
        'process.vpid': 7n,
        'process.executable.name': 'python',
        'warpwatch.incident.id': 'a1',
        'warpwatch.incident.kind': 'cuda_oom',
        'warpwatch.incident.severity': 'critical',
        'warpwatch.incident.status': 'firing',
        'warpwatch.incident.title': 'CUDA out of memory on GPU 0',
        'warpwatch.incident.count': 1n,
        'warpwatch.incident.started_at_ms': 1_763_600_000_000n,
        'warpwatch.incident.fired_at_ms': 1_763_600_001_500n,
        'warpwatch.incident.remedies': ['Take a smaller batch.', 'Look at nvidia-smi'],
        'warpwatch.fact.requested_bytes': BigInt(2 ** 31),
        'warpwatch.fact.free_bytes': BigInt(2 ** 30),
        'warpwatch.fact.causes': ['capacity'],
        'warpwatch.fact.other_processes': [{ pid: 7n, bytes: 5n }],
      },
    })
  })

  test.each([
    ['info', 9, 'INFO'],
    ['warning', 13, 'WARN'],
    ['critical', 17, 'ERROR'],
  ] as const)('of severity %s', (severity, severityNumber, severityText) => {
    expect(sent(incident('a', { severity }), 'firing')).toMatchObject({ severityNumber, severityText })
  })

  test('of one that is over: no fault, with its time and why', () => {
    const over = incident('a', { status: 'resolved', resolved_at: 1_763_600_005_000, resolution: 'the process has ended' })
    expect(sent(over, 'resolved')).toMatchObject({
      eventName: 'warpwatch.incident.resolved',
      timeUnixNano: 1_763_600_005_000_000_000n,
      severityNumber: 9,
      body: 'Resolved (the process has ended): It needed 2 GiB and 1 GiB was free.',
      attributes: { 'warpwatch.incident.severity': 'critical', 'warpwatch.incident.resolved_at_ms': 1_763_600_005_000n },
    })
  })

  test('holds no line of a log, and knows nothing that is not known', () => {
    const bare = sent(incident('a', { subject: { host: { name: 'gpu-host' } }, facts: {}, remedies: [] }), 'firing')
    expect(JSON.stringify(bare, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('a line of the log')
    expect(Object.keys(bare.attributes).filter((name) => !name.startsWith('warpwatch.incident.'))).toEqual([])
  })
})

describe('the queue', () => {
  const news = (queue: ReturnType<typeof createIncidentQueue>): readonly string[] => queue.take(100).map(({ incident: { id }, event }) => `${id} ${event}`)

  test('tells each incident once when it fires and once when it is over', () => {
    const queue = createIncidentQueue([])
    const is = (status: 'pending' | 'firing' | 'resolved', count = 1): void => queue.put(incident('a', { status, count }))
    is('pending')
    is('firing')
    is('firing', 2)
    expect(news(queue)).toEqual(['a firing'])
    is('firing', 3)
    is('resolved')
    is('resolved', 3)
    expect(news(queue)).toEqual(['a resolved'])
  })

  test('one that fired before this start is only told when it is over; one that was over before, not at all', () => {
    const queue = createIncidentQueue(['a'])
    queue.put(incident('a', { count: 9 }))
    queue.put(incident('old', { status: 'resolved' }))
    queue.put(incident('a', { status: 'resolved' }))
    expect(news(queue)).toEqual(['a resolved'])
  })

  test('beyond its bound the oldest are dropped, also out of those that come back', () => {
    const queue = createIncidentQueue([], 3)
    for (const id of ['a', 'b', 'c']) queue.put(incident(id))
    const taken = queue.take(2)
    queue.put(incident('d'))
    queue.put(incident('e'))
    expect([queue.waiting(), queue.dropped()]).toEqual([3, 0])
    queue.putBack(taken)
    expect([queue.waiting(), queue.dropped()]).toEqual([3, 2])
    expect(news(queue)).toEqual(['c firing', 'd firing', 'e firing'])
  })
})
