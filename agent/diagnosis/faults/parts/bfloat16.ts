// Programs that ask for bfloat16 where the GPU has none.
import { hostOf, vllmOption } from '../cuda-oom/less/vllm-host.ts'
import type { Rule } from './rules.ts'
import { around } from './window.ts'

export const BFLOAT16_LITERALS = ['bf16 precision was requested but not available']

export const bfloat16Rules: readonly Rule[] = [
  {
    pattern: /Bfloat16 is only supported on GPUs with compute capability of at least ([\d.]{1,5})/i,
    severity: 'critical',
    title: 'GPU without bfloat16',
    verdict: ({ message, match }) => {
      const gpu = /Your (.{3,60}?) GPU has compute capability ([\d.]{1,5})/.exec(message)
      return `The program asks for bfloat16, which needs compute capability ${match[1]?.replace(/\.$/, '') ?? '8.0'}${gpu === null ? '' : `; the ${gpu[1]} has ${gpu[2]?.replace(/\.$/, '')}`}.`
    },
    remedies: ({ situation, text, at, message }) => [
      // docs.vllm.ai, installation: compute capability 7.0 or higher.
      (/compute capability below 7\.0/.test(around(text, at, 0, 4)) ||
        (situation().programs.has('vllm') && /GPU has compute capability [3-6]\./.test(message))) && {
        text: 'vLLM needs compute capability 7.0, in any number format: use another GPU, or llama.cpp or Transformers in float16 or float32.',
      },
      situation().programs.has('vllm') || /--dtype/.test(situation().text)
        ? (vllmOption(situation(), 'Load the model in float16.', 'dtype', hostOf(situation()) === undefined ? 'half' : 'float16') ?? {
            text: 'Load the model in float16: set dtype of the vLLM engine that it starts.',
          })
        : { text: 'Load the model in float16 (torch_dtype=torch.float16) or float32.' },
      { text: 'A model that was trained in bfloat16 can overflow in float16: check its output, or run it on an Ampere or newer GPU.' },
    ],
  },
  {
    // torchtune; it says the same where PyTorch sees no GPU.
    pattern: /\bbf16 precision was requested but not available on this hardware/,
    severity: 'critical',
    title: 'No bfloat16 here',
    verdict:
      'The program asks for bfloat16, and PyTorch says that it is not available here: the GPU is older than Ampere (compute capability 8.0), or the program sees no GPU.',
    remedies: [
      {
        text: 'See which GPU the program sees, and its compute capability.',
        command: 'python -c "import torch; print(torch.cuda.is_available() and torch.cuda.get_device_capability())"',
      },
      { text: "Calculate in float32, which takes twice the memory: torchtune's dtype.", command: 'dtype=fp32' },
      { text: 'Or run it on an Ampere or newer GPU.' },
    ],
  },
]
