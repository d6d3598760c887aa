// Small snapshots in the shape of torch.cuda.memory._snapshot(), with figures that are easy to check by hand.
import type { Plain } from './pickler.ts'

export const MIB = 2 ** 20
export const GIB = 2 ** 30
type Fields = { readonly [key: string]: Plain }

export const frames = (...names: readonly string[]): readonly Fields[] =>
  names.map((name, i) => ({ name, filename: name === 'empty' ? '/usr/lib/python3/dist-packages/torch/nn/functional.py' : '/home/me/train.py', line: 10 + i }))

export const block = (bytes: number, state = 'active_allocated', more: Fields = {}): Fields => ({
  size: bytes,
  requested_size: bytes,
  state,
  frames: [],
  ...more,
})
export const free = (bytes: number): Fields => block(bytes, 'inactive', { requested_size: 0 })

let address = 0x7f00_0000_0000
export function segment(blocks: readonly Fields[], more: Fields = {}): Fields {
  const total = blocks.reduce((sum, { size }) => sum + (typeof size === 'number' ? size : 0), 0)
  address += 2 ** 33
  return {
    device: 0,
    address,
    total_size: total,
    allocated_size: 0,
    active_size: 0,
    requested_size: 0,
    stream: 0,
    segment_type: 'large',
    segment_pool_id: [0, 0],
    is_expandable: false,
    frames: [],
    blocks,
    ...more,
  }
}

export const snapshot = (segments: readonly Fields[], more: Fields = {}): Fields => ({
  segments,
  device_traces: [],
  allocator_settings: { PYTORCH_CUDA_ALLOC_CONF: '', max_split_size: -1, expandable_segments: false, roundup_power2_divisions: {} },
  ...more,
})
