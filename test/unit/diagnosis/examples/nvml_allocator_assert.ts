// The assert that hides an out of memory; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

/** The assert, and the out of memory that it hides. */
const both: readonly LogKind[] = ['nvml_allocator_assert', 'cuda_oom']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'running processes',
    text: 'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/build/pytorch/c10/cuda/CUDACachingAllocator.cpp":1120, please report a bug to PyTorch.',
    kinds: both,
    facts: { source_line: '1120' },
  },
  {
    name: 'NVML not initialised, wrapped',
    text: 'RuntimeError: NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_()\n  INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":990, please report a bug',
    kinds: both,
    facts: { source_line: '990' },
  },
  {
    name: 'handle',
    text: '(Worker_TP0 pid=88) ERROR 11-02 10:10:10 [multiproc.py:10] RuntimeError: NVML_SUCCESS == DriverAPI::get()->nvmlDeviceGetHandleByPciBusId_v2_( pci_id, &nvml_device) INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":1007',
    kinds: both,
  },
  {
    name: 'another kind: the same assert of peer access is no out of memory',
    text: 'RuntimeError: NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/PeerToPeerAccess.cpp":60',
    kinds: ['python_exception'],
  },
  { name: 'quiet: an ordinary line', text: 'nvml: 8 devices, no errors', kinds: [] },
]
