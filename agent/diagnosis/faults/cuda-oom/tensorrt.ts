// TensorRT and TensorRT-LLM without GPU memory: while an engine is built (a build that goes on, and one that fails), and while it serves.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Facts } from '../../../model/facts.ts'
import { numberSet } from '../../situation/settings.ts'
import type { Situation } from '../../situation/situation.ts'
import { bytesOf } from '../quantity.ts'
import { known } from '../parts/window.ts'
import { whoHolds } from '../remedies/gpu.ts'
import type { Piece } from '../remedies/plan.ts'
import { lessInTensorrt, lessInTensorrtLlm } from './less/servers.ts'
import { memoryFamily, type MemoryRule } from './rules.ts'

/** The builder measures kernels and leaves out those that it has no memory for. */
const LEAVES_OUT = /Skipping tactic [^\n]{0,40}due to (?:insufficient memory|exception)|Try decreasing the workspace size/
const FAILED =
  /[Ee]ngine could not be created|Engine building failed|Could not find any implementation|buildSerializedNetwork: Error|Failed to create engine|failed to build/i
const NO_KERNEL = /Could not find any implementation for node \{?([^\s})]{0,79}[^\s}).])/
const BUILDING =
  /Skipping tactic|trtexec|\bIBuilder\b|[Bb]uild(?:ing)? (?:\w{1,20} ){0,4}engine|Engine building|timing cache|\[TRT\] \[W\]|trtllm-build|Setting layouts of network/
const who = ({ programs }: Situation): string => (programs.has('tensorrt_llm') ? 'TensorRT-LLM' : 'TensorRT')

function says({ requested_bytes: asked }: Facts, situation: Situation): string {
  const { text } = situation
  const head = `${who(situation)} could not allocate ${asked === undefined ? 'memory' : gib(asked)} on the GPU`
  if (!BUILDING.test(text))
    return `${head}. ${asked === undefined ? 'Cause unknown: the message carries no figures.' : 'What else holds the card is not in the message.'}`
  if (!FAILED.test(text))
    return LEAVES_OUT.test(text)
      ? `${head} while it built an engine. The builder leaves out the kernels that want so much, and goes on: the engine may get slower.`
      : `${head} while it built an engine.`
  const node = NO_KERNEL.exec(text)?.[1]
  return `${head} while it built an engine, and the build failed${node === undefined ? '' : `: no kernel of ${node} fits`}.`
}
function needLess(situation: Situation): readonly Piece[] {
  const { text, programs } = situation
  if (programs.has('tensorrt_llm')) return [lessInTensorrtLlm(situation, BUILDING.test(text)), whoHolds(situation)]
  if (!BUILDING.test(text)) return [lessInTensorrt(), whoHolds(situation)]
  return [
    FAILED.test(text) && {
      text: 'Build for smaller inputs (batch, resolution or length of the largest shape), or in FP16: what the fused layers need grows with them.',
    },
    LEAVES_OUT.test(text) && {
      text: 'Keep the workspace below what is free on the GPU: the builder then tries only kernels that fit (in code set_memory_pool_limit; trtexec before 8.4 --workspace).',
      command: '--memPoolSize=workspace:<MIB>',
    },
    !FAILED.test(text) && !LEAVES_OUT.test(text) && { text: 'Give the builder a smaller workspace, and build for smaller batches or shapes.' },
    whoHolds(situation),
  ]
}
const refused = (pattern: RegExp): MemoryRule => ({
  pattern,
  severity: ({ text }) => (LEAVES_OUT.test(text) && !FAILED.test(text) ? 'warning' : 'critical'),
  facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
  verdict: says,
  remedies: needLess,
})

export const cudaOomTensorrt = memoryFamily(
  'cuda-oom-tensorrt',
  [
    'bytes of scratch space, but only ',
    "Can't allocate new blocks",
    'Requested amount of GPU memory',
    'Cuda Runtime (out of memory)',
    'Error Code 2: OutOfMemory',
    ': 2 (out of memory)',
  ],
  [
    refused(/Requested amount of GPU memory \((\d{1,18}) bytes\) could not be allocated/),
    refused(/Error Code 2: OutOfMemory(?: \(Requested size was (\d{1,18}) bytes)?/),
    refused(/Cuda Runtime \(out of memory\)(?:.{0,40}?Requested amount of GPU memory \((\d{1,18}) bytes)?/),
    // Up to 7.x.
    refused(/Cuda Error in (?:\w{1,30}::){0,3}\w{1,30}: 2 \(out of memory\)/),
    {
      pattern: /requires (\d{1,18}) bytes of scratch space, but only (\d{1,18}) is available/,
      facts: ([, asked, free]) => known({ requested_bytes: bytesOf(asked, ''), free_bytes: bytesOf(free, '') }),
      verdict: ({ requested_bytes: asked, free_bytes: free }) =>
        `TensorRT could not build the engine: a plugin needs ${asked === undefined ? 'more' : gib(asked)} of scratch space on the GPU, and ${free === undefined ? 'less' : gib(free)} is there.`,
      remedies: ({ settings, text }, { requested_bytes: asked, free_bytes: free }) => {
        const batch = numberSet(settings, 'max_batch_size') ?? Number(/--max_batch_size[= ]"?(\d{1,6})/.exec(text)?.[1] ?? Number.NaN)
        const fits = asked === undefined || free === undefined || Number.isNaN(batch) ? undefined : Math.floor((batch * free) / asked)
        return [
          !/context_fmha/.test(text) && {
            text: 'Build with fused attention: without it the scratch space holds whole attention matrices (older build scripts: --enable_context_fmha).',
            command: '--context_fmha enable',
          },
          {
            text: `Build for smaller batches or shorter inputs${fits === undefined ? '' : ` (the space grows with the batch: ${batch} needs ${asked === undefined ? '' : gib(asked)})`}.`,
            ...(fits === undefined || fits < 1 ? {} : { command: `--max_batch_size ${fits}` }),
          },
          { text: 'Or split the model over more GPUs (tp_size): each needs a part of it.' },
        ]
      },
    },
    {
      pattern: /Can't allocate new blocks\. No free blocks left/,
      title: "No block left in TensorRT-LLM's KV cache",
      verdict:
        'TensorRT-LLM found no free block in its KV cache for a request. The cache gets what the engine leaves free: an engine built for large batches leaves little.',
      remedies: () => [
        { text: 'Give the KV cache a larger share of the free memory, where it is set low (kv_cache_free_gpu_mem_fraction; the default is 0.9).' },
        { text: 'Build the engine for less: smaller max_batch_size, max_num_tokens and max_input_len leave more for the cache.' },
        { text: 'Send fewer or shorter requests at once, or quantize the cache (int8, fp8).' },
      ],
    },
  ],
)
