// Inference engines without GPU memory: vLLM, SGLang, llama.cpp (ggml), ollama, ONNX Runtime.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { printTorch } from '../remedies/environment.ts'
import { whoHolds } from '../remedies/gpu.ts'
import { IMPOSSIBLE, lessInLlamacpp, lessInOllama, OVER_LIMIT } from './less/ggml.ts'
import { lessInOnnx, lessInSglang, WEIGHTS_HELD, lessInTensorrtLlm, lessInTgi } from './less/servers.ts'
import { activationsIn, longestIn, moreCache, shortOf, smallerShare } from './less/vllm.ts'
import { numberSet } from '../../situation/settings.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Facts } from '../../../model/facts.ts'
import { bytesOf, integerIn, SIZE, sizeIn } from '../quantity.ts'
import { lessMemory } from './less/index.ts'
import { memoryFamily } from './rules.ts'
import { freeShared, restOf, sharesMemory } from './shared-memory.ts'
import { known } from '../parts/window.ts'

/** Its CPU library was loaded: it looks for CUDA with PyTorch. */
const WITHOUT_CUDA = /libbitsandbytes_cpu|bitsandbytes was compiled without GPU support/
/** llama.cpp tries again with smaller buffers; if those do not fit either, it logs another failure. */
const GOES_ON = /retrying without pipeline parallelism/
const ggml = (situation: Situation, facts: Facts): readonly Piece[] =>
  situation.programs.has('ollama') ? lessInOllama(situation, facts) : lessInLlamacpp(situation, facts)
const taken = (situation: Situation, facts: Facts): readonly Piece[] => [
  sharesMemory(situation) ? freeShared : whoHolds(situation),
  smallerShare(situation, facts),
]
const figure = (bytes: number | undefined): string => (bytes === undefined ? 'an unknown amount' : gib(bytes))
const wanted = ({ requested_bytes: asked, free_bytes: free, total_bytes: total }: Facts, situation: Situation): string =>
  asked === undefined && free === undefined
    ? 'vLLM wants a larger share of the GPU than is free at its start: another process holds memory there.'
    : `vLLM wants ${asked === undefined ? 'more' : gib(asked)} of the ${sharesMemory(situation) ? 'memory' : 'card'}'s ${figure(total)} at its start, and only ${figure(free)} is free: ${restOf(situation, (total ?? 0) - (free ?? 0))}.`
const longest = ({ requested_bytes: need, free_bytes: free }: Facts, situation: Situation): string => {
  const fits = longestIn(situation.text)
  const length = /max seq len \((\d{3,9})\)/.exec(situation.text)?.[1]
  return `One request of the longest length that the model allows${length === undefined ? '' : ` (${length} tokens)`} does not fit the KV cache${need === undefined ? '' : ` (${gib(need)} needed, ${figure(free)} available)`}.${fits === undefined ? '' : ` By vLLM's estimate ${fits} tokens fit.`}`
}
/** How many requests ran when it failed. */
function running(text: string): number | undefined {
  const found = /#running-req: (\d{1,5})/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
/** The operator that ONNX Runtime ran. */
function nodeOf({ text }: Situation): string | undefined {
  const match = /running (\w{1,40}) node\. Name: ?'([^'\n]{1,160})'/.exec(text)
  return match === null ? undefined : ` (${match[1]} node ${match[2]})`
}
/** onnxruntime/core/optimizer/nchwc_transformer.cc names the nodes that it makes so; it works on nodes of the CPU only. */
const ON_THE_CPU = /Name: ?'[^'\n]{0,160}_nchwc'/
const gibIn = (message: string, pattern: RegExp): number | undefined => bytesOf(pattern.exec(message)?.[1], 'GiB')
const DEVICE_OF_BUFFER = /\b(?:CUDA|ROCm|HIP)(\d{1,4})\b/
const deviceOf = (message: string): number | undefined => integerIn(message, /on device (\d{1,4})\b/) ?? integerIn(message, DEVICE_OF_BUFFER)

