// bitsandbytes finds no binary for the CUDA version, or was built without GPU support.
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily, type Rule, type Seen } from './parts/rules.ts'
import { around, known } from './parts/window.ts'

const REMEDIES: readonly Remedy[] = [
  { text: 'Install a version that brings a binary for your CUDA.', command: 'pip install -U bitsandbytes' },
  { text: 'Let it say what it found.', command: 'python -m bitsandbytes' },
  {
    text: 'See which CUDA your PyTorch was built for, and that it sees the GPU.',
    command: 'python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())"',
  },
  { text: 'If a newer CUDA has no binary yet, take that of an older one (here 12.4).', command: 'export BNB_CUDA_VERSION=124' },
]

const BINARY = /libbitsandbytes_(?:cuda|rocm|hip|xpu)\w{0,40}\.(?:so|dll|dylib)/
/** The binary that was looked for stands in the message or, in its older form, some lines around. */
const library = ({ message, text, at }: Seen): string | undefined =>
  BINARY.exec(message)?.[0] ?? BINARY.exec(around(text, at, 12, 12))?.[0] ?? /libbitsandbytes_cpu\.so(?=: undefined)/.exec(message)?.[0]
const facts = (seen: Seen): ReturnType<typeof known> => known({ library: library(seen) })

const rule = (pattern: RegExp, verdict: string, severity: Rule['severity'] = 'critical'): Rule => ({
  pattern,
  severity,
  title: 'bitsandbytes cannot use the GPU',
  verdict,
  remedies: REMEDIES,
  facts,
})
const NO_BINARY = 'bitsandbytes has no compiled library for the CUDA version that it detected, so 8-bit and 4-bit quantization do not work.'
const NO_GPU = 'The bitsandbytes that is installed was built without GPU support, or fell back to its CPU library; quantization on the GPU does not work.'
const NOT_SET_UP = 'bitsandbytes could not set itself up for the GPU: its CUDA library did not load.'

export const bitsandbytesSetup = ruleFamily({
  id: 'bitsandbytes-setup',
  kind: 'bitsandbytes_setup',
  literals: [
    'Required library version not found',
    'CUDA Setup failed despite',
    'CUDA SETUP: CUDA detection failed',
    'CUDA SETUP: Setup Failed',
    'CUDA SETUP: Something unexpected',
    'CUDA SETUP: WARNING',
    'CUDA SETUP: Defaulting to libbitsandbytes_cpu',
    'Configured CUDA binary not found',
    'Configured ROCm binary not found',
    'bitsandbytes library load error',
    'Could not find the bitsandbytes CUDA binary',
    'bitsandbytes was compiled without GPU support',
    'compiled without GPU support',
    'bitsandbytes native library',
    'libbitsandbytes_',
    'bitsandbytes` 8-bit quantization',
    'bitsandbytes` 4-bit quantization',
    'CUDA is required but not available for bitsandbytes',
    'metadata was found for bitsandbytes',
    "'NoneType' object has no attribute 'c",
    'quantizer_bnb_',
    'The 8-bit optimizer is not available',
    'the latest version of bitsandbytes',
    "No module named 'bitsandbytes",
    'Please install bitsandbytes',
    'Forgot to compile the bitsandbytes',
  ],
  rules: [
    rule(/Required library version not found: ?libbitsandbytes/, NO_BINARY),
    rule(/Configured (?:CUDA|ROCm) binary not found at/, NO_BINARY),
    rule(/Could not find the bitsandbytes (?:CUDA|ROCm) binary at/, NO_BINARY),
    rule(/bitsandbytes library load error|Forgot to compile the bitsandbytes library/, NO_BINARY),
    rule(/libbitsandbytes_\w{1,40}\.(?:so|dll): (?:undefined symbol|cannot open shared object file)/, NO_BINARY),
    rule(/CUDA Setup failed despite (?:GPU|CUDA) being available/, NOT_SET_UP),
    rule(/CUDA SETUP: (?:CUDA detection failed|Setup Failed|Something unexpected)/, NOT_SET_UP),
    rule(/CUDA SETUP: WARNING! lib\w{1,20}\.so not found/, NOT_SET_UP),
    rule(/CUDA SETUP: Defaulting to libbitsandbytes_cpu/, NO_GPU),
    rule(/CUDA SETUP: Loading binary \S{0,300}libbitsandbytes_cpu\.so/, NO_GPU, 'warning'),
    rule(/bitsandbytes.{0,40} was compiled without GPU support/, NO_GPU, 'warning'),
    rule(
      /'NoneType' object has no attribute 'c(?:adam|quantize|dequantize|lamb|lion|momentum|rmsprop|adagrad|percentile|igemm|gemm|get_|ig|histogram)\w{0,60}'/,
      NO_GPU,
    ),
    rule(/[Aa]ttempted to use bitsandbytes native library functionality but it's not available/, NOT_SET_UP),
    rule(/CUDA is required but not available for bitsandbytes/, NOT_SET_UP),
    rule(/The 8-bit optimizer is not available on your device/, NO_GPU),
    rule(
      /(?:requires|and) the latest version of bitsandbytes|No module named 'bitsandbytes|Please install bitsandbytes|`bitsandbytes` [48]-bit quantization requires|No package metadata was found for bitsandbytes/i,
      'Quantized loading was asked for, and bitsandbytes is not installed, too old, or does not work here.',
    ),
    // A traceback that goes through the quantizer's own check: whatever it ends in, the set-up is what failed.
    rule(
      /quantizer_bnb_[48]bit\.py", line \d{1,6}, in validate_environment/,
      'transformers refused to load the quantized model: bitsandbytes is missing, too old, or has no working GPU library.',
    ),
  ],
})
