// Libraries and kernel module of different versions; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'nvidia-smi',
    text: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 575.57',
    kinds: ['nvml_driver_mismatch'],
    facts: { library_version: '575.57' },
  },
  {
    name: 'the kernel, over four lines',
    text: '[  301.5] NVRM: API mismatch: the client has the version 570.133.07, but\n               NVRM: this kernel module has the version 570.124.06.  Please\n               NVRM: make sure that this kernel module and all NVIDIA driver\n               NVRM: components have the same version.',
    kinds: ['nvml_driver_mismatch'],
    facts: { client_version: '570.133.07', kernel_version: '570.124.06' },
  },
  {
    name: 'the container toolkit',
    text: 'docker: Error response from daemon: OCI runtime create failed: stderr: nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown.',
    kinds: ['nvml_driver_mismatch'],
  },
  {
    name: 'an old driver that says no more than Unknown Error',
    text: 'NVIDIA: API mismatch: the NVIDIA kernel module has version 331.20,\nbut this NVIDIA driver component has version 331.38.\nFailed to initialize NVML: Unknown Error',
    kinds: ['nvml_driver_mismatch'],
    facts: { kernel_version: '331.20', library_version: '331.38' },
  },
  { name: 'pynvml', text: 'pynvml.nvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.', kinds: ['nvml_driver_mismatch'] },
  { name: 'quiet: versions of healthy parts', text: 'Driver Version: 570.86.15, library version 12.8, kernel module version 570.86.15', kinds: [] },
]
