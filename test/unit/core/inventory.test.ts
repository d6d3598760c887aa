// Who is on the host, as the newest readings tell it: by UUID, number and any spelling of a PCI address; what nobody tells is absent, who was there is known.
import { describe, expect, test } from 'vitest'
import { metricNamed } from '../../../agent/catalogue.ts'
import { busKey } from '../../../agent/inventory/bus.ts'
import { createInventory, inventoryOf, type SourceReadings } from '../../../agent/inventory/inventory.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'

function reading(name: string, labels: Labels, value = 1): Reading {
  const metric = metricNamed(`warpwatch_${name}`)
  if (metric === undefined) throw new Error(`no metric warpwatch_${name} in the catalogue`)
  return { series: makeSeries(metric, labels), value }
}
const gpu = (index: number, further: Labels = {}): Reading => reading('gpu_info', { gpu: String(index), uuid: `GPU-${index}`, ...further })
const uuids = (list: Iterable<{ readonly uuid: string }>): readonly string[] => [...list].map(({ uuid }) => uuid)

describe('a PCI address', () => {
  test.each([
    ['00000000:3B:00.0', '0:3b:00'],
    ['0000:3b:00', '0:3b:00'],
    ['PCI:0000:3b:00', '0:3b:00'],
    ['3b:00.0', '0:3b:00'],
    ['00000002:3B:00.0', '2:3b:00'],
    ['10000:01:00.0', '10000:01:00'],
    ['none', undefined],
  ])('%s', (spelled, key) => expect(busKey(spelled)).toBe(key))
})

describe('GPUs', () => {
  const host = inventoryOf([gpu(1, { name: 'B', pci_bus_id: '00000000:3B:00.0', minor: '4' }), gpu(0, { name: 'A' })])

  test('are listed by number and found by UUID, number and address', () => {
    expect(uuids(host.gpus())).toEqual(['GPU-0', 'GPU-1'])
    expect(host.byUuid('GPU-1')).toMatchObject({ index: 1, name: 'B', minor: 4, pciBusId: '00000000:3B:00.0' })
    expect(host.byIndex(1)?.uuid).toBe('GPU-1')
    expect(host.byBus('0000:3b:00.0')?.uuid).toBe('GPU-1')
  })

  test('what is not told is absent', () => {
    expect(host.byUuid('GPU-0')).not.toHaveProperty('minor')
    expect(host.byUuid('GPU-0')).not.toHaveProperty('bus')
    expect([host.byUuid('GPU-7'), host.byIndex(7), host.byBus('0000:99:00.0'), host.byBus('nonsense')]).toEqual([undefined, undefined, undefined, undefined])
  })

  test('MIG instances stand with their GPU', () => {
    const mig = (gi: string, migUuid: string): Reading =>
      reading('gpu_mig_info', { gpu: '0', uuid: 'GPU-0', gi, ci: '0', mig_uuid: migUuid, name: 'MIG 1g.10gb' })
    const cut = inventoryOf([gpu(0), mig('7', 'MIG-a'), mig('8', 'MIG-b')])
    expect(cut.byUuid('GPU-0')?.mig).toEqual(['MIG-a', 'MIG-b'])
    expect(cut.migByUuid('MIG-b')).toMatchObject({ uuid: 'GPU-0', gi: '8', ci: '0' })
    expect(cut.knownMig('GPU-0', '7', '0')?.migUuid).toBe('MIG-a')
  })
})

describe('containers and processes', () => {
  const box = { container: 'trainer', container_id: '0123456789ab' }
  const host = inventoryOf([
    reading('container_info', { ...box, pid: '77', runtime: 'docker' }),
    reading('container_gpu_requested', { ...box, gpu: '1', uuid: 'GPU-1', by: 'device_request' }),
    reading('container_gpu_requested', { ...box, gpu: '0', uuid: 'GPU-0', by: 'device_request' }),
    reading('process_gpu_memory_bytes', { gpu: '0', uuid: 'GPU-0', pid: '7', process: 'python', ...box }, 5),
    reading('process_gpu_memory_bytes', { gpu: '1', uuid: 'GPU-1', pid: '7', process: 'python', ...box }, 6),
    reading('process_gpu_memory_bytes', { gpu: '1', uuid: 'GPU-1', pid: '8' }, 7),
  ])

  test('a container is found by its whole id, with the GPUs it was given in the order of the host', () => {
    const found = host.container('0123456789abcdef0123')
    expect(found).toMatchObject({ name: 'trainer', pid: '77' })
    expect(uuids(found?.given ?? [])).toEqual(['GPU-0', 'GPU-1'])
  })

  test('a process is found on each GPU that it uses', () => {
    expect(host.processesOn('GPU-1').map(({ pid, bytes }) => [pid, bytes])).toEqual([
      [7, 6],
      [8, 7],
    ])
    expect(host.holdings(7).map(({ uuid }) => uuid)).toEqual(['GPU-0', 'GPU-1'])
    expect(host.processesOn('GPU-2')).toEqual([])
  })
})

describe('over the latest store', () => {
  const scrape = (t: number, group: string, readings: readonly Reading[]) =>
    ({ type: 'scrape', t, source: 'gpu', group, ttlMs: 3_000, durationMs: 0, readings, gaps: [] }) as const

  test('what is not refreshed is gone, and known all the same', () => {
    const latest = createLatestStore()
    latest.apply(scrape(1_000, 'a', [gpu(0, { name: 'H100' })]))
    latest.expire(2_000)
    latest.apply(scrape(1_500, 'b', [gpu(1)]))
    expect(uuids(latest.inventory.gpus())).toEqual(['GPU-0', 'GPU-1'])
    latest.expire(4_200)
    expect(uuids(latest.inventory.gpus())).toEqual(['GPU-1'])
    expect(latest.inventory.byUuid('GPU-0')).toBeUndefined()
    expect(latest.inventory.known('GPU-0')?.name).toBe('H100')
  })

  test('a group replaces what it said before, and of two words the newer counts', () => {
    const latest = createLatestStore()
    latest.apply(scrape(1_000, 'a', [gpu(0), gpu(1)]))
    latest.apply(scrape(2_000, 'a', [gpu(0, { name: 'new' })]))
    latest.apply(scrape(1_500, 'b', [gpu(0, { name: 'old' })]))
    expect(latest.inventory.gpus().map(({ uuid, name }) => [uuid, name])).toEqual([['GPU-0', 'new']])
  })
})

test('the same readings are read once, and the same GPUs stay the same objects', () => {
  let asked = 0
  const readings = [gpu(0), gpu(1)]
  const counted = (t: number): SourceReadings => ({
    source: 'gpu',
    t,
    get readings() {
      asked++
      return readings
    },
  })
  let [reported, version] = [[counted(1)], 1]
  const host = createInventory({ groups: () => reported, version: () => version })
  const before = host.gpus()
  version++
  expect([host.gpus(), asked]).toEqual([before, 1])
  ;[reported, version] = [[counted(2)], version + 1]
  expect(host.gpus()).toBe(before)
  expect(asked).toBe(2)
})
