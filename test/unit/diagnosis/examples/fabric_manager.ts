// Fabric Manager; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['fabric_manager']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'another version',
    text: "nv-fabricmanager[2201]: fabric manager NVIDIA GPU driver interface version 570.86.15 don't match with driver version 570.86.10. Please update with matching NVIDIA driver package.",
    kinds: one,
    facts: { client_version: '570.86.15', kernel_version: '570.86.10', pattern: 'version_mismatch' },
  },
  {
    name: 'no switch',
    text: 'nv-fabricmanager[911]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]',
    kinds: one,
    facts: { pattern: 'no_nvswitch' },
  },
  { name: 'the unit', text: 'systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE', kinds: one },
  { name: 'quiet: started', text: 'nv-fabricmanager[2201]: Successfully configured all the available GPUs and NVSwitches to route NVLink traffic.', kinds: [] },
]
