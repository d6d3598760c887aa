// A program goes on with less than it was asked for: on the CPU instead of the GPU, or in another number format.
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'
import { around, known } from './parts/window.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'

const CPU: readonly Remedy[] = [
  { text: 'Does the program see a GPU?', command: 'nvidia-smi; python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())"' },
  { text: 'In a container: was a GPU asked for?', command: 'docker run --gpus all …' },
  { text: 'Is a build with CUDA installed? A CPU build never finds a GPU.', command: 'pip list | grep -iE "torch|onnxruntime|tensorflow|jax"' },
]
const FORMAT: readonly Remedy[] = [
  {
    text: 'Choose the format that the GPU supports yourself, so that results stay the same on every host: bf16 needs compute capability 8.0, fp8 8.9.',
    command: 'nvidia-smi --query-gpu=name,compute_cap --format=csv',
  },
  { text: 'Install what the quantised format needs.', command: 'pip install -U bitsandbytes' },
]
const FORMAT_NAME = String.raw`(?:bf(?:loat)?[ _-]?16|fp(?:8|16|32)|float(?:8|16|32)|half(?: precision)?|int(?:4|8)|nf4|[48][- ]bit|tf32)`
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^bf/, 'bf16'],
  [/^(?:fp|float)16|^half/, 'fp16'],
  [/^(?:fp|float)32/, 'fp32'],
  [/^(?:fp|float)8/, 'fp8'],
  [/^int8|^8/, 'int8'],
  [/^int4|^4/, 'int4'],
]
const nameOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : (NAMES.find(([pattern]) => pattern.test(text.toLowerCase()))?.[1] ?? text.toLowerCase())
const toCpu = (): Facts => ({ from: 'cuda', to: 'cpu' })
/** ONNX Runtime names the library that it lacks in the lines before. */
const onnx = ({ text, at }: Seen): Facts => ({
  ...toCpu(),
  ...known({ library: /\b(lib(?:cu|nv)\w{1,40}\.so(?:\.\d{1,4}){0,3}): cannot open/.exec(around(text, at, 3, 1))?.[1] }),
})
const severity = 'warning'
const cpuTitle = 'Running on the CPU instead of the GPU'
const GPU_WORD = String.raw`(?:CUDA|GPU|NVIDIA|cuda|gpu|ROCm|TensorRT)`
const FALL = String.raw`(?:[Ff]alling back|[Ff]all(?:s|en)? ?back|[Ff]ell back|[Ff]allback|[Ss]witch(?:ing|ed)|[Dd]efaulting|[Rr]everting|[Rr]etry(?:ing)?|[Rr]unning|[Uu]sing|[Cc]ontinuing|[Uu]se)`

