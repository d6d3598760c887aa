// TensorRT and TensorRT-LLM without memory for one part of their work: scratch space of a plugin while an engine is built, blocks of the KV cache while it serves.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { numberSet } from '../../situation/settings.ts'
import { bytesOf } from '../quantity.ts'
import { known } from '../parts/window.ts'
import { memoryFamily } from './rules.ts'

export const cudaOomTensorrt = memoryFamily(
  'cuda-oom-tensorrt',
  ['bytes of scratch space, but only ', "Can't allocate new blocks"],
  [
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
