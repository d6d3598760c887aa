// Which GPUs a container asked for: every way to ask, as `docker inspect` shows it.
import { describe, expect, test } from 'vitest'
import { resolveGpuRequest } from '../../../agent/sources/containers/gpu-request.ts'
import type { DeviceRequest, GpuWish, HostGpu } from '../../../agent/sources/containers/gpu-request.ts'

// Minors in another order than indexes, as on real hosts.
const HOST: readonly HostGpu[] = [0, 1, 2, 3].map((index) => ({
  index,
  uuid: `GPU-${index}`,
  minor: 3 - index,
  ...(index === 3 ? { mig: ['MIG-aa', 'MIG-bb'] } : {}),
}))
const plain: GpuWish = { requests: [], devicePaths: [], privileged: false }
const gpuRequest = (own: Partial<DeviceRequest>): GpuWish => ({ ...plain, requests: [{ driver: '', count: 0, ids: [], capabilities: ['gpu'], ...own }] })
const nvidia = (visibleDevices: string): GpuWish => ({ ...plain, runtime: 'nvidia', visibleDevices })

const CASES: readonly (readonly [what: string, wish: GpuWish, by: string, indexes: readonly number[], unknown?: readonly string[]])[] = [
  ['--gpus all', gpuRequest({ count: -1 }), 'device_request', [0, 1, 2, 3]],
  ['--gpus 2 is the first two', gpuRequest({ count: 2 }), 'device_request', [0, 1]],
  ['--gpus device=0,2', gpuRequest({ ids: ['0', '2'] }), 'device_request', [0, 2]],
  ['--gpus device=UUID', gpuRequest({ ids: ['GPU-1'] }), 'device_request', [1]],
  ['--gpus device=MIG UUID', gpuRequest({ ids: ['MIG-bb'] }), 'device_request', [3]],
  ['--gpus device=gpu:mig', gpuRequest({ ids: ['3:1'] }), 'device_request', [3]],
  ['MIG name before R465', gpuRequest({ ids: ['MIG-GPU-2/7/0'] }), 'device_request', [2]],
  ['compose, driver nvidia without capabilities', gpuRequest({ driver: 'nvidia', count: 1, capabilities: [] }), 'device_request', [0]],
  ['CDI all', gpuRequest({ driver: 'cdi', ids: ['nvidia.com/gpu=all'], capabilities: [] }), 'cdi', [0, 1, 2, 3]],
  ['CDI by index and UUID', gpuRequest({ driver: 'cdi', ids: ['nvidia.com/gpu=1', 'nvidia.com/gpu=GPU-3'], capabilities: [] }), 'cdi', [1, 3]],
  ['podman CDI among the devices', { ...plain, devicePaths: ['nvidia.com/gpu=2'] }, 'cdi', [2]],
  ['runtime and variable', nvidia('0,GPU-3'), 'runtime_env', [0, 3]],
  ['runtime and variable all', nvidia('all'), 'runtime_env', [0, 1, 2, 3]],
  ['plain device nodes go by minor', { ...plain, devicePaths: ['/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'] }, 'device_nodes', [3]],
  ['nodes that are really there win over the request', { ...gpuRequest({ count: -1 }), nodeMinors: [1] }, 'device_nodes', [2]],
  ['privileged sees all', { ...plain, privileged: true, nodeMinors: [0, 1, 2, 3] }, 'privileged', [0, 1, 2, 3]],
  ['privileged with a request asked for that', { ...gpuRequest({ ids: ['1'] }), privileged: true, nodeMinors: [0, 1, 2, 3] }, 'device_request', [1]],
  ['a GPU that is not there', gpuRequest({ ids: ['GPU-lost', '0'] }), 'device_request', [0], ['GPU-lost']],
]

describe('GPU request', () => {
  test.each(CASES.map(([what, wish, by, indexes, unknown = []]) => ({ what, wish, by, indexes, unknown })))('$what', ({ wish, by, indexes, unknown }) => {
    const request = resolveGpuRequest(wish, HOST)
    expect(request).toEqual({ by, gpus: indexes.map((index) => HOST[index]), unknown })
  })

  test.each([
    ['nothing', plain],
    ['a CUDA image, which sets the variable for itself', { ...plain, runtime: 'runc', visibleDevices: 'all' }],
    ['runtime nvidia with none', nvidia('none')],
    ['runtime nvidia with void', nvidia('void')],
    ['runtime nvidia with an empty variable', nvidia('')],
    ['a request for another kind of device', gpuRequest({ driver: 'other', count: -1, capabilities: ['tpu'] })],
    ['only control nodes', { ...plain, devicePaths: ['/dev/nvidiactl', '/dev/fuse'] }],
  ] satisfies readonly (readonly [string, GpuWish])[])('%s asks for none', (_what, wish) => {
    expect(resolveGpuRequest(wish, HOST)).toBeUndefined()
  })

  test('without minors the nodes say only what is unknown', () => {
    const host = HOST.map(({ index, uuid }) => ({ index, uuid }))
    expect(resolveGpuRequest({ ...plain, nodeMinors: [1] }, host)).toEqual({ by: 'device_nodes', gpus: [], unknown: ['/dev/nvidia1'] })
    expect(resolveGpuRequest({ ...gpuRequest({ count: 1 }), nodeMinors: [1] }, host)?.by).toBe('device_request')
  })
})