export const precisionFallback = ruleFamily({
  id: 'precision-fallback',
  kind: 'precision_fallback',
  literals: [
    'alling back',
    'GPU will not be used',
    'CPU will be used',
    'not compiled with GPU offload support',
    'CUDA is not available. Disabling',
    'msg="inference compute"',
    'not supported on ',
    'does not have native support for FP8',
    'have been automatically converted to use the',
    'allback to ',
    'ell back to ',
    'efaulting to ',
    'using CPU',
    'Using CPU',
    'sing the CPU',
    'retrying with CPU',
    'retrying on CPU',
    'etrying on the CPU',
    'running on CPU',
    'Running on CPU',
    'running on the CPU',
    'witching to CPU',
    'itching to cpu',
    'no compatible GPUs were discovered',
    'Failed to create CUDAExecutionProvider',
    'Failed to create TensorrtExecutionProvider',
    'no usable GPU found',
  ],
  rules: [
    {
      pattern:
        /GPU will not be used|\b(?:GPU|CUDA)\b.{0,80}CPU will be used|not compiled with GPU offload support|CUDA is not available\. Disabling|msg="inference compute".{0,80}\blibrary=cpu\b/,
      severity,
      title: cpuTitle,
      remedies: CPU,
      facts: toCpu,
      verdict: 'The program found no GPU that it can use and goes on with the CPU: many times slower.',
    },
    {
      pattern: new RegExp(`\\b(${FORMAT_NAME}) (?:is )?not supported on .{0,60}(?:[Uu]sing|[Ll]oading (?:in|as)) (${FORMAT_NAME})\\b`, 'i'),
      severity,
      title: 'Another number format than asked for',
      remedies: FORMAT,
      facts: ({ match }) => known({ from: nameOf(match[1]), to: nameOf(match[2]) }),
      verdict: 'The format that was asked for is not available on this device; the program goes on in another.',
    },
    {
      pattern: /does not have native support for FP8/,
      severity,
      title: 'Another number format than asked for',
      remedies: FORMAT,
      facts: () => ({ from: 'fp8' }),
      verdict: 'This GPU cannot compute in FP8: weights stay small, the computing is done in 16 bit.',
    },
    {
      pattern: new RegExp(`have been automatically converted to use the (\\w{1,20}) compute type`),
      severity,
      title: 'Another number format than asked for',
      remedies: FORMAT,
      facts: ({ match, message }) => known({ from: nameOf(/inferred from the saved model is (\w{1,20})/.exec(message)?.[1]), to: nameOf(match[1]) }),
      verdict: 'The format of the model is not available on this device; its weights were converted to another.',
    },
    {
      pattern: /no compatible GPUs were discovered|no usable GPU found/,
      severity,
      title: cpuTitle,
      remedies: CPU,
      facts: toCpu,
      verdict: 'ollama or llama.cpp found no GPU that it can use and works on the CPU: many times slower.',
    },
    {
      pattern: /Failed to create (?:CUDA|Tensorrt)ExecutionProvider/,
      severity,
      title: cpuTitle,
      remedies: CPU,
      facts: onnx,
      verdict: 'ONNX Runtime could not start its CUDA provider and works on the CPU: many times slower. The lines before it name the library that is missing.',
    },
    {
      pattern: new RegExp(`${FALL} (?:to |with |on |in )?(?:the )?["'\`]?(?:CPU|cpu)\\b`),
      severity,
      title: cpuTitle,
      remedies: CPU,
      facts: toCpu,
      verdict: 'The program does not use the GPU and goes on with the CPU: many times slower.',
      // "Using CPU" alone says nothing of a GPU that was wanted.
      unless: ({ match, message, text, at }) => {
        const before = `${text[at - 1] ?? ''} ${text[at - 2] ?? ''} ${message.slice(Math.max(0, match.index - 200), match.index + match[0].length + 60)}`
        return (
          !new RegExp(GPU_WORD).test(before) ||
          /[Oo]p(?:erator)? '?aten|MPS backend|if (?:no|CUDA|GPU)\b/.test(before) ||
          (/\b(?:[Uu]se|[Uu]sing|[Rr]unning)\b/.test(match[0]) &&
            !/\b(?:not|no|No|Neither|without|fail\w{0,3}|unavailable|cannot|Could|instead|error|False)\b/.test(before))
        )
      },
    },
    {
      pattern: new RegExp(
        `(?:[Ff]alling back|[Ff]all(?:s|en)? ?back|[Ff]ell back|[Ff]allback|[Dd]efaulting|[Ss]witching) to (?:using )?(?:torch\\.)?["'\`]?(${FORMAT_NAME})\\b`,
        'i',
      ),
      severity,
      title: 'Another number format than asked for',
      remedies: FORMAT,
      facts: ({ match, message }: Seen) => {
        const before = message.slice(Math.max(0, match.index - 200), match.index)
        const from = new RegExp(`\\b${FORMAT_NAME}\\b`, 'i').exec(before)?.[0] ?? (/bitsandbytes|quanti[sz]/i.test(before) ? 'int4' : undefined)
        return known({ from: nameOf(from), to: nameOf(match[1]) })
      },
      verdict: ({ match }) =>
        `The format that was asked for is not available here; the program goes on in ${nameOf(match[1]) ?? 'another'}: memory use, speed and results differ from what was planned.`,
    },
  ],
})
