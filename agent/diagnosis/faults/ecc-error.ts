// The GPU's memory gave wrong data that ECC could not correct, as CUDA and the diagnostic tools say it.
import type { Facts } from '../../model/facts.ts'
import type { Situation } from '../situation/situation.ts'
import { diagnose, gpuOf, noNewWork, resetGpu, theGpu } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { currentDevice, known, pciBusId, whole } from './parts/window.ts'

/** Before Ampere memory is retired by pages; rows are remapped from the A100 on. */
const PAGES = /\b(?:Tesla )?(?:K[2468]0\w?|M[46]0|P(?:4|40|100)|V100\w?|T4)\b/
/** What was counted decides: rows of DRAM are remapped at a reset, errors of the on-chip SRAM are not. */
export function eccRemedies(facts: Facts, situation: Situation, seen: string): readonly Piece[] {
  const gpu = gpuOf(facts)
  const which = gpu === '<GPU>' ? '' : ` -i ${gpu}`
  const look: Piece = {
    text: 'See which GPU counts errors, how many, and whether a repair is pending.',
    command: `nvidia-smi -q${which} -d ECC,${PAGES.test(situation.text) ? '' : 'ROW_REMAPPER,'}PAGE_RETIREMENT`,
  }
  if (/pending|waits for a reset/i.test(seen))
    return [
      { text: 'The repair takes effect only at a reset: plan it, it is not urgent by itself.' },
      look,
      resetGpu(facts, 'Let its work end first, a reset stops what still runs'),
    ]
  if (/\bSRAM\b/i.test(seen))
    return [
      look,
      {
        text: 'If "SRAM Threshold Exceeded" says Yes, or the count grows, run the diagnostics and have the board replaced: on-chip memory has no spare rows.',
        command: 'dcgmi diag -r 3',
      },
      resetGpu(facts, 'Stop its programs first, they end with it; the counters show then whether errors come back'),
    ]
  return [
    look,
    noNewWork(situation),
    resetGpu(facts, 'Stop its programs first, they end with it; then the bad memory is taken out of use'),
    diagnose(facts, situation, `If errors come back on ${theGpu(facts)}, test the board and have it replaced.`),
  ]
}

/** The driver's own line of the same error says which GPU, and that the error was contained. */
const xidNear = ({ text, at }: Pick<Seen, 'text' | 'at'>): RegExpExecArray | null =>
  /Xid \(PCI:([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]{0,4}\): (48|94|95),/.exec(text.slice(Math.max(0, at - 8), at + 9).join('\n'))

export const eccError = ruleFamily({
  id: 'ecc-error',
  kind: 'ecc_error',
  literals: [
    'ncorrectable ECC error',
    'CUDA_ERROR_ECC_UNCORRECTABLE',
    'cudaErrorECCUncorrectable',
    'ouble-bit ECC error',
    'ouble bit ECC error',
    'ouble bit error (DBE)',
    'ncorrectable memory error',
    'ow remapping failure',
    'ow remap failure',
    'DBE volatile',
    'DBE aggregate',
    'DBE error',
    'DBE was detected',
    'DBE has been',
    'DBE detected',
    'ncorrectable remapped rows',
    'nfoROM is corrupt',
  ],
  rules: [
    {
      pattern: /uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable/i,
      severity: 'critical',
      title: 'Uncorrectable memory error',
      verdict: ({ text, at }) => {
        const rank = /\[(?:Rank |rank)(\d{1,5})\]/.exec(text.slice(Math.max(0, at - 1), at + 9).join(' '))?.[1]
        return `The GPU${rank === undefined ? '' : ` of rank ${rank}`} found an error in its memory that ECC could not correct; CUDA stopped the work that used it.`
      },
      remedies: (matched) =>
        eccRemedies(matched.facts, matched.situation(), matched.message).map((piece) =>
          xidNear(matched)?.[2] === '94' && piece !== undefined && piece !== false && 'destroys' in piece
            ? resetGpu(
                matched.facts,
                'It can wait until the work on it has ended, since Xid 94 says that the error was contained; a reset stops what still runs',
              )
            : piece,
        ),
      facts: ({ text, at }) =>
        known({
          cuda_error_code: 214,
          pci_bus_id: ((found) => (found === undefined ? undefined : pciBusId(found)))(xidNear({ text, at })?.[1]),
          gpu_index: currentDevice(text.slice(at, at + 3).join(' ')) ?? whole(/CUDA device ordinal (\d{1,3})\b/.exec(text[at] ?? '')?.[1]),
        }),
      unless: ({ message }) =>
        /\b0 uncorrectable ECC errors?\b|\b(?:indicates?|means?)(?: that)? an uncorrectable ECC error/i.test(message) || /\bXid \(/.test(message),
    },
    {
      pattern:
        /\b([1-9]\d{0,8}) (?:volatile |aggregate )?double[- ]bit ECC errors?[^\n]{0,40}?(?:GPU (\d{1,3}))?|double bit error \(DBE\)|\bDBE (?:volatile|aggregate|errors?|detected|has been detected|was detected)|\b[Aa] DBE (?:was|has been) detected|\b(?:had|has|with|detected|reports|[1-9]\d{0,8}) uncorrectable memory errors?\b|row remap(?:ping)? failures? (?:detected|occurred|on GPU|for GPU)|\b(?:had|has) (?:a )?row remap(?:ping)? failure|page retirements together with a DBE|\b[1-9]\d{0,8} uncorrectable remapped rows/i,
      severity: 'critical',
      title: 'Uncorrectable memory error',
      verdict: 'A tool reports errors in GPU memory that ECC could not correct, or a repair of it that failed.',
      remedies: ({ facts, situation, message }) => eccRemedies(facts, situation(), message),
      facts: ({ message }) => known({ gpu_index: whole(/\bGPU (\d{1,3})\b/.exec(message)?.[1]) }),
      unless: ({ message }) => /\bXid \(|:\s{0,3}(?:0|No|N\/A)\b|\bno (?:uncorrectable|row)|\b0 (?:uncorrectable|double|row)/i.test(message),
    },
    {
      // nvidia-smi, below its table
      pattern: /\binfoROM is corrupt(?:ed)?(?: at gpu (?<address>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.\d))?/i,
      severity: 'warning',
      title: 'InfoROM of the GPU is damaged',
      verdict: "The board's small store of facts and counters is damaged; work goes on, counters may be lost.",
      facts: ({ match }) => known({ pci_bus_id: match.groups?.address === undefined ? undefined : pciBusId(match.groups.address) }),
      remedies: ({ facts, situation }) => [
        {
          text: 'See whether it stays so after a reboot, and whether memory errors are counted.',
          command: `nvidia-smi -q -i ${gpuOf(facts)} | grep -iE -A 6 'inforom|ecc errors'`,
        },
        diagnose(facts, situation(), `Test ${theGpu(facts)} before it gets work that must be right.`),
        { text: 'If it stays: have the board repaired or replaced by its vendor.' },
      ],
    },
  ],
})
