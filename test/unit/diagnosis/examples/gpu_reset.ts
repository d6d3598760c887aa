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
  {
    name: 'a reset that went well names the program',
    text: 'amdgpu 0000:0c:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=7, emitted seq=9\namdgpu 0000:0c:00.0: amdgpu:  Process game pid 77 thread game:cs0 pid 78\namdgpu 0000:0c:00.0: amdgpu: MODE2 reset\namdgpu 0000:0c:00.0: amdgpu: GPU reset succeeded, trying to resume',
    kinds: one,
    facts: { process: 'game', pid: 77 },
  },
  {
    name: 'power firmware',
    text: "amdgpu 0000:03:00.0: amdgpu: SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x00000012 SMN_C2PMSG_82:0x00000005",
    kinds: one,
  },
  {
    name: 'power firmware, old kernel',
    text: 'amdgpu 0000:04:00.0: amdgpu: message: TransferTableSmu2Dram (28) param: 0x00000007 is timeout (no response)',
    kinds: one,
  },
  { name: 'scheduler firmware', text: 'amdgpu 0000:08:00.0: amdgpu: MES(1) failed to respond to msg=REMOVE_QUEUE', kinds: one },
  {
    name: 'xe, wedged',
    text: 'xe 0000:03:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:03:00.0 as wedged.',
    kinds: one,
    facts: { pci_bus_id: '0000:03:00.0' },
  },
  { name: 'i915, not recovered', text: 'i915 0000:00:02.0: GPU recovery timed out, cancelling all in-flight rendering', kinds: one },
  { name: 'what ROCm says of it', text: 'HW Exception by GPU node-2 (Agent handle: 0x55d0c0ffee) reason :GPU Hang', kinds: one },
  { name: 'Level Zero lost it', text: 'RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)', kinds: one },
  { name: 'amdgpu, one ring that stays stuck', text: 'amdgpu 0000:03:00.0: Ring comp_1.1.0 reset failed', kinds: one, facts: { pci_bus_id: '0000:03:00.0' } },
  { name: 'amdgpu, what is lost', text: 'amdgpu 0000:03:00.0: amdgpu: VRAM is lost due to GPU reset!', kinds: one },
  { name: 'amdgpu, a reset that ended badly', text: 'amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = -110', kinds: one },
  { name: 'quiet: a reset that ended well', text: 'amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = 0', kinds: [] },
  { name: 'MES of older kernels', text: 'amdgpu 0000:03:00.0: amdgpu: MES failed to response msg=2', kinds: one },
  { name: 'a queue that MES keeps', text: 'amdgpu 0000:03:00.0: amdgpu: failed to remove hardware queue from MES, doorbell=0x1202', kinds: one },
  { name: 'KFD', text: 'amdgpu: Failed to evict queues of process pid 4411', kinds: one },
  { name: 'sensors of a card whose SMU hangs', text: 'amdgpu 0000:03:00.0: amdgpu: Failed to export SMU metrics table!', kinds: one },
  { name: 'i915, an engine', text: 'i915 0000:00:02.0: [drm] Resetting rcs0 for preemption time out', kinds: one },
  { name: "xe's firmware", text: 'xe 0000:03:00.0: [drm] *ERROR* GT0: Timed out wait for G2H, fence 17, action 3003', kinds: one },
  { name: 'xe, a reset that failed', text: 'xe 0000:03:00.0: [drm] *ERROR* GT0: reset failed (-ETIMEDOUT)', kinds: one },
  { name: 'quiet: an engine was reset in time', text: 'amdgpu 0000:0c:00.0: amdgpu: ring sdma0 timeout, but soft recovered', kinds: [] },
]
