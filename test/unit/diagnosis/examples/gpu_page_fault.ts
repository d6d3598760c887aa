// Page faults of AMD GPUs; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['gpu_page_fault']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'gfxhub',
    text: 'amdgpu 0000:0c:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32771, for process python3 pid 900 thread python3 pid 900)',
    kinds: one,
    facts: { pid: 900, process: 'python3' },
  },
  { name: 'mmhub', text: 'amdgpu 0000:0c:00.0: amdgpu: [mmhub] page fault (src_id:0 ring:169 vmid:1 pasid:32770)', kinds: one },
  { name: 'no retry', text: 'amdgpu 0000:83:00.0: amdgpu: [gfxhub] no-retry page fault (src_id:0 ring:0 vmid:8 pasid:32769)', kinds: one },
  { name: 'quiet: of the host', text: 'systemd[1]: page faults: 123 major, 456 minor', kinds: [] },
  {
    name: 'a Vega or Instinct card, with its program in the next line',
    text: 'amdgpu 0000:83:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:5 pasid:32790)\namdgpu 0000:83:00.0: amdgpu:  for process serve pid 812 thread serve pid 812)\namdgpu 0000:83:00.0: amdgpu:   in page starting at address 0x00007f0000001000 from IH client 0x1b (UTCL2)',
    kinds: one,
    facts: { pci_bus_id: '0000:83:00.0', process: 'serve', pid: 812 },
  },
  {
    name: 'two cards at once: each with its own program',
    text: 'amdgpu 0000:83:00.0: amdgpu:  for process serve pid 812 thread serve pid 812)\namdgpu 0000:a3:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00341051\namdgpu 0000:83:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00341051',
    kinds: ['gpu_page_fault', 'gpu_page_fault'],
    facts: { pci_bus_id: '0000:a3:00.0' },
  },
  { name: 'Intel', text: 'xe 0000:03:00.0: [drm] Tile0: GT0: Engine memory CAT error [18]: class=rcs, logical_mask: 0x1, guc_id=4', kinds: one },
]
