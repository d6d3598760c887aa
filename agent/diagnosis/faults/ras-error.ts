// Errors of the hardware that the drivers of AMD and Intel GPUs report (RAS: memory, links, caches).
import type { Facts } from '../../model/facts.ts'
import { atCard, driverLines, driverOf, drmFacts, ofThisCard } from './parts/drm.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { REBOOT } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

const near = (seen: Seen): string => ofThisCard(seen, 0, 4)
const facts = (seen: Seen): Facts => drmFacts(near(seen))

function remedies(matched: Matched): readonly Piece[] {
  const driver = driverOf(near(matched))
  const worn = /threshold/.test(matched.match[0])
  return [
    worn && { text: 'Plan to have the card replaced: it has used up the pages that it may retire.' },
    !worn && { text: `Do not trust results computed on ${atCard(matched.facts)} in these minutes: run that work again from the last checkpoint.` },
    driver === 'amdgpu'
      ? { text: 'See which block counts errors, and how many memory pages are retired.', command: 'amd-smi metric --ecc --ecc-blocks; amd-smi bad-pages' }
      : { text: 'See what the driver logged about the error.', command: driverLines(driver, 40) },
    driver === 'amdgpu' && { text: 'See which cards the driver reset with it: all that are linked by XGMI are.', command: driverLines(driver, 60) },
    !worn && { text: 'If errors come back on this card, have it replaced.' },
    !worn && REBOOT,
  ]
}
const rule = { severity: 'critical', title: 'Uncorrectable hardware error', remedies } as const

export const rasError = ruleFamily({
  id: 'ras-error',
  kind: 'ecc_error',
  literals: [
    'ncorrectable hardware error',
    'RAS poison consumption is issued',
    'ncorrectable error detected in UMC',
    'exceed threshold:',
    ' of threshold:',
    'deferred hardware error',
    'Hardware Error]: ',
    ' reaches threshold value ',
    'RAS]: Double-bit ECC error',
    'RAS]: Poison error detected',
  ],
  facts,
  rules: [
    {
      ...rule,
      pattern: /uncorrectable hardware error ?\(ERREVENT_ATHUB_INTERRUPT\) detected/,
      verdict: ({ facts: found }) =>
        `${atCard(found).replace(/^t/, 'T')} reported a fatal hardware error; its driver resets it and all cards that are linked with it. Work on them is lost.`,
    },
    {
      ...rule,
      pattern: /\b([1-9]\d{0,9}) (?:new )?uncorrectable hardware errors? detected in (?:total in )?(\w{2,20}) block/,
      title: ({ match }) => (match[2] === 'umc' ? 'Uncorrectable memory error' : 'Uncorrectable hardware error'),
      verdict: ({ match, facts: found }) =>
        `${atCard(found).replace(/^t/, 'T')} counts ${match[1]} uncorrectable error${match[1] === '1' ? '' : 's'} in its ${match[2] === 'umc' ? 'memory (block umc)' : `block ${match[2]}`}.`,
    },
    {
      ...rule,
      pattern: /\bRAS poison consumption is issued|Uncorrectable error detected in UMC inst|\[RAS\]: (?:Double-bit ECC error|Poison error) detected/,
      title: 'Uncorrectable memory error',
      verdict: ({ facts: found }) => `A program used data that ${atCard(found)} had marked as damaged; its work is stopped and the GPU is reset.`,
    },
    {
      ...rule,
      severity: 'warning',
      pattern: /\b([1-9]\d{0,9}) (?:new )?deferred hardware errors? detected in (?:total in )?umc block/,
      title: 'Damaged data in GPU memory',
      verdict: ({ match, facts: found }) =>
        `${atCard(found).replace(/^t/, 'T')} found damaged data in its memory (${match[1]} deferred error${match[1] === '1' ? '' : 's'} in block umc) that nothing has read yet. Whatever reads it is stopped.`,
    },
    {
      ...rule,
      pattern: /\bxe [0-9a-f:.]{7,12}:[^\n]{0,20}\[Hardware Error\]: [^\n]{0,40}\b(?:uncorrectable|fatal)\b[^\n]{0,40}\bdetected/i,
      verdict: ({ facts: found }) => `${atCard(found).replace(/^t/, 'T')} reported an uncorrectable error of its hardware.`,
    },
    {
      ...rule,
      severity: 'warning',
      pattern: /\bRAS records: ?\d{1,6} exceeds 90% of threshold: ?\d{1,6}/,
      title: 'GPU memory is nearly worn out',
      verdict: ({ facts: found, match }) =>
        `${atCard(found).replace(/^t/, 'T')} has retired more than nine tenths of the bad memory pages that it may (${match[0].replace(/: ?/g, ' ')}).`,
    },
    {
      ...rule,
      pattern: /\bRAS records: ?\d{1,6} exceed threshold: ?\d{1,6}|Saved bad pages \d{1,6} reaches threshold value \d{1,6}/,
      title: 'GPU memory is worn out',
      verdict: ({ facts: found, match }) =>
        `${atCard(found).replace(/^t/, 'T')} has retired as many bad memory pages as it may (${match[0].replace(/: ?/g, ' ')}).`,
    },
  ],
})
