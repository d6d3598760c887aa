// The settings of a container that matter to a fault, from what an engine says of it.
import { expect, test } from 'vitest'
import { createContainerSettingsBook } from '../../../agent/attribution/container-settings.ts'
import { fromInspect } from '../../../agent/sources/containers/engine-container.ts'

const ID = 'ab'.repeat(32)
const state = { Status: 'running', Running: true, Pid: 7, StartedAt: '2026-01-01T00:00:00Z' }

test('limits, shared memory, GPUs and a few variables; nothing secret, nothing unset', () => {
  const { settings } = fromInspect({
    Id: ID,
    Name: '/trainer',
    State: state,
    Config: {
      Image: 'x',
      Labels: {},
      Env: ['CUDA_VISIBLE_DEVICES=1', 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True', 'HF_TOKEN=hf_abcdefghijklmnopqrst', 'HOME=/root'],
    },
    HostConfig: {
      Runtime: 'nvidia',
      Memory: 8e9,
      ShmSize: 67_108_864,
      IpcMode: 'private',
      Privileged: false,
      DeviceRequests: [{ Driver: 'nvidia', Count: 0, DeviceIDs: ['0', 'GPU-1'], Capabilities: [['gpu']] }],
    },
  })
  expect(settings).toEqual({
    memory_limit_bytes: 8e9,
    shm_size_bytes: 67_108_864,
    ipc_mode: 'private',
    runtime: 'nvidia',
    gpu_request: 'device=0,GPU-1',
    env: { CUDA_VISIBLE_DEVICES: '1', PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' },
  })
})

test('what the engine does not tell is absent', () => {
  expect(fromInspect({ Id: ID, State: state }).settings).toEqual({})
  expect(fromInspect({ Id: ID, State: state, HostConfig: { Memory: 0, DeviceRequests: [{ Count: -1 }] } }).settings).toEqual({ gpu_request: 'all' })
})

test('the book knows a container by its short id, and stays bounded', () => {
  const book = createContainerSettingsBook()
  book.set(ID, { memory_limit_bytes: 1 })
  expect(book.get(ID.slice(0, 12))).toEqual({ memory_limit_bytes: 1 })
  for (let n = 0; n < 3_000; n++) book.set(n.toString(16).padStart(64, '0').split('').toReversed().join(''), {})
  expect(book.get(ID)).toBeUndefined()
})
