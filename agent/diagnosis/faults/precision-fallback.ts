// A program goes on with less than it was asked for: on the CPU instead of the GPU, or in another number format.
import type { Facts } from '../../model/facts.ts'
import { around, known } from './parts/window.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { COMPUTE_CAP } from './remedies/gpu.ts'
import { NO_MEMORY, onTheCpu as cpu } from './remedies/on-the-cpu.ts'
import { pipInstall } from './remedies/pip.ts'
import type { Piece } from './remedies/plan.ts'

/** Ultralytics names the part that it moves. */
const STEP = /OutOfMemoryError in (\w{1,60}), using CPU/

function format({ facts, message, situation }: Matched): readonly Piece[] {
  if (/bitsandbytes[^.\n]{0,40}(?:not (?:found|installed|available)|missing)/i.test(message))
    return [
      { text: 'Install bitsandbytes, then the 4-bit or 8-bit format works again.', command: pipInstall(situation(), 'bitsandbytes') },
      { text: 'Or choose the 16-bit format yourself, and plan for the memory that it takes.' },
    ]
  if (/ctranslate2|faster.?whisper|compute type/i.test(`${message} ${situation().text}`))
    return [
      {
        text: `Choose the number type yourself: compute_type="int8" needs least memory${facts.to === 'fp32' ? ', and float32 twice that of float16' : ''}; "auto" takes the fastest that works. On a CPU by mistake: device="cuda".`,
      },
      { text: 'See what this device supports.', command: 'python -c "import ctranslate2; print(ctranslate2.get_supported_compute_types(\'cuda\'))"' },
    ]
  const needs: Readonly<Record<string, string>> = {
    bf16: 'bf16 needs compute capability 8.0',
    fp8: 'fp8 needs compute capability 8.9',
    fp16: 'fp16 needs a GPU with fast 16-bit arithmetic',
  }
  const need = facts.from === undefined ? undefined : needs[facts.from]
  return [
    { text: `Choose a format that the GPU supports yourself${need === undefined ? '' : ` (${need})`}.` },
    situation().vendor === 'amd'
      ? { text: 'See which GPU it is.', command: 'rocminfo | grep -i gfx' }
      : situation().vendor === 'intel'
        ? { text: 'See which GPU it is.', command: 'xpu-smi discovery' }
        : { text: 'See what this GPU supports.', command: COMPUTE_CAP },
  ]
}
/** The format is not what is missing. */
const WITHOUT_GPU = /\b(?:CUDA|GPU|ROCm)(?: device)? (?:is |was )?(?:not (?:found|available|detected)|unavailable)|\bno (?:CUDA|GPU)\b/i
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
const CPU_WANTED: Piece = { text: 'If the CPU is intended, nothing is wrong: request float32 (Whisper: fp16=False) to stop the warning.' }
const severity = 'warning'
const cpuTitle = 'Running on the CPU instead of the GPU'
const GPU_WORD = String.raw`(?:CUDA|GPU|NVIDIA|cuda|gpu|ROCm|TensorRT|vram|VRAM)`
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
    'all back to ',
    'ell back to ',
    'efaulting to ',
    'sing CPU',
    'sing the CPU',
    'retrying with CPU',
    'retrying on CPU',
    'etrying on the CPU',
    'unning on CPU',
    'unning on the CPU',
    'witching to CPU',
    'itching to cpu',
    'no compatible GPUs were discovered',
    'compatible gpu libraries',
    'Failed to create CUDAExecutionProvider',
    'Failed to create TensorrtExecutionProvider',
    'is not in available provider names',
    'registered successfully',
    'no usable GPU found',
    'offloaded 0/',
  ],
  rules: [
    {
      pattern: /offloaded 0\/([1-9]\d{0,3}) layers to GPU/,
      severity,
      title: 'No layer of the model is on the GPU',
      verdict: ({ match }) => `None of the ${match[1]} layers was put on the GPU, so the CPU computes the whole model: many times slower.`,
      remedies: ({ situation }) =>
        situation().programs.has('ollama')
          ? [
              {
                text: 'See why in the log of the server, above this line: memory that was free on each GPU, and what the model needs.',
                command: 'journalctl -u ollama --no-pager | grep -iE "gpu|memory|library" | tail -n 30',
              },
              { text: 'If other models or programs hold the memory: unload them, and load this one again.', command: 'ollama ps; nvidia-smi' },
              { text: 'If num_gpu is set to 0 in the request or the Modelfile: take it out.' },
            ]
          : [{ text: 'Put the layers on the GPU; with fewer than all the rest stays on the CPU.', command: '--n-gpu-layers 99' }],
      facts: toCpu,
    },
    {
      // TensorFlow says it whenever it is imported, also by a program that computes with PyTorch.
      pattern: /Could not find cuda drivers on your machine, GPU will not be used/,
      severity,
      title: 'TensorFlow runs on the CPU',
      remedies: cpu,
      facts: toCpu,
      verdict:
        'TensorFlow found no CUDA driver: what it computes runs on the CPU, many times slower. Other frameworks of the same program may still use a GPU.',
      unless: ({ situation }) => situation().programs.has('pytorch'),
    },
    {
      pattern:
        /(?<!on your machine, )GPU will not be used|\b(?:GPU|CUDA)\b.{0,80}CPU will be used|CUDA is not available\. Disabling|msg="inference compute".{0,80}\blibrary=cpu\b/,
      severity,
      title: cpuTitle,
      remedies: cpu,
      facts: toCpu,
      verdict: 'The program found no GPU that it can use and continues on the CPU: many times slower.',
    },
    {
      // llama.cpp, common/arg.cpp: llama_supports_gpu_offload() is false, whatever GPU there is.
      pattern:
        /not compiled with GPU offload support|no usable GPU found, --(?:gpu-layers|n-gpu-layers|main-gpu|split-mode|tensor-split) options? will be ignored/,
      severity,
      title: cpuTitle,
      facts: toCpu,
      verdict: ({ match }) =>
        match[0].startsWith('no usable')
          ? 'llama.cpp found no GPU that it can use, and computes on the CPU: it was built without a GPU backend, or the driver shows none.'
          : 'This llama.cpp was built without support for a GPU, so it computes on the CPU: many times slower.',
      remedies: (matched) => [
        {
          text: 'Build it with support for the GPU (Vulkan: -DGGML_VULKAN=ON, ROCm: -DGGML_HIP=ON), or take a release or image that has it.',
          command: 'cmake -B build -DGGML_CUDA=ON && cmake --build build --config Release -j',
        },
        matched.match[0].startsWith('no usable') && cpu(matched),
      ],
    },
    {
      // Whisper: the device it names is not the one that was wanted.
      pattern: new RegExp(`\\b(${FORMAT_NAME}) (?:is )?not supported on (?:the )?CPU\\b.{0,60}using (${FORMAT_NAME})\\b`, 'i'),
      severity,
      title: cpuTitle,
      remedies: (matched) => (matched.situation().text.includes('--device cpu') ? [CPU_WANTED] : [cpu(matched), CPU_WANTED]),
      facts: ({ match }) => known({ from: nameOf(match[1]), to: nameOf(match[2]) }),
      verdict: ({ match }) => `The program runs on the CPU, many times slower than on a GPU, and therefore uses ${nameOf(match[2])}.`,
    },
    {
      pattern: new RegExp(`\\b(${FORMAT_NAME}) (?:is )?not supported on .{0,60}(?:[Uu]sing|[Ll]oading (?:in|as)) (${FORMAT_NAME})\\b`, 'i'),
      severity,
      title: 'Another number format than asked for',
      remedies: format,
      facts: ({ match }) => known({ from: nameOf(match[1]), to: nameOf(match[2]) }),
      verdict: 'The format that was asked for is not available on this device; the program goes on in another.',
    },
    {
      pattern: /does not have native support for FP8/,
      severity,
      title: 'Another number format than asked for',
      remedies: format,
      facts: () => ({ from: 'fp8' }),
      verdict: 'This GPU cannot compute in FP8: weights stay small, the computing is done in 16 bit.',
    },
    {
      pattern: new RegExp(`have been automatically converted to use the (\\w{1,20}) compute type`),
      severity,
      title: 'Another number format than asked for',
      remedies: format,
      facts: ({ match, message }) => known({ from: nameOf(/inferred from the saved model is (\w{1,20})/.exec(message)?.[1]), to: nameOf(match[1]) }),
      verdict: 'The format of the model is not available on this device; its weights were converted to another.',
    },
    {
      // Ollama to 0.10 prints this with OLLAMA_DEBUG before it starts a model; that it knows of a GPU is above.
      pattern: /msg="compatible gpu libraries" compatible=\[\]/,
      severity,
      title: cpuTitle,
      remedies: [
        {
          text: 'See whether its libraries are there (libggml-cuda.so, libggml-hip.so): the folder belongs beside the program.',
          command: 'command -v ollama; ls -R /usr/local/lib/ollama /usr/lib/ollama',
        },
        { text: 'Reinstall Ollama with everything in its archive.', command: 'curl -fsSL https://ollama.com/install.sh | sh' },
        { text: "From a distribution's packages: they part it by vendor (Arch: ollama-cuda, ollama-rocm)." },
      ],
      facts: toCpu,
      verdict: 'Ollama sees a GPU and finds none of its own libraries for one, so it works on the CPU: its installation is incomplete.',
      unless: ({ text, at }) =>
        !/msg="inference compute"[^\n]{0,200}library=(?:cuda|rocm)|\blibrary=(?:cuda|rocm) (?:gpu_count|layers\.requested)=/i.test(around(text, at, 200, 0)),
    },
    {
      pattern: /no compatible GPUs were discovered|no usable GPU found/,
      severity,
      title: cpuTitle,
      remedies: cpu,
      facts: toCpu,
      verdict: 'Ollama or llama.cpp found no GPU that it can use and works on the CPU: many times slower.',
    },
    {
      pattern: /Specified provider '(?:CUDA|Tensorrt|ROCM|MIGraphX)ExecutionProvider' is not in available provider names[^\n]{0,200}/,
      severity,
      title: cpuTitle,
      remedies: cpu,
      facts: onnx,
      verdict: 'This ONNX Runtime has no provider for the GPU, so the model runs on the CPU: many times slower.',
      // Of several that are named the next one is taken.
      unless: ({ match }) => /Available providers:[^\n]*(?:CUDA|ROCM|MIGraphX)Exec/.test(match[0]),
    },
    {
      // The Rust binding, pykeio/ort.
      pattern: /No execution providers (?:from session options )?registered successfully/,
      severity,
      title: cpuTitle,
      remedies: [
        { text: 'See why each provider failed: ort logs the reason at debug level.', command: 'RUST_LOG=ort=debug <COMMAND>' },
        { text: 'Build with the feature "cuda" of ort (and of the crate that uses it), and keep the provider libraries beside the program.' },
      ],
      facts: onnx,
      verdict: 'No provider for the GPU could be started, so ONNX Runtime runs the model on the CPU: many times slower.',
    },
    {
      pattern: /Failed to create (?:CUDA|Tensorrt)ExecutionProvider/,
      severity,
      title: cpuTitle,
      remedies: cpu,
      facts: onnx,
      verdict: 'ONNX Runtime could not start its CUDA provider and works on the CPU: many times slower.',
    },
    {
      pattern: new RegExp(`${FALL} (?:to |with |on |in )?(?:the )?["'\`]?(?:CPU|cpu)\\b`),
      severity,
      title: cpuTitle,
      remedies: cpu,
      facts: toCpu,
      verdict: ({ message }) =>
        /\bmay fallback/i.test(message)
          ? 'The program leaves too little GPU memory for its work: it may run on the CPU, many times slower, or out of memory.'
          : NO_MEMORY.test(message)
            ? `GPU memory ran out${STEP.test(message) ? ` in ${STEP.exec(message)?.[1]}, so that step was computed` : ', so the program continues'} on the CPU: many times slower.`
            : 'The program found no GPU that it can use and continues on the CPU: many times slower.',
      // "Using CPU" alone says nothing of a GPU that was wanted.
      unless: ({ match, message, text, at }) => {
        const before = `${text[at - 1] ?? ''} ${text[at - 2] ?? ''} ${message.slice(Math.max(0, match.index - 200), match.index + match[0].length + 60)}`
        return (
          !new RegExp(GPU_WORD).test(before) ||
          /[Oo]p(?:erator)? '?aten|MPS backend|if (?:no|CUDA|GPU)\b/.test(before) ||
          (/\b(?:[Uu]se|[Uu]sing|[Rr]unning)\b/.test(match[0]) &&
            !NO_MEMORY.test(before) &&
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
      remedies: (matched) => (WITHOUT_GPU.test(matched.message) ? cpu(matched) : format(matched)),
      facts: ({ match, message }: Seen) => {
        const before = message.slice(Math.max(0, match.index - 200), match.index)
        const from = new RegExp(`\\b${FORMAT_NAME}\\b`, 'i').exec(before)?.[0] ?? (/bitsandbytes|quanti[sz]/i.test(before) ? 'int4' : undefined)
        return known({ from: nameOf(from), to: nameOf(match[1]) })
      },
      verdict: ({ match, message }) =>
        `${WITHOUT_GPU.test(message) ? 'The program found no GPU that it can use' : 'The format that was asked for is not available here'}; the program goes on in ${nameOf(match[1]) ?? 'another'}: memory use, speed and results differ.`,
    },
  ],
})
