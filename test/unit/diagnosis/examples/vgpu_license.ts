// vGPU guests without a licence; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['vgpu_license']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'no server', text: 'nvidia-gridd[812]: Failed to acquire license from 192.0.2.40 (Info: licensing server unreachable)', kinds: one },
  { name: 'expired', text: 'nvidia-gridd[812]: license for NVIDIA RTX Virtual Workstation expired', kinds: one },
  { name: 'in a report', text: '        License Status                    : Unlicensed (Restricted)', kinds: one },
  { name: 'quiet: acquired', text: 'nvidia-gridd[812]: License acquired successfully. (Info: 192.0.2.40, NVIDIA Virtual Compute Server)', kinds: [] },
  {
    name: 'CUDA refuses a vGPU',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: CUDA error: device doesn\'t have valid Grid license',
    kinds: ['vgpu_license'],
  },
]
