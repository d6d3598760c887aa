// Memory errors of GPUs, in programs and in pasted nvidia-smi output; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['ecc_error']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'PyTorch', text: 'RuntimeError: CUDA error: uncorrectable ECC error encountered', kinds: one, facts: { cuda_error_code: 214 } },
  { name: 'driver API', text: 'CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered', kinds: one },
  {
    name: 'counters of nvidia-smi -q',
    text: 'GPU 00000000:3B:00.0\n    ECC Errors\n        Volatile\n            SRAM Correctable              : 0\n            SRAM Uncorrectable Parity     : 0\n            SRAM Uncorrectable SEC-DED    : 2\n            DRAM Correctable              : 5\n            DRAM Uncorrectable            : 0',
    kinds: one,
    facts: { pci_bus_id: '0000:3b:00.0' },
  },
  {
    name: 'a row remap waits',
    text: '    Remapped Rows\n        Correctable Error                 : 0\n        Uncorrectable Error               : 2\n        Pending                           : Yes\n        Remapping Failure Occurred        : No',
    kinds: one,
  },
  {
    name: 'a row remap failed, XML',
    text: '<remapped_rows>\n  <remapped_row_corr>0</remapped_row_corr>\n  <remapped_row_unc>8</remapped_row_unc>\n  <remapped_row_pending>No</remapped_row_pending>\n  <remapped_row_failure>Yes</remapped_row_failure>\n</remapped_rows>',
    kinds: one,
  },
  {
    name: 'CSV',
    text: 'index, pci.bus_id, ecc.errors.uncorrected.volatile.total\n0, 00000000:07:00.0, 0\n1, 00000000:0F:00.0, 4',
    kinds: one,
    facts: { gpu_index: 1, pci_bus_id: '0000:0f:00.0' },
  },
  {
    name: 'the table',
    text: '| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n|   5  NVIDIA A100-SXM4-80GB          On  |   00000000:BD:00.0 Off |                    3 |',
    kinds: one,
    facts: { gpu_index: 5, pci_bus_id: '0000:bd:00.0' },
  },
  {
    name: 'quiet: all counters at nought',
    text: '    ECC Errors\n        Volatile\n            SRAM Correctable              : 0\n            SRAM Uncorrectable            : 0\n            DRAM Correctable              : 12\n            DRAM Uncorrectable            : 0\n    Remapped Rows\n        Correctable Error                 : 1\n        Uncorrectable Error               : 0\n        Pending                           : No\n        Remapping Failure Occurred        : No',
    kinds: [],
  },
  {
    name: 'quiet: a healthy table',
    text: '| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:BD:00.0 Off |                    0 |\n|   1  NVIDIA GeForce RTX 4090        Off |   00000000:C1:00.0 Off |                  Off |',
    kinds: [],
  },
  {
    name: 'a board that counts double bits',
    text: '    ECC Errors\n        Volatile\n            Single Bit\n                Device Memory             : 0\n                Total                     : 0\n            Double Bit\n                Device Memory             : 2\n                Total                     : 2\n        Aggregate\n            Single Bit\n                Total                     : 9',
    kinds: one,
  },
  {
    name: 'quiet: such a board with corrected errors only',
    text: '        Volatile\n            Single Bit\n                Device Memory             : 7\n                Total                     : 7\n            Double Bit\n                Device Memory             : 0\n                Total                     : 0',
    kinds: [],
  },
  {
    name: 'amdgpu, damaged data that nothing read yet',
    text: 'amdgpu 0000:03:00.0: amdgpu: {12}socket: 0, die: 0, 1 new deferred hardware errors detected in umc block',
    kinds: one,
  },
  { name: 'amdgpu, nearly worn out', text: 'amdgpu 0000:03:00.0: amdgpu: RAS records:231 exceeds 90% of threshold:256', kinds: one },
  { name: 'xe', text: 'xe 0000:03:00.0: [Hardware Error]: Tile0 uncorrectable core-compute error detected', kinds: one },
  {
    name: 'quiet: amdgpu, corrected',
    text: 'amdgpu 0000:03:00.0: amdgpu: socket: 0, die: 1, 3 correctable hardware errors detected in total in gfx block',
    kinds: [],
  },
  { name: 'the diagnostic', text: 'Error: Detected 3 double-bit ECC errors in GPU 4', kinds: one, facts: { gpu_index: 4 } },
  { name: 'quiet: a field explained', text: '"remapped_rows.failure"\nTells whether a row remapping failure has happened in the life of the GPU.', kinds: [] },
  {
    name: 'AMD: fatal, and the reset that follows',
    text: 'amdgpu 0000:e3:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\namdgpu 0000:e3:00.0: amdgpu: GPU reset begin!',
    kinds: ['ecc_error', 'gpu_reset'],
    facts: { pci_bus_id: '0000:e3:00.0' },
  },
  { name: 'AMD: memory', text: 'amdgpu 0000:c1:00.0: {4}socket: 0, die: 1, 2 new uncorrectable hardware errors detected in umc block', kinds: one },
  { name: 'AMD: worn out', text: 'amdgpu 0000:c1:00.0: amdgpu: RAS records:132 exceed threshold:128', kinds: one },
  { name: 'quiet: AMD, corrected', text: 'amdgpu 0000:c1:00.0: {5}socket: 0, die: 1, 3 correctable hardware errors detected in total in umc block', kinds: [] },
  { name: 'quiet: AMD, none', text: 'amdgpu 0000:c1:00.0: 0 uncorrectable hardware errors detected in gfx block', kinds: [] },
]
