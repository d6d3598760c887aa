// Failed checks inside the caching allocator; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['allocator_internal']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a capture',
    text: 'RuntimeError: captures_underway.empty() INTERNAL ASSERT FAILED at "/src/c10/cuda/CUDACachingAllocator.cpp":3100, please report a bug to PyTorch.',
    kinds: one,
    facts: { source_line: '3100' },
  },
  {
    name: 'expandable segments, the place in the next line',
    text: 'AssertionError: !handles_.at(i) INTERNAL ASSERT FAILED\n at "/src/c10/cuda/CUDACachingAllocator.cpp":401',
    kinds: one,
    facts: { source_line: '401' },
  },
  { name: 'a block', text: 'RuntimeError: block->ptr != nullptr INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":812', kinds: one },
  {
    name: 'another kind: an assert elsewhere',
    text: 'RuntimeError: isTuple() INTERNAL ASSERT FAILED at "../aten/src/ATen/core/ivalue_inl.h":1300',
    kinds: ['python_exception'],
  },
  { name: 'quiet: an ordinary line', text: 'allocator: 12 blocks cached, 3 in use', kinds: [] },
  {
    name: 'an address that it did not give out',
    text: "terminate called after throwing an instance of 'c10::Error'\n  what():  invalid device pointer: 0x7f00a000\nException raised from free at ../c10/hip/HIPCachingAllocator.cpp:100",
    kinds: ['allocator_internal'],
  },
]
