// Inference engines without GPU memory: vLLM, SGLang, llama.cpp (ggml), ollama, ONNX Runtime, TensorRT.
import type { Remedy } from '../../../model/fault.ts'
import { bytesOf, integerIn, SIZE, sizeIn } from '../quantity.ts'
import { memoryFamily } from './rules.ts'
import { known } from '../parts/window.ts'

const VLLM: readonly Remedy[] = [
  { text: 'Give vLLM a larger share of the card, if nothing else runs there.', command: '--gpu-memory-utilization 0.95' },
  { text: 'Need less for the cache: a shorter context, fewer sequences at once.', command: '--max-model-len 8192 --max-num-seqs 64' },
  { text: 'Spread the model over more GPUs, or load a quantised one.', command: '--tensor-parallel-size 2' },
]
const VLLM_TAKEN: readonly Remedy[] = [
  {
    text: 'See who else holds memory on the GPU, and end what should not be there.',
    command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
  },
  { text: 'Or ask for a smaller share.', command: '--gpu-memory-utilization 0.8' },
]
const GGML: readonly Remedy[] = [
  { text: 'Put fewer layers onto the GPU.', command: '--n-gpu-layers 20' },
  {
    text: 'Need less for the cache and the compute buffers: a smaller context and batch, a quantised KV cache.',
    command: '--ctx-size 8192 --ubatch-size 256 --cache-type-k q8_0 --cache-type-v q8_0 --flash-attn on',
  },
  { text: 'With ollama: the same through its settings.', command: 'OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_NUM_PARALLEL=1' },
]
const ONNX: readonly Remedy[] = [
  { text: 'Limit and shape the arena: options gpu_mem_limit and arena_extend_strategy=kSameAsRequested of the CUDA provider.' },
  {
    text: 'Use smaller batches; see who else holds memory on the GPU.',
    command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
  },
]
const DEVICE_OF_BUFFER = /\b(?:CUDA|ROCm|HIP)(\d{1,4})\b/
const deviceOf = (message: string): number | undefined => integerIn(message, /on device (\d{1,4})\b/) ?? integerIn(message, DEVICE_OF_BUFFER)

