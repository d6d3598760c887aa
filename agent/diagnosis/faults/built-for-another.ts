// Something was built for another GPU or another version than it meets: TensorRT engines, server binaries, kernels of ROCm's libraries, extensions.
import { lookup } from '../../text/lookup.ts'
import type { Situation } from '../situation/situation.ts'
import { compareVersions } from '../situation/versions.ts'
import { ruleFamily } from './parts/rules.ts'
import { COMPUTE_CAP, WHICH_GPU } from './remedies/gpu.ts'
import { ggmlArchitecture, juliaCuda } from './parts/dropped-architecture.ts'
import type { Piece } from './remedies/plan.ts'
import { installs } from '../ends/python-packages.ts'

/** Before its version 1 engine: options for attention came with that. */
const olderVllm = ({ text, versions }: Situation): boolean =>
  versions.vllm === undefined ? /vllm\/(?:worker|engine)\/|\bengine\.py:\d/.test(text) : compareVersions(versions.vllm, '0.11') < 0

const rule = { severity: 'critical' } as const

export const builtForAnother = ruleFamily({
  id: 'built-for-another',
  kind: 'cuda_version_mismatch',
  literals: [
    'engine plan file is not compatible',
    'Version tag does not match',
    'engine plan file is generated on an incompatible device',
    'is not compatible with compile time compute cap',
    'TensileLibrary',
    'CUDA runtime error: invalid device function',
    'CUDA runtime error: no kernel image',
    'does not match the version torch was compiled with',
    'were compiled with different CUDA',
    'This kernel only supports sm',
    'ggml was not compiled with any CUDA arch',
    ' is not supported on CUDA 1',
    ' is not supported by CUDA 1',
    'only supports Ampere GPUs or newer',
  ],
  rules: [
    {
      ...rule,
      pattern:
        /Version tag does not match|engine plan file is not compatible with this version of TensorRT(?:, expecting library version (\d[\d.]{1,20}) got (\d[\d.]{1,20}))?/,
      title: 'TensorRT engine of another version',
      verdict: ({ match }) =>
        match[2] === undefined || match[1] === undefined
          ? 'The engine was built with another TensorRT than the one that loads it.'
          : `The engine was built with TensorRT ${match[2]}, and TensorRT ${match[1]} loads it; an engine runs only with the version that built it.`,
      remedies: ({ match }) => [
        { text: `Build the engine again, with the TensorRT${match[1] === undefined ? '' : ` ${match[1]}`} of the server or image that loads it.` },
        match[2] !== undefined && { text: `Or serve it with an image that has TensorRT ${match[2]}.` },
      ],
    },
    {
      ...rule,
      pattern: /engine plan file is generated on an incompatible device(?:, expecting compute (\d{1,2}\.\d) got compute (\d{1,2}\.\d))?/,
      title: 'TensorRT engine of another GPU',
      verdict: ({ match }) =>
        match[1] === undefined
          ? 'The engine was built on a GPU of another generation than the one that loads it.'
          : `The engine was built for a GPU of compute capability ${match[2]}, and this one has ${match[1]}.`,
      remedies: ({ match }) => [
        { text: `Build the engine on a GPU of the kind that runs it${match[1] === undefined ? '' : ` (compute capability ${match[1]})`}.` },
      ],
    },
    {
      ...rule,
      pattern: /[Rr]untime compute cap (\d{2,3}) is not compatible with compile time compute cap (\d{2,3})/,
      title: 'Text Embeddings Inference was built for another GPU',
      verdict: ({ match }) =>
        match[1] === match[2]
          ? `This build was compiled for compute capability ${capability(match[2])}, which this release of Text Embeddings Inference does not support.`
          : `This build is for compute capability ${capability(match[2])}, and the GPU has ${capability(match[1])}.`,
      remedies: ({ match, situation }) => embeddings(match[1] ?? '', match[2] ?? '', situation()),
    },
    {
      ...rule,
      pattern: /\[(?:TM|FT)\]\[ERROR\] CUDA runtime error: (?:invalid device function|no kernel image)/,
      title: 'LMDeploy has no kernel for this GPU',
      verdict: 'TurboMind holds no code for this GPU: its wheels are built for compute capability 7.0 (Volta) and newer, for Blackwell only in newer releases.',
      remedies: [
        WHICH_GPU,
        {
          text: 'A newer GPU: update LMDeploy (a wheel for CUDA 12.8 or newer). An older one: llama.cpp, which runs from Maxwell on.',
          command: 'pip install --upgrade lmdeploy',
        },
      ],
    },
    {
      ...rule,
      pattern: /(?:Cannot read|Illegal seek)[^\n]{0,160}TensileLibrary[^\n]{0,120}|TensileLibrary[^\n]{0,120}Illegal seek[^\n]{0,80}/,
      title: 'No kernel for this GPU in rocBLAS',
      verdict: ({ message }) => {
        const arch = /GPU arch ?: ?(gfx\w{3,5})/.exec(message)?.[1]
        return `rocBLAS holds no kernels for ${arch === undefined ? 'this GPU' : `this GPU (${arch})`}: this ROCm release was not built for it.`
      },
      remedies: [
        {
          text: 'See which architectures this rocBLAS has, and which the GPU is.',
          command: 'ls /opt/rocm/lib/rocblas/library | grep -o "gfx[0-9a-f]*" | sort -u; rocminfo | grep -i gfx',
        },
        {
          text: 'Install a ROCm release that supports the GPU. Many cards run with the code of a relative: HSA_OVERRIDE_GFX_VERSION (10.3.0 for RDNA 2, 11.0.0 for RDNA 3).',
        },
      ],
    },
    {
      ...rule,
      // op_builder/builder.py: of the same major version it says so too, and goes on.
      pattern:
        /Installed CUDA version (\d{1,2}\.\d) does not match the version torch was compiled with (\d{1,2}\.\d)(?!\s{1,4}but since the APIs are compatible)/,
      title: 'CUDA toolkit and PyTorch do not match',
      verdict: ({ match }) =>
        `DeepSpeed compiles its extensions with the CUDA toolkit of this host (${match[1]}), and PyTorch was built with CUDA ${match[2]}.`,
      remedies: ({ match }) => [
        {
          text: `Install the CUDA toolkit ${match[2]} beside the old one, and point CUDA_HOME at it.`,
          command: `export CUDA_HOME=/usr/local/cuda-${match[2]}`,
        },
        { text: `Or install a PyTorch that was built with CUDA ${match[1]}.` },
      ],
    },
    {
      ...rule,
      pattern:
        /PyTorch and ([Tt]orch\w{2,20}) were compiled with different CUDA[^.\n]{0,20}\.(?:\s{1,4}PyTorch has CUDA version[= ]{1,2}(\d{1,2}\.\d)\s{1,4}(?:and|whereas) \w{2,24} has CUDA version[= ]{1,2}(\d{1,2}\.\d))?/i,
      title: ({ match }) => `PyTorch and ${match[1]} were built for different CUDA`,
      verdict: ({ match }) =>
        `${match[1]} ${match[3] === undefined ? 'was built for another CUDA than PyTorch' : `was built for CUDA ${match[3]}, and PyTorch for ${match[2]}`}: it refuses to be loaded.`,
      remedies: ({ match }) => {
        const name = (match[1] ?? '').toLowerCase()
        const index = match[2] === undefined ? undefined : `cu${match[2].replace('.', '')}`
        return [
          {
            text: `Reinstall ${name} for the CUDA of the installed PyTorch${index === undefined ? '' : ` (${index})`}.`,
            command: /^torch(?:vision|audio)$/.test(name)
              ? `python -m pip install --force-reinstall torch ${name} --index-url https://download.pytorch.org/whl/${index ?? '<CUDA>'}`
              : `python -m pip install --force-reinstall --no-deps ${installs(name, { text: '' }).replace('<TORCH>', index === undefined ? '<TORCH>' : `<TORCH>+${index}`)}`,
          },
          { text: 'See which PyTorch it is.', command: 'python -c "import torch; print(torch.__version__)"' },
        ]
      },
    },
    {
      // vLLM, csrc/cutlass_extensions/common.hpp: printed by each thread before it traps.
      ...rule,
      pattern: /This kernel only supports sm(\d{2,3})/,
      title: 'A kernel of the server does not run on this GPU',
      verdict: ({ match, situation }) =>
        `The kernel was written for compute capability ${capability(match[1])} alone and stops itself on this GPU${/GB10|DGX Spark|sm_121/.test(situation().text) ? ', a GB10 (12.1)' : ''}: the build contains it for a relative of the GPU. The launch failure after it is no fault of the hardware.`,
      remedies: [
        { text: 'Update the server, or take an image that was built for this GPU (for GB10: nvcr.io/nvidia/vllm).' },
        { text: 'Or serve a quantization that uses other kernels (AWQ, or unquantized BF16).' },
        WHICH_GPU,
      ],
    },
    ggmlArchitecture,
    juliaCuda,
    {
      pattern: /FlashAttention only supports Ampere GPUs or newer/,
      severity: 'critical',
      title: 'GPU too old for this feature',
      verdict: ({ situation }) => {
        const gpu = /\b(?:Tesla (?:T4|[VPKM]\d{2,3})|T4|V100|Quadro RTX \d{4}|(?:RTX 20|GTX 1[06])\d{2}(?: Ti)?|P\d{1,3}|Titan \w{1,4})\b/.exec(
          situation().text,
        )?.[0]
        const here = gpu === undefined ? 'the GPU here is older' : `the ${gpu} here is older`
        return `FlashAttention 2 needs an Ampere or newer GPU (compute capability 8.0); ${here}.`
      },
      remedies: ({ situation }) => [
        situation().programs.has('vllm') &&
          (olderVllm(situation())
            ? {
                text: 'Use another attention backend: xFormers runs on older GPUs (this release of vLLM takes it from the environment).',
                command: 'export VLLM_ATTENTION_BACKEND=XFORMERS',
              }
            : { text: 'Use another attention backend.', command: '--attention-backend TRITON_ATTN' }),
        !situation().programs.has('vllm') &&
          (situation().programs.has('tgi') || situation().programs.has('tei')
            ? {
                text: 'Start the server without Flash Attention; some models then run without sharding or not at all.',
                command: '-e USE_FLASH_ATTENTION=false',
              }
            : situation().programs.has('sglang')
              ? { text: 'Use another attention backend.', command: '--attention-backend triton' }
              : { text: "Use another attention implementation (transformers: attn_implementation='sdpa')." }),
        /bfloat16|bf16/.test(situation().text) && {
          text: 'Load the model in float16: GPUs before Ampere have no bfloat16 either.',
          ...(situation().programs.has('vllm') ? { command: '--dtype half' } : {}),
        },
        { text: 'See what the GPU supports.', command: COMPUTE_CAP },
      ],
    },
  ],
})
const capability = (digits: string | undefined): string => (digits === undefined ? 'another' : `${digits.slice(0, -1)}.${digits.slice(-1)}`)

