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
]
