// AMD and Intel GPUs that hang; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['gpu_reset']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a ring',
    text: '[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=100, emitted seq=102\n[drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process python3 pid 900 thread python3:cs0 pid 901\namdgpu 0000:0c:00.0: amdgpu: GPU reset begin!',
    kinds: one,
    facts: { pid: 900, process: 'python3', status: 'gfx_0.0.0' },
  },
  {
    name: 'a ring, as newer kernels print it',
    text: 'amdgpu 0000:c3:00.0: amdgpu: ring comp_1.1.0 timeout, signaled seq=7, emitted seq=9\namdgpu 0000:c3:00.0: amdgpu:  Process python3 pid 4087 thread python3 pid 4087\namdgpu 0000:c3:00.0: amdgpu: Starting comp_1.1.0 ring reset',
    kinds: one,
    facts: { pid: 4_087, process: 'python3', status: 'comp_1.1.0' },
  },
  { name: 'a reset', text: 'amdgpu 0000:0c:00.0: amdgpu: GPU reset begin!', kinds: one },
  { name: 'Intel', text: 'i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dffffb, in ffmpeg [2210]', kinds: one, facts: { pid: 2210 } },
  { name: 'quiet: started', text: '[drm] amdgpu kernel modesetting enabled.', kinds: [] },
]
