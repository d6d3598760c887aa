// GPUs that the driver cannot reach, as nvidia-smi, NVML and the kernel say it; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'index and address',
    text: 'Unable to determine the device handle for GPU2: 0000:B1:00.0: Unknown Error',
    kinds: ['gpu_lost'],
    facts: { gpu_index: 2, pci_bus_id: '0000:b1:00.0' },
  },
  {
    name: 'no index where the address follows at once',
    text: 'Unable to determine the device handle for GPU0000:17:00.0: GPU is lost.  Reboot the system to recover this GPU',
    kinds: ['gpu_lost'],
    facts: { pci_bus_id: '0000:17:00.0' },
  },
  {
    name: 'the kernel without an Xid, wrapped',
    text: '[ 77.1] NVRM: The NVIDIA GPU 0000:41:00.0\n               NVRM: (PCI ID: 10de:2684) installed in this system has\n               NVRM: fallen off the bus and is not responding to commands.',
    kinds: ['gpu_lost'],
    facts: { pci_bus_id: '0000:41:00.0' },
  },
  {
    name: 'the adapter does not start',
    text: '[ 12.0] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26:0x56:1474)\n[ 12.1] NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0',
    kinds: ['gpu_lost'],
    facts: { pci_bus_id: '0000:01:00.0' },
  },
  { name: 'pynvml', text: 'pynvml.NVMLError_GpuIsLost: GPU is lost', kinds: ['gpu_lost'] },
  { name: 'CSV of nvidia-smi', text: '3, NVIDIA A10, [GPU is lost], [GPU is lost]', kinds: ['gpu_lost'] },
  {
    name: 'does not wake up',
    text: 'kernel: nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible',
    kinds: ['gpu_lost'],
    facts: { pci_bus_id: '0000:01:00.0' },
  },
  {
    name: 'ERR! in the table',
    text: '|   1  NVIDIA GeForce RTX 4090        Off |   00000000:41:00.0 Off |                  Off |\n|ERR!  ERR! ERR!             N/A /  N/A  |       1MiB /  24564MiB |     N/A      Default |',
    kinds: ['gpu_lost'],
    facts: { gpu_index: 1, pci_bus_id: '0000:41:00.0' },
  },
  {
    name: 'quiet: utilisation alone cannot be told',
    text: '|   0  NVIDIA GeForce RTX 3080  On   | 00000000:01:00.0  On |                  N/A |\n| 30%   41C    P8    21W / 320W |    902MiB / 10240MiB |    ERR!      Default |',
    kinds: [],
  },
  {
    name: 'quiet: another device sleeps',
    text: 'kernel: xhci_hcd 0000:39:00.0: Unable to change power state from D3cold to D0, device inaccessible',
    kinds: [],
  },
  { name: 'a node with fewer GPUs', text: 'slurmd: error: gres/gpu count reported lower than configured (6 < 8)', kinds: ['gpu_lost'] },
]