export const cudaOomInference = memoryFamily(
  'cuda-oom-inference',
  [
    'retrying without pipeline parallelism',
    'failed to create context with model',
    'No available memory for the cache blocks',
    'is less than desired GPU memory utilization',
    'Free memory on device ',
    'KV cache is needed, which is larger than',
    'To serve at least one request with the model',
    'tokens that can be stored in KV cache',
    'alloc_req_slots runs out of memory',
    'refill out of memory. Try to lower',
    'Decode out of memory. Try to lower',
    'Not enough memory, use lower resolution',
    'odules are dispatched on the CPU or the disk',
    'failed to allocate compute buffers',
    'failed to allocate buffer for kv cache',
    '--mem-fraction-static',
    'cudaMalloc failed',
    'buffer_type_alloc_buffer: allocating ',
    'Not enough memory to handle ',
    'may not have enough available memory to load this model',
    'CUDA runtime error in ',
    'failed due to insufficient GPU memory',
    'Device memory allocation of size ',
    'failed to allocate CUDA',
    'failed to allocate ROCm',
    'unable to allocate CUDA',
    'unable to allocate ROCm',
    'unable to allocate Vulkan',
    'unable to allocate SYCL',
    'Failed to allocate memory for requested buffer of size',
    'is smaller than requested bytes of',
    'GPU memory could not be allocated',
  ],
  [
    {
      pattern: /No available memory for the cache blocks/,
      who: 'vLLM',
      verdict: (_, { text }) => {
        const lacks = shortOf(text)
        const activations = activationsIn(text)
        const weights = /(?:model weights take|weights memory:|Model loading took) ([\d.]{1,8}) ?GiB/.exec(text)?.[1]
        const taken = weights === undefined ? '' : ` (weights take ${Number(weights).toFixed(2)} GiB${activations === 0 ? '' : `, activations ${activations}`})`
        return `After loading the model, nothing is left for the KV cache of the share of GPU memory that vLLM may use${taken}${lacks === 0 ? '' : `: it is ${lacks} GiB short before the first block`}.`
      },
      remedies: moreCache,
    },
    {
      pattern:
        /Free memory on device (?:(?:cuda|xpu|hip):(\d{1,4}) )?\(([\d.]{1,12})\/([\d.]{1,12}) GiB\)(?: on startup is less than desired GPU memory utilization|\s*(?:$|`))/,
      who: 'vLLM',
      facts: ([, device, free, total], message) =>
        known({
          gpu_index: device === undefined ? undefined : Number(device),
          free_bytes: bytesOf(free, 'GiB'),
          total_bytes: bytesOf(total, 'GiB'),
          requested_bytes: sizeIn(message, new RegExp(`utilization \\([\\d.]{1,8}, ${SIZE}\\)`)),
        }),
      verdict: wanted,
      remedies: taken,
      causes: ['other_process'],
    },
    {
      pattern: /is less than desired GPU memory utilization/,
      who: 'vLLM',
      verdict: wanted,
      remedies: taken,
    },
    {
      // Older releases put the first figure in brackets.
      pattern: /(?:\(?([\d.]{1,12}) Gi?B KV cach ?e is needed, which is )?larger than the available KV cache memory \(([\d.]{1,12}) Gi?B\)/,
      who: 'vLLM',
      facts: ([, needed, available]) => known({ requested_bytes: bytesOf(needed, 'GiB'), free_bytes: bytesOf(available, 'GiB') }),
      verdict: longest,
      remedies: moreCache,
    },
    {
      pattern:
        /(Prefill|Decode) out of memory\. Try to lower your batch size\.(?:\s{0,4}Try to allocate (\d{1,9}) tokens\.\s{0,4}Available tokens: (\d{1,9}))?/,
      verdict: (_, situation) => {
        const [, asked, left] = /Try to allocate (\d{1,9}) tokens\.\s{0,4}Avail\w{0,6} tokens: (\d{1,9})/.exec(situation.text) ?? []
        return `SGLang's KV cache is full${asked === undefined ? '' : `: ${asked} tokens were asked for, ${left} were left`}. Memory for tokens, not the card as a whole, ran out.`
      },
      remedies: (situation) => lessInSglang(situation, 'cache'),
    },
    {
      pattern: /alloc_req_slots runs out of memory/,
      verdict: (_, situation) => {
        const asked = /num_reqs=(\d{1,6})/.exec(situation.text)?.[1]
        const free = /available_size\(\)=(\d{1,6})/.exec(situation.text)?.[1]
        return `SGLang ran out of request slots${asked === undefined ? '' : ` (${asked} asked for${free === undefined ? '' : `, ${free} left`})`}: slots, not bytes of GPU memory.`
      },
      remedies: (situation) => [
        numberSet(situation.settings, 'max_running_requests') !== 1 && {
          text: `Let fewer requests run at once, as the message says${numberSet(situation.settings, 'max_running_requests') !== undefined || running(situation.text) === undefined ? '' : ` (half of the ${running(situation.text)} that ran)`}.`,
          command: `--max-running-requests ${Math.max(1, Math.floor((numberSet(situation.settings, 'max_running_requests') ?? running(situation.text) ?? 16) / 2))}`,
        },
      ],
    },
    {
      pattern: /Not enough memory, use lower resolution \(max approx\. (\d{2,5}x\d{2,5})\)\. Need: ?([\d.]{1,6}) ?GB free, Have: ?([\d.]{1,6})/,
      facts: ([, , need, have]) => known({ requested_bytes: bytesOf(need, 'GB'), free_bytes: bytesOf(have, 'GB') }),
      verdict: ({ requested_bytes: need, free_bytes: have }, { text }) =>
        `The GPU has too little memory for attention at this resolution${need === 0 ? '' : `: it needs ${figure(need)}, and ${figure(have)} was free`}. The web UI estimates that ${/max approx\. (\d{1,5}x\d{1,5})/.exec(text)?.[1] ?? 'a smaller image'} fits.`,
    },
    {
      pattern: /[Ss]ome modules are dispatched on the CPU or the disk/,
      verdict: (_, { text }) =>
        WITHOUT_CUDA.test(text)
          ? 'transformers would keep modules of the quantized model on the CPU or the disk, and refuses to. bitsandbytes found no CUDA here, so likely PyTorch sees no GPU to put them on.'
          : 'The quantized model does not fit the free GPU memory, so transformers would keep modules on the CPU or the disk, and refuses to.',
      remedies: (situation) => [
        WITHOUT_CUDA.test(situation.text) && {
          text: 'See first whether PyTorch sees the GPU: without one all modules go to the CPU, however small the model is.',
          command: printTorch('torch.version.cuda, torch.cuda.is_available()'),
        },
        whoHolds(situation),
        { text: "Load a smaller model or a smaller quantization, or spread it over more GPUs (device_map='auto' with all of them visible)." },
        {
          text: 'Or allow it: llm_int8_enable_fp32_cpu_offload=True in BitsAndBytesConfig, with a device_map of your own. What is on the CPU is many times slower.',
        },
      ],
    },
    {
      pattern: /Not enough memory[^]{0,40}--mem-fraction-static/,
      who: 'SGLang',
      verdict: (_, situation) => {
        const share = numberSet(situation.settings, 'mem_fraction_static')
        const [, left, held] = WEIGHTS_HELD.exec(situation.text) ?? []
        return `After loading the weights${held === undefined ? '' : ` (${held} GB; ${left} GB is left)`}, nothing is left for the KV cache of the share of the card that SGLang may use${share === undefined ? '' : ` (${share})`}.`
      },
      remedies: (situation) => lessInSglang(situation, 'start'),
    },
    {
      pattern: new RegExp(`allocating ${SIZE} on device (\\d{1,4}): ?cudaMalloc failed`),
      unless: GOES_ON,
      who: 'llama.cpp',
      facts: ([, amount, unit, device]) => known({ requested_bytes: bytesOf(amount, unit), gpu_index: Number(device) }),
      remedies: ggml,
    },
    {
      pattern: /(?:failed|unable) to allocate (?:CUDA|ROCm|Vulkan|SYCL)(\d{1,4})? buffer(?: of size (\d{1,18}))?/,
      unless: GOES_ON,
      who: 'llama.cpp',
      facts: ([, device, bytes]) => known({ requested_bytes: bytesOf(bytes, ''), gpu_index: device === undefined ? undefined : Number(device) }),
      remedies: ggml,
    },
    {
      pattern: /cudaMalloc failed:? ?out of memory/,
      unless: GOES_ON,
      facts: (_, message) =>
        known({
          requested_bytes: bytesOf(/buffer of size (\d{1,18})/.exec(message.slice(0, 300))?.[1], ''),
          gpu_index: deviceOf(message.slice(0, 300)),
        }),
      // Other programs name the call too.
      remedies: (situation, facts) =>
        situation.programs.has('ollama') || situation.programs.has('llamacpp') || situation.programs.size === 0
          ? ggml(situation, facts)
          : [lessMemory(situation, facts), whoHolds(situation)],
    },
    {
      pattern: /Failed to allocate memory for requested buffer of size (\d{1,18})/,
      who: 'ONNX Runtime',
      ofHost: ({ text }) => ON_THE_CPU.test(text),
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
      verdict: ({ requested_bytes: asked = Infinity }, situation) =>
        asked > IMPOSSIBLE
          ? `ONNX Runtime asked for more memory than any GPU has${nodeOf(situation) ?? ''}. Likely a wrong shape, or a size that was computed wrongly.`
          : ON_THE_CPU.test(situation.text)
            ? `ONNX Runtime could not enlarge its arena by ${gib(asked)}. The node has the layout of its CPU kernels (nchwc), so host memory was refused, not GPU memory.`
            : `ONNX Runtime could not enlarge its arena by ${gib(asked)}${nodeOf(situation) ?? ''}, most likely on the GPU (the message does not say which device).`,
      remedies: (situation, { requested_bytes: asked = Infinity }) =>
        asked > IMPOSSIBLE
          ? [{ text: 'Look at the shapes of the inputs that reach this node: an empty, negative or far too large dimension.' }]
          : ON_THE_CPU.test(situation.text)
            ? [
                { text: 'Send smaller inputs or batches: the arena grows with the largest one.' },
                { text: 'Use 64-bit Python, give the process more host memory, and run fewer sessions at once: each has an arena of its own.' },
              ]
            : [lessInOnnx(), whoHolds(situation)],
    },
    {
      pattern: /Available memory of (\d{1,18}) is smaller than requested bytes of (\d{1,18})/,
      who: 'ONNX Runtime',
      facts: ([, free, bytes]) => known({ free_bytes: bytesOf(free, ''), requested_bytes: bytesOf(bytes, '') }),
      remedies: (situation) => [lessInOnnx(), whoHolds(situation)],
    },
    {
      pattern: /Not enough memory to handle (?:\d{1,9} )?(?:total |prefill )?tokens/,
      who: 'Text Generation Inference',
      verdict: (_, situation) => {
        const tokens = /Not enough memory to handle (\d{1,9})/.exec(situation.text)?.[1]
        return `The warm-up of Text Generation Inference did not fit the GPU${tokens === undefined ? '' : `: ${tokens} tokens at once`}.`
      },
      remedies: lessInTgi,
    },
    { pattern: /may not have enough available memory to load this model/, who: 'ollama', remedies: ggml },
    {
      pattern: /larger than the maximum number of tokens that can be stored in KV cache/,
      who: 'vLLM',
      verdict: longest,
      remedies: moreCache,
    },
    {
      // TensorRT-LLM's PyTorch backend names the part that it could not create, and the memory before each.
      pattern: /Executor creation failed due to insufficient GPU memory/,
      who: 'TensorRT-LLM',
      facts: (_, message) =>
        known({
          total_bytes: gibIn(message, /Total GPU memory \(GiB\): ([\d.]{1,10})/),
          free_bytes: gibIn(message, /Free GPU memory before component creation attempt \(GiB\): ([\d.]{1,10})/),
        }),
      verdict: ({ free_bytes: free, total_bytes: total }, situation) => {
        const part = /component could not be created: ([\w -]{2,60})/.exec(situation.text)?.[1]?.trim()
        return `TensorRT-LLM could not create ${part === undefined ? 'its executor' : `the ${part}`}${free === undefined ? '' : `: ${figure(free)} of ${figure(total)} was free, and it needs more`}.`
      },
      remedies: (situation) => [
        { text: 'Let it hold less: a smaller kv_cache_config.free_gpu_memory_fraction, or a smaller max_batch_size, max_num_tokens and max_seq_len.' },
        { text: 'Split the model over more GPUs, or load it quantized.' },
        whoHolds(situation),
      ],
    },
    {
      pattern: OVER_LIMIT,
      facts: (_, message) => known({ requested_bytes: bytesOf(/of size (\d{1,18})/.exec(message)?.[1], '') }),
      verdict: ({ requested_bytes: asked }) =>
        `llama.cpp asked Vulkan for ${figure(asked)} in one buffer: above the driver's limit for a single buffer, however much memory is free.`,
      remedies: ggml,
    },
    {
      pattern: /(?:ggml_vulkan: )?Device memory allocation of size (\d{1,18}) failed/,
      who: 'llama.cpp',
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
      remedies: ggml,
    },
    { pattern: /failed to allocate (?:compute buffers|buffer for kv cache)/, unless: GOES_ON, who: 'llama.cpp', remedies: ggml },
    {
      pattern: /CUDA runtime error in .{0,160}: out of memory/,
      who: 'TensorRT-LLM',
      remedies: (situation) => [lessInTensorrtLlm(situation), whoHolds(situation)],
    },
  ],
)
