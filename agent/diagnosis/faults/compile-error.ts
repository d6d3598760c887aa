// A kernel needs more on-chip memory than a multiprocessor of this GPU has: Triton's "out of resource".
import { gibAsPrinted as gib } from '../../text/bytes.ts'
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, whole } from './parts/window.ts'
import type { Piece } from './remedies/plan.ts'

const facts = ({ match }: Seen): Facts =>
  known({
    pattern: match[1]?.replaceAll(' ', '_'),
    ...(match[1] === 'shared memory' ? { requested_bytes: whole(match[2]), limit_bytes: whole(match[3]) } : {}),
  })

/** The frames above the failure name the kernel: another backend helps only where attention runs. */
const ATTENTION = /atten?tion|attn|prefix_prefill|prefill|decode_att|flash|\bmla\b|paged/i
const FP8_MATMUL = /\bw8a8_block_fp8_matmul\b|fp8_utils\.py|fp8_kernel\.py/
const FRAMES = /File "[^"\n]{1,300}", line \d{1,7}, in \w{1,80}/g
function inAttention(text: string): boolean {
  const own = [...text.matchAll(FRAMES)].map(([frame]) => frame).filter((frame) => !/[/\\](?:triton|torch)[/\\]/.test(frame))
  const last = own.at(-1)
  return last === undefined || ATTENTION.test(last)
}

function remedies({ situation, facts: { requested_bytes: asked, limit_bytes: limit } }: Matched): readonly Piece[] {
  const { programs } = situation()
  const server = programs.has('vllm') || programs.has('sglang')
  const factor = asked === undefined || limit === undefined || limit === 0 ? undefined : asked / limit
  return [
    !server && {
      text: `Use smaller blocks or fewer num_stages for this kernel${factor === undefined || factor < 1.05 ? '' : ` (it asks for ${factor.toFixed(1)} times of what there is)`}: ${limit !== undefined && limit >= 232_448 ? 'no GPU of NVIDIA has more' : 'its configuration was tuned for a larger GPU'}.`,
    },
    programs.has('vllm') &&
      inAttention(situation().text) &&
      situation().vendor !== 'amd' && {
        text: 'In vLLM use another attention backend, which has other kernels (--attention-backend; before 0.12 VLLM_ATTENTION_BACKEND).',
      },
    /torchinductor|_inductor\b/.test(situation().text) && {
      text: 'The kernel was made by torch.compile: run without it (SGLang: no --enable-torch-compile; vLLM: --enforce-eager), or let it compile in another mode.',
    },
    programs.has('sglang') &&
      inAttention(situation().text) &&
      situation().vendor !== 'amd' &&
      !/torchinductor|_inductor\b/.test(situation().text) && {
        text: 'In SGLang use another attention backend, which has other kernels.',
        command: '--attention-backend flashinfer',
      },
    server &&
      FP8_MATMUL.test(situation().text) && {
        text: 'The kernel multiplies FP8 weights: take a version of the model in another format (bf16, or AWQ or GPTQ in 4 bit), for which this GPU has kernels.',
      },
    {
      text: 'Update the library that brings the kernel: releases add configurations for more GPUs.',
      command: 'pip list | grep -iE "triton|torch|vllm|sglang"',
    },
  ]
}

export const compileError = ruleFamily({
  id: 'compile-error',
  kind: 'compile_error',
  literals: ['out of resource: ', 'not supported in this architecture', 'Could not find any implementation for node'],
  facts,
  rules: [
    {
      pattern: /out of resource: (shared memory|registers|threads|tensor memory), Required: (\d{1,12}), Hardware limit: (\d{1,12})/,
      severity: 'critical',
      title: 'A kernel does not fit the GPU',
      verdict: ({ match }) =>
        match[1] === 'shared memory'
          ? `A Triton kernel needs ${match[2]} bytes (${gib(Number(match[2]))}) of the GPU's on-chip shared memory, and a multiprocessor of this GPU gives it ${match[3]} (${gib(Number(match[3]))}).`
          : `A Triton kernel needs ${match[2]} ${match[1]}, and this GPU gives it ${match[3]}.`,
      remedies,
      // Inductor lists what it tried; the best one runs.
      unless: ({ text, at }) => /\binf ms\b|Runtime error during autotuning|skipping config/.test(text[at] ?? ''),
    },
    {
      // Triton lists what the GPU has. https://github.com/vllm-project/vllm/issues/26431
      pattern: /type (fp8e4nv|fp8e4b8|fp8e5b16) not supported in this architecture/,
      severity: 'critical',
      title: 'No such 8-bit format on this GPU',
      verdict: ({ match }) =>
        `A Triton kernel uses ${match[1]}, which this GPU does not have${match[1] === 'fp8e4nv' ? ': it needs compute capability 8.9 (Ada, Hopper or newer)' : ''}.`,
      remedies: ({ match, situation }) => [
        situation().programs.has('vllm') && {
          text: 'In vLLM keep the KV cache in the format of the model, if fp8 is set for it.',
          command: '--kv-cache-dtype auto',
        },
        {
          text: `Use weights in a format that this GPU computes with: bf16, fp16, INT8, GGUF${match[1] === 'fp8e4nv' ? ', or fp8_e5m2 where the program offers it' : ''}.`,
        },
        /\btriton_\w{2,6}_fused|torchinductor/.test(situation().text) && {
          text: 'Or leave torch.compile out: PyTorch itself converts from this format on any GPU.',
        },
      ],
      facts: () => ({}),
    },
    {
      // TensorRT tries its kernels for each layer; none ran.
      pattern: /Could not find any implementation for node \{?([^\s})]{0,79}[^\s}).])/,
      severity: 'critical',
      // What lacked memory says so, with the figure.
      unless: ({ text, at }) =>
        /GPU memory \(\d{1,18} bytes\) could not be allocated|\(out of memory\)|Error Code 2: OutOfMemory/.test(around(text, at, 12, 2)),
      title: 'TensorRT has no kernel for a layer',
      verdict: ({ match }) =>
        `TensorRT found no kernel for ${match[1]} that runs on this GPU within the limits of the build: too little memory to try them, or a type or shape that none supports.`,
      remedies: [
        { text: 'Give the builder more memory (memPoolSize, workspace): kernels that do not fit are left out.' },
        { text: 'Allow another precision for the layer (FP16 beside INT8 or FP8), or simplify the graph there.' },
        { text: 'Build with a newer TensorRT: releases add kernels.', command: 'pip list | grep -i tensorrt' },
      ],
      facts: () => ({}),
    },
  ],
})
