// Page faults that the kernel driver of an AMD or Intel GPU reports: a program used an address that is not mapped, or not for it.
import type { Facts } from '../../model/facts.ts'
import { atCard, driverLines, driverOf, drmFacts, ofThisCard } from './parts/drm.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { known } from './parts/window.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'

/** Where the head was lost, lines of other cards are between. */
const near = (seen: Seen): string => ofThisCard(seen, /PROTECTION_FAULT_STATUS/.test(seen.text[seen.at] ?? '') ? 10 : 3, 8)
/** Address space 0 is the kernel driver's own: the lines around it name another fault's program. */
const ofDriver = ({ message }: Seen): boolean => /vmid:0 pasid:0/.test(message)
const facts = (seen: Seen): Facts => {
  const { process, pid, ...card } = drmFacts(near(seen))
  return ofDriver(seen) ? card : { ...card, ...known({ process, pid }) }
}

function remedies(matched: Matched): readonly Piece[] {
  const { process } = matched.facts
  const driver = driverOf(near(matched))
  return [
    driver === 'amdgpu' &&
      !ofDriver(matched) &&
      !matched.situation().gaming && {
        text: `Run ${process ?? 'the program'} again with serialized kernels, so that the failing one is named.`,
        command: setVariables(matched.situation(), { AMD_SERIALIZE_KERNEL: '3', HIP_LAUNCH_BLOCKING: '1' }),
      },
    matched.situation().gaming || ofDriver(matched)
      ? { text: `Update kernel, firmware (linux-firmware) and ${matched.situation().gaming ? 'Mesa' : 'ROCm'} together.` }
      : driver === 'amdgpu'
        ? { text: 'Update the library whose kernel it is, and ROCm: both must belong to the same release.' }
        : { text: `Update ${process ?? 'the program'} and the compute runtime (Level Zero): both must fit each other.` },
    { text: 'See whether the driver reset the GPU afterwards.', command: driverLines(driver, 40) },
  ]
}
const rule = {
  severity: 'critical',
  title: 'Page fault on the GPU',
  verdict: (matched: Matched) => {
    const found = matched.facts
    if (ofDriver(matched))
      return `A page fault on ${atCard(found)} that belongs to no program (address space 0). Likely a bug in the driver or its firmware, or a consequence of a reset.`
    return `${found.process ?? 'A program'}${found.pid === undefined ? '' : ` (pid ${found.pid})`} accessed an invalid address on ${atCard(found)}. Likely a bug in the program or a library.`
  },
  remedies,
} as const

export const gpuPageFault = ruleFamily({
  id: 'gpu-page-fault',
  kind: 'gpu_page_fault',
  literals: [
    ' page fault (src_id',
    'VM fault (0x',
    'GPU fault detected: ',
    'PROTECTION_FAULT_STATUS',
    'Engine memory CAT error',
    'Fault response: Unsuccessful',
  ],
  facts,
  rules: [
    {
      ...rule,
      pattern: /\[\w{2,12}hub\d?\] (?:retry |no-retry )?page fault/,
      // What a reset of the card or a ring leaves behind.
      unless: (seen) => ofDriver(seen) && /ring [\w.]{2,30} timeout|reset (?:succeeded|begin)|recovered through reset/i.test(ofThisCard(seen, 20, 0)),
    },
    // Its head may have been lost to the rate limit. A status of zero repeats what was reported.
    {
      ...rule,
      pattern: /\b(?:GC|MM)?VM_L2_PROTECTION_FAULT_STATUS: ?0x(?!0{1,16}\b)[0-9a-f]/i,
      unless: (seen) => /\] (?:retry |no-retry )?page fault \(src_id/.test(ofThisCard(seen, 12, 0)),
    },
    // Cards before Vega: gmc_v6_0.c to gmc_v8_0.c.
    { ...rule, pattern: /\bamdgpu\b[^\n]{0,60}(?:VM fault \(0x[0-9a-f]{2}, vmid [1-9]|GPU fault detected: \d)/ },
    { ...rule, pattern: /\bxe\b[^\n]{0,100}(?:Engine memory CAT error|Fault response: Unsuccessful)/ },
  ],
})
