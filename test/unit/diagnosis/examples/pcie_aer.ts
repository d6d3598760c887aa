// Uncorrected PCIe errors at a GPU; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['pcie_aer']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a link that went down',
    text: "pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)\npcieport 0000:00:01.0:    [ 5] SDES\nnvidia 0000:01:00.0: AER: can't recover (no error_detected callback)",
    kinds: one,
    facts: { pci_bus_id: '0000:01:00.0' },
  },
  { name: 'not fatal', text: 'nvidia 0000:41:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Receiver ID)', kinds: one },
  { name: 'AMD', text: "amdgpu 0000:03:00.0: AER: can't recover (no error_detected callback)", kinds: one },
  { name: 'quiet: corrected', text: 'nvidia 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)', kinds: [] },
  {
    name: 'quiet: a network card',
    text: 'mlx5_core 0000:81:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Receiver ID)',
    kinds: [],
  },
]
