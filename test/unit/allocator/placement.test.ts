// Which GPU a probe's device is: by what it names, else by what the driver lists, else by its container's; never by a guess.
import { expect, test } from 'vitest'
import { createDriverView } from '../../../agent/sources/allocator/driver-view.ts'
import type { Hello } from '../../../agent/sources/allocator/messages.ts'
import { placeDevice } from '../../../agent/sources/allocator/placement.ts'
import { createDriver, GIB, gpuSays, processSays, UUID, UUID1, type DriverReading } from './harness.ts'

const PID = 4_242
const CONTAINER = 'c'.repeat(64)
const MIG = 'MIG-aaaaaaaa-0000-4000-8000-000000000000'
const migSays = (gi: string): readonly DriverReading[] => [
  ['gpu_mig_info', { gpu: '1', uuid: UUID1, gi, ci: '0', mig_uuid: gi === '3' ? MIG : `MIG-${gi}`, name: '1g' }, 1],
]
const given = (...gpus: readonly number[]): readonly DriverReading[] =>
  gpus.map((gpu) => [
    'container_gpu_requested',
    { gpu: String(gpu), uuid: gpu === 0 ? UUID : UUID1, container: 'trainer', container_id: CONTAINER.slice(0, 12), by: 'cdi' },
    1,
  ])

function where(
  device: Partial<Hello['devices'][number]>,
  readings: readonly DriverReading[],
  more: Partial<Hello> & { readonly container?: boolean } = {},
): unknown {
  const driver = createDriver()
  driver.say([...gpuSays(0, GIB, GIB), ...gpuSays(1, GIB, GIB), ...readings])
  const view = createDriverView(driver.latest)
  view.refresh()
  const described = { i: 0, ...device }
  const hello: Hello = { type: 'hello', v: 1, pid: 7, pidns: 1, start_ticks: 1, devices: [described], ...more }
  const placed = placeDevice(hello, described, { pid: PID, containerId: more.container === true ? CONTAINER : undefined }, view)
  return 'place' in placed ? placed.place : placed.why
}
const FIRST = { gpu: '0', uuid: UUID }
const SECOND = { gpu: '1', uuid: UUID1 }

test('by UUID, with and without its prefix', () => {
  expect(where({ uuid: UUID1 }, [])).toMatchObject(SECOND)
  expect(where({ uuid: UUID1.slice(4) }, [])).toMatchObject(SECOND)
  expect(where({ uuid: UUID1 }, [processSays(PID, 1, GIB)])).toMatchObject(SECOND)
  expect(where({ uuid: UUID1 }, [processSays(PID, 0, GIB)])).toContain('the driver lists the process on')
  expect(where({ uuid: 'GPU-unknown' }, [processSays(PID, 0, GIB)])).toContain('no GPU of this host')
})

test('by its place on the bus, however long the domain is written', () => {
  for (const bus of ['00000000:2B:00.0', '0000:2b:00.0', '2b:00.0']) expect(where({ pci_bus_id: bus }, [])).toMatchObject(SECOND)
  expect(where({ pci_bus_id: '0000:99:00.0' }, [processSays(PID, 0, GIB)])).toMatchObject(FIRST)
})

test('by the driver’s list, when there is one GPU on it and one device', () => {
  expect(where({}, [processSays(PID, 1, GIB)])).toEqual(SECOND)
  expect(where({}, [processSays(PID, 1, GIB), processSays(PID, 0, GIB)])).toContain('2 GPUs or instances')
  expect(where({}, [processSays(PID, 1, GIB)], { devices: [{ i: 0 }, { i: 1 }] })).toContain('does not say which GPU')
  expect(where({}, [processSays(PID + 1, 1, GIB)])).toContain('does not say which GPU')
})

test('by what the program was let see of what its container was given', () => {
  const both = [processSays(PID, 0, GIB), processSays(PID, 1, GIB), ...given(0, 1)]
  expect(where({ visible: '1,0' }, both, { container: true })).toMatchObject(SECOND)
  expect(where({ i: 1 }, both, { container: true, env: { CUDA_VISIBLE_DEVICES: '1,0' } })).toMatchObject(FIRST)
  expect(where({ i: 1, visible: null }, both, { container: true })).toMatchObject(SECOND)
  expect(where({ visible: UUID1 }, both)).toMatchObject(SECOND)
  expect(where({ i: 2, visible: '0,1' }, both, { container: true })).toContain('does not list')
  expect(where({ visible: '1' }, both)).toContain('2 GPUs or instances')
  expect(where({ visible: '1' }, [processSays(PID, 0, GIB), processSays(PID + 1, 1, GIB), ...given(1)], { container: true }), 'the driver knows').toEqual(FIRST)
})

test('a MIG instance by its UUID, new and old, and by the driver’s list of instances', () => {
  const instance = { ...SECOND, gi: '3', ci: '0' }
  expect(where({ uuid: MIG }, migSays('3'))).toEqual({ ...instance, migUuid: MIG })
  expect(where({ uuid: MIG.slice(4) }, migSays('3'))).toEqual({ ...instance, migUuid: MIG })
  expect(where({ uuid: `MIG-${UUID1}/3/0` }, [])).toEqual({ ...instance, migUuid: `MIG-${UUID1}/3/0` })
  // PyTorch may name the whole GPU.
  expect(where({ uuid: UUID1 }, [...migSays('3'), processSays(PID, 1, GIB, { gi: '3', ci: '0' })])).toEqual(instance)
  expect(where({}, [...migSays('3'), processSays(PID, 1, GIB, { gi: '3', ci: '0' })])).toEqual(instance)
})
