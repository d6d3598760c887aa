// Stacks as PyTorch writes them by default: C++ first, then Python; in the backward pass C++ only. The names follow torch's symbols.
import { describe, expect, test } from 'vitest'
import { callersOf, placeFrom, placeText } from '../../../../agent/allocator/snapshot/frames.ts'
import { analyse } from '../../../../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../../../../agent/allocator/snapshot/file.ts'
import { jitPickle, type Plain } from './pickler.ts'
import { block, MIB, segment, snapshot } from './scene.ts'

const frame = (filename: string, name: string, line = 0): { readonly [key: string]: Plain } => ({ filename, name, line })
const PACKAGES = '/opt/env/lib/python3.12/site-packages'
const ALLOCATOR = [
  frame('??', 'torch::unwind::unwind()'),
  frame('CUDACachingAllocator.cpp', 'c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)'),
  frame('', 'at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)'),
]
const LINEAR = [
  frame('??', 'at::_ops::mm::call(at::Tensor const&, at::Tensor const&)'),
  frame('??', 'at::_ops::linear::call(at::Tensor const&, at::Tensor const&, std::optional<at::Tensor> const&)'),
  frame('python_nn_functions.cpp', 'torch::autograd::THPVariable_linear(_object*, _object*, _object*)'),
]
const FORWARD = [
  frame(`${PACKAGES}/torch/nn/modules/linear.py`, 'forward', 125),
  frame('/usr/src/python/Objects/call.c', '_PyObject_MakeTpCall', 240),
  frame(`${PACKAGES}/torch/nn/modules/module.py`, '_call_impl', 1750),
  frame(`${PACKAGES}/transformers/models/llama/modeling_llama.py`, 'forward', 240),
  frame('/opt/env/lib/python3.12/contextlib.py', 'inner', 81),
  frame('/home/me/train.py', 'step', 33),
  frame('<frozen runpy>', '_run_code', 88),
  frame('/tmp/ipykernel_114/310.py', '<module>', 2),
]
const BACKWARD = [
  frame('??', 'at::_ops::bmm::call(at::Tensor const&, at::Tensor const&)'),
  frame('??', 'torch::autograd::generated::BmmBackward0::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)'),
  frame('??', 'torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)'),
  frame('thread48.o', 'execute_native_thread_routine'),
]

describe('a place', () => {
  test('is the innermost line outside of torch, with the operation that the program called, and its callers', () => {
    const place = placeFrom([...ALLOCATOR, ...LINEAR, ...FORWARD])
    expect(place).toMatchObject({ operation: 'linear', frame: { line: 240, function: 'forward' }, user_frame: { file: '/home/me/train.py', line: 33 } })
    expect(place.frames.map(({ line }) => line)).toEqual([125, 1750, 240, 81, 33, 2])
    expect(placeText(place)).toBe('transformers/models/llama/modeling_llama.py:240 forward, linear')
    expect(placeText(place, 1)).toBe('llama/modeling_llama.py:240 forward, linear')
    expect(callersOf(place, 2)).toEqual(['/home/me/train.py:33 step', '/tmp/ipykernel_114/310.py:2 <module>'])
  })
  test('in the backward pass is the node and its operation', () => {
    const place = placeFrom([...ALLOCATOR, ...BACKWARD])
    expect(place).toMatchObject({ operation: 'bmm in BmmBackward0' })
    expect(place).not.toHaveProperty('user_frame')
    expect(placeText(place)).toBe('bmm in BmmBackward0 (backward pass)')
  })
  test('without any of these is the innermost frame', () => {
    expect(placeText(placeFrom(ALLOCATOR))).toBe('?? torch::unwind::unwind()')
    expect(placeText(placeFrom([frame('C:\\me\\run.py', 'go', 3)]), 1)).toBe('me/run.py:3 go')
    expect(placeText(placeFrom([]))).toBe('no history recorded')
    expect(placeFrom([null, 5, 'x', [], { filename: 5, name: [], line: 'x' }]).frames).toHaveLength(5)
  })
})

test('blocks of one line and operation are one place, whatever C++ did in between', () => {
  const stacks = [
    [...ALLOCATOR, ...LINEAR, ...FORWARD],
    [...ALLOCATOR.slice(1), ...LINEAR.slice(1), ...FORWARD.slice(2)],
    [...ALLOCATOR, ...BACKWARD],
  ]
  const blocks = stacks.map((stack) => block(MIB, 'active_allocated', { frames: stack }))
  const [device] = analyse(readSnapshot(jitPickle(snapshot([segment([...blocks, ...blocks])])))).analysis.devices
  expect(device?.live.top.map((site) => [site.blocks, placeText(site)])).toEqual([
    [4, 'transformers/models/llama/modeling_llama.py:240 forward, linear'],
    [2, 'bmm in BmmBackward0 (backward pass)'],
  ])
})
