// The GPU's memory gave wrong data that ECC could not correct, as CUDA and the diagnostic tools say it.
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily } from './parts/rules.ts'
import { currentDevice, known, whole } from './parts/window.ts'

export const ECC_REMEDIES: readonly Remedy[] = [
  { text: 'See which GPU, how many errors, and whether a repair waits for a reset.', command: 'nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT' },
  { text: 'Drain the GPU, then reset it: only then is the bad row or page taken out of use.', command: 'sudo nvidia-smi --gpu-reset -i GPU' },
  { text: 'If errors come back, or "Remapping Failure Occurred" says Yes: run the field diagnostics and have the board replaced.', command: 'dcgmi diag -r 3' },
]

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
  ],
  rules: [
    {
      pattern: /uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable/i,
      severity: 'critical',
      title: 'Uncorrectable memory error',
      verdict: 'The GPU found an error in its memory that ECC could not correct; CUDA stopped the work that used it, and its results are not to be trusted.',
      remedies: ECC_REMEDIES,
      facts: ({ text, at }) => known({ cuda_error_code: 214, gpu_index: currentDevice(text.slice(at, at + 3).join(' ')) }),
      unless: ({ message }) => /\b0 uncorrectable ECC errors?\b/i.test(message) || /\bXid \(/.test(message),
    },
    {
      pattern:
        /\b([1-9]\d{0,8}) (?:volatile |aggregate )?double[- ]bit ECC errors?[^\n]{0,40}?(?:GPU (\d{1,3}))?|double bit error \(DBE\)|\bDBE (?:volatile|aggregate|errors?|detected|has been detected|was detected)|\b[Aa] DBE (?:was|has been) detected|\b(?:had|has|with|detected|reports|[1-9]\d{0,8}) uncorrectable memory errors?\b|row remap(?:ping)? failures? (?:detected|occurred|on GPU|for GPU)|\b(?:had|has) (?:a )?row remap(?:ping)? failure|page retirements together with a DBE|\b[1-9]\d{0,8} uncorrectable remapped rows/i,
      severity: 'critical',
      title: 'Uncorrectable memory error',
      verdict: 'A tool reports errors in GPU memory that ECC could not correct, or a repair of it that failed.',
      remedies: ECC_REMEDIES,
      facts: ({ message }) => known({ gpu_index: whole(/\bGPU (\d{1,3})\b/.exec(message)?.[1]) }),
      unless: ({ message }) => /\bXid \(|:\s{0,3}(?:0|No|N\/A)\b|\bno (?:uncorrectable|row)|\b0 (?:uncorrectable|double|row)/i.test(message),
    },
  ],
})
