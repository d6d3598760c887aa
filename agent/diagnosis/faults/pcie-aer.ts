// An uncorrected error of the PCIe link to a GPU, as the kernel reports it (AER).
import type { Facts } from '../../model/facts.ts'
import { linkEvidence } from './parts/pcie.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, pciBusId } from './parts/window.ts'
import { kernelLines } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

const near = ({ text, at }: Seen): string => around(text, at, 20, 20)
const GPU = /\b(?:nvidia|amdgpu|NVRM: GPU(?: at PCI:)?)\s{0,2}([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?)/i
/** The driver that speaks after the error speaks of it; one before it may be of another card. */
const gpuNear = (seen: Seen): RegExpExecArray | null => GPU.exec(around(seen.text, seen.at, 0, 6)) ?? GPU.exec(near(seen))
/** The driver's own report of the loss says it all, with this as its evidence. */
const LOST = /\bXid \([^)\n]{4,40}\): (?:79|167)\b|fallen off the bus/
const facts = (seen: Seen): Facts => {
  const gpu = gpuNear(seen)?.[1]
  return known({ pci_bus_id: gpu === undefined ? undefined : pciBusId(gpu) })
}

function remedies(matched: Matched): readonly Piece[] {
  const amd = /\bamdgpu\b/i.test(gpuNear(matched)?.[0] ?? '')
  return [
    {
      text: 'See whether the GPU still answers, and how wide and fast its link is now.',
      command: amd ? 'amd-smi metric --pcie' : 'nvidia-smi --query-gpu=index,pci.bus_id,pcie.link.gen.current,pcie.link.width.current --format=csv',
    },
    amd
      ? { text: 'See what else the kernel logged of the link.', command: "sudo dmesg -T | grep -E 'amdgpu|AER|pcieport' | tail -n 40" }
      : kernelLines(matched.facts, 'See what else the kernel logged of the link.'),
    { text: 'Drain the host and switch it off; then reseat the card, check its power cables, and change riser or slot.' },
  ]
}

export const pcieAer = ruleFamily({
  id: 'pcie-aer',
  kind: 'pcie_aer',
  literals: ['PCIe Bus Error: severity=Uncorrect', 'AER: Uncorrect', 'AER: Multiple Uncorrect', "AER: can't recover"],
  facts,
  rules: [
    {
      pattern: /PCIe Bus Error: severity=Uncorrect|AER: (?:Multiple )?Uncorrect|AER: can't recover/,
      severity: 'critical',
      title: 'Uncorrected PCIe error at a GPU',
      verdict: (matched) => {
        const gpu = matched.facts.pci_bus_id
        const port = /\bpcieport ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])[^\n]{0,60}Uncorrect/i.exec(matched.text[matched.at] ?? '')?.[1]
        const evidence = linkEvidence(near(matched), false)?.replace(/^Before it t/, 'T')
        return `The PCIe link to ${gpu === undefined ? 'a GPU' : `the GPU at ${gpu}`} had an error that could not be corrected. ${evidence ?? 'Likely causes: seating, riser, power or the card.'}${port === undefined ? '' : ` The port above it, ${port}, reported it.`}`
      },
      remedies,
      unless: (seen) => !GPU.test(near(seen)) || LOST.test(near(seen)),
    },
  ],
})
