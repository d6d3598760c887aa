// Ids of devices as NVIDIA's and GKE's plugins give them to the kubelet.
import { describe, expect, test } from 'vitest'
import { inventoryOf } from '../../../agent/inventory/inventory.ts'
import { gpuInfo } from '../../../agent/metrics/gpu-identity.ts'
import { gpuMigInfo } from '../../../agent/metrics/mig.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { placeOf } from '../../../agent/sources/pod-resources/device-id.ts'

const A = 'GPU-0aa0c5c2-1111-2222-3333-444444444444'
const B = 'GPU-0bb0c5c2-1111-2222-3333-444444444444'
const MIG = 'MIG-0cc0c5c2-1111-5222-8333-444444444444'
/** GPU 0 is /dev/nvidia1, GPU 1 is /dev/nvidia0 and cut. */
const host = inventoryOf([
  { series: makeSeries(gpuInfo, { gpu: '0', uuid: A, minor: '1' }), value: 1 },
  { series: makeSeries(gpuInfo, { gpu: '1', uuid: B, minor: '0' }), value: 1 },
  { series: makeSeries(gpuMigInfo, { gpu: '1', uuid: B, gi: '7', ci: '0', mig_uuid: MIG }), value: 1 },
])
const whole = { gpu: '0', uuid: A }
const cut = { gpu: '1', uuid: B, gi: '7', ci: '0' }

describe('names a place', () => {
  test.each([
    ['a GPU', A, whole],
    ['a replica of time-slicing or MPS', `${A}::3`, whole],
    ['a MIG instance', MIG, cut],
    ['a replica of a MIG instance', `${MIG}::0`, cut],
    ['a MIG instance before R465', `MIG-${B}/7/0`, cut],
    ['a replica of one', `MIG-${B}/7/0::12`, cut],
    ['a device node: its minor, not the index', 'nvidia1', whole],
    ['a shared GPU of GKE', 'nvidia1/vgpu4', whole],
    ['a GPU instance of GKE', 'nvidia0/gi7', { gpu: '1', uuid: B, gi: '7' }],
    ['a shared GPU instance of GKE', 'nvidia0/gi7/vgpu2', { gpu: '1', uuid: B, gi: '7' }],
    ['a compute instance', 'nvidia0/gi7/ci0', cut],
  ])('%s', (_, id, place) => expect(placeOf(id, host)).toEqual(place))
})
test.each([
  ['another card', 'GPU-0dd0c5c2-1111-2222-3333-444444444444'],
  ['a MIG instance that is not shown', 'MIG-0dd0c5c2-1111-5222-8333-444444444444'],
  ['an instance of another card', 'MIG-GPU-0dd0c5c2-1111-2222-3333-444444444444/7/0'],
  ['a node that is not there', 'nvidia9'],
  ['a control node', 'nvidiactl'],
  ['an index', '0'],
  ['another vendor', '0000:3b:00.0'],
  ['nothing', ''],
  ['separators alone', '::'],
])('names none: %s', (_, id) => expect(placeOf(id, host)).toBeUndefined())