/** Text Embeddings Inference has one image for each kind of GPU: the part of its tag before the version (its README, Docker images). */
const TAGS: Readonly<Record<string, string>> = {
  '75': 'turing-',
  '80': '',
  '86': '86-',
  '89': '89-',
  '90': 'hopper-',
  '100': '100-',
  '120': '120-',
  '121': '121-',
}
function embeddings(gpu: string, built: string, { text }: Situation): readonly Piece[] {
  const tag = lookup(TAGS, gpu)
  const version = /text-embeddings-inference:(?:[\w]{1,10}-)?(\d\.\d{1,2}(?:\.\d{1,2})?)\b/.exec(text)?.[1]
  // Tags for Blackwell came with 1.9.
  const release = Number(gpu) >= 100 && !/^1\.(?:9|\d\d)|^[2-9]/.test(version ?? '') ? '1.9' : (version ?? '1.9')
  const other = { text: 'Or compute on the CPU with the image for it.', command: `docker pull ghcr.io/huggingface/text-embeddings-inference:cpu-${release}` }
  if (Number(gpu) < 75)
    return [
      {
        text: `No image runs on compute capability ${capability(gpu)}: it needs 7.5 (Turing) or newer. Use another GPU, or a server that runs there (sentence-transformers, Infinity).`,
      },
      other,
    ]
  if (tag === undefined || gpu === built)
    return [{ text: `Take a newer release: look in its README for an image or build for compute capability ${capability(gpu)}.` }, other]
  return [
    {
      text: `Take the image for compute capability ${capability(gpu)}.`,
      command: `docker pull ghcr.io/huggingface/text-embeddings-inference:${tag}${release}`,
    },
    { text: 'Built from source: compile it for this GPU.', command: `export CUDA_COMPUTE_CAP=${gpu}` },
  ]
}