export const cudaOomInference = memoryFamily(
  'cuda-oom-inference',
  [
    'No available memory for the cache blocks',
    'is less than desired GPU memory utilization',
    'KV cache is needed, which is larger than',
    'tokens that can be stored in KV cache',
    'failed to allocate compute buffers',
    'failed to allocate buffer for kv cache',
    '--mem-fraction-static',
    'cudaMalloc failed',
    'buffer_type_alloc_buffer: allocating ',
    'Not enough memory to handle ',
    'may not have enough available memory to load this model',
    'Error Code 2: OutOfMemory',
    'CUDA runtime error in ',
    'failed to allocate CUDA',
    'failed to allocate ROCm',
    'unable to allocate CUDA',
    'unable to allocate ROCm',
    'Failed to allocate memory for requested buffer of size',
    'is smaller than requested bytes of',
    'GPU memory could not be allocated',
    'Requested amount of GPU memory',
    'Cuda Runtime (out of memory)',
  ],
  [
    {
      pattern: /No available memory for the cache blocks/,
      who: 'vLLM',
      verdict: 'After loading the model nothing is left of the share of GPU memory that vLLM may use, so there is no room for its KV cache.',
      remedies: VLLM,
    },
    {
      pattern: /Free memory on device (?:cuda:(\d{1,4}) )?\(([\d.]{1,12})\/([\d.]{1,12}) GiB\) on startup is less than desired GPU memory utilization/,
      who: 'vLLM',
      facts: ([, device, free, total], message) =>
        known({
          gpu_index: device === undefined ? undefined : Number(device),
          free_bytes: bytesOf(free, 'GiB'),
          total_bytes: bytesOf(total, 'GiB'),
          requested_bytes: sizeIn(message, new RegExp(`utilization \\([\\d.]{1,8}, ${SIZE}\\)`)),
        }),
      verdict: 'vLLM wants a larger share of the GPU than is free at its start: another process holds memory there.',
      remedies: VLLM_TAKEN,
      causes: ['other_process'],
    },
    {
      pattern: /is less than desired GPU memory utilization/,
      who: 'vLLM',
      verdict: 'vLLM wants a larger share of the GPU than is free at its start: another process holds memory there.',
      remedies: VLLM_TAKEN,
    },
    {
      pattern: /\(([\d.]{1,12}) GiB KV cache is needed, which is larger than the available KV cache memory \(([\d.]{1,12}) GiB\)/,
      who: 'vLLM',
      facts: ([, needed, available]) => known({ requested_bytes: bytesOf(needed, 'GiB'), free_bytes: bytesOf(available, 'GiB') }),
      verdict: 'One request of the longest length that the model allows would not fit the KV cache that is left after loading the model.',
      remedies: VLLM,
    },
    {
      pattern: /Not enough memory[^]{0,40}--mem-fraction-static/,
      who: 'SGLang',
      remedies: [{ text: 'Give SGLang a larger share, or a smaller model.', command: '--mem-fraction-static 0.9' }],
    },
    {
      pattern: new RegExp(`allocating ${SIZE} on device (\\d{1,4}): ?cudaMalloc failed`),
      who: 'llama.cpp',
      facts: ([, amount, unit, device]) => known({ requested_bytes: bytesOf(amount, unit), gpu_index: Number(device) }),
      remedies: GGML,
    },
    {
      pattern: /(?:failed|unable) to allocate (?:CUDA|ROCm)(\d{1,4})? buffer(?: of size (\d{1,18}))?/,
      who: 'llama.cpp',
      facts: ([, device, bytes]) => known({ requested_bytes: bytesOf(bytes, ''), gpu_index: device === undefined ? undefined : Number(device) }),
      remedies: GGML,
    },
    {
      pattern: /cudaMalloc failed:? ?out of memory/,
      who: 'The program',
      facts: (_, message) =>
        known({
          requested_bytes: bytesOf(/buffer of size (\d{1,18})/.exec(message.slice(0, 300))?.[1], ''),
          gpu_index: deviceOf(message.slice(0, 300)),
        }),
      remedies: GGML,
    },
    {
      pattern: /Failed to allocate memory for requested buffer of size (\d{1,18})/,
      who: 'ONNX Runtime',
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
      verdict: 'ONNX Runtime could not enlarge its arena, most likely on the GPU (the message does not say which device).',
      remedies: ONNX,
    },
    {
      pattern: /Available memory of (\d{1,18}) is smaller than requested bytes of (\d{1,18})/,
      who: 'ONNX Runtime',
      facts: ([, free, bytes]) => known({ free_bytes: bytesOf(free, ''), requested_bytes: bytesOf(bytes, '') }),
      remedies: ONNX,
    },
    {
      pattern: /Requested amount of GPU memory \((\d{1,18}) bytes\) could not be allocated/,
      who: 'TensorRT',
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
    },
    { pattern: /Cuda Runtime \(out of memory\)/, who: 'TensorRT' },
    {
      pattern: /Not enough memory to handle (?:\d{1,9} )?(?:total |prefill )?tokens/,
      who: 'Text Generation Inference',
      remedies: [{ text: 'Allow fewer tokens at once.', command: '--max-batch-prefill-tokens 2048 --max-total-tokens 4096' }],
    },
    { pattern: /may not have enough available memory to load this model/, who: 'ollama', remedies: GGML },
    {
      pattern: /larger than the maximum number of tokens that can be stored in KV cache/,
      who: 'vLLM',
      verdict: 'One request of the longest length that the model allows would not fit the KV cache that is left after loading the model.',
      remedies: VLLM,
    },
    { pattern: /failed to allocate (?:compute buffers|buffer for kv cache)/, who: 'llama.cpp', remedies: GGML },
    { pattern: /Error Code 2: OutOfMemory|CUDA runtime error in .{0,160}: out of memory/, who: 'TensorRT' },
  ],
)
