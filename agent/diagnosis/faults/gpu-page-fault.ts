// Page faults that the kernel driver of an AMD or Intel GPU reports.
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, pciBusId, whole } from './parts/window.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'

const near = ({ text, at }: Seen): string => around(text, at, 1, 6)
const facts = (seen: Seen): Facts => {
  const lines = near(seen)
  const pci = /\b(?:amdgpu|i915|xe) ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/i.exec(lines)?.[1]
  const who = /[Pp]rocess (\S.{0,38}?) pid (\d{1,10})/.exec(lines)
  return known({ pci_bus_id: pci === undefined ? undefined : pciBusId(pci), process: who?.[1]?.trim(), pid: whole(who?.[2]) })
}

function remedies({ facts: { process }, situation }: Matched): readonly Piece[] {
  return [
    {
      text: `Run ${process ?? 'the program'} again with serialized kernels, so that the failing one is named.`,
      command: setVariables(situation(), { AMD_SERIALIZE_KERNEL: '3', HIP_LAUNCH_BLOCKING: '1' }),
    },
    { text: 'Update the library whose kernel it is, and ROCm: both must belong to the same release.' },
    { text: 'See whether the driver reset the GPU afterwards.', command: 'sudo dmesg -T | grep -i amdgpu | tail -n 40' },
  ]
}

export const gpuPageFault = ruleFamily({
  id: 'gpu-page-fault',
  kind: 'gpu_page_fault',
  literals: ['hub] page fault (src_id', 'hub0] page fault (src_id', 'hub1] page fault (src_id', 'hub] retry page fault', 'hub] no-retry page fault'],
  facts,
  rules: [
    {
      pattern: /\[\w{2,12}hub\d?\] (?:retry |no-retry )?page fault/,
      severity: 'critical',
      title: 'Page fault on the GPU',
      verdict: ({ facts: { process, pid, pci_bus_id: pci } }) =>
        `${process ?? 'A program'}${pid === undefined ? '' : ` (pid ${pid})`} accessed an invalid address on the GPU${pci === undefined ? '' : ` at ${pci}`}. Likely a bug in the program or a library.`,
      remedies,
    },
  ],
})
