// Memory that others have measured and published, each with its source: what the estimates are held against.
import type { SettingWords } from '../../../agent/fit/settings.ts'
import type { KnownModel } from './configs.ts'

/** What was measured: PyTorch's highest sum of tensors, its cache with them, or all that the driver counts for the process. */
export type Scope = 'allocated' | 'reserved' | 'process'
export type Footprint = {
  readonly model: KnownModel
  readonly what: string
  readonly words: SettingWords
  readonly bytes: number
  readonly scope: Scope
  readonly source: keyof typeof SOURCES
  /** Why the estimate is further off than 15 %, where it is. */
  readonly off?: string
}

export const SOURCES = {
  qwen25: {
    title: 'Qwen2.5 Speed Benchmark (transformers)',
    url: 'https://github.com/QwenLM/Qwen2.5/blob/010c37c33b13a1ac59944b349620e13404efe97d/docs/source/benchmark/speed_benchmark.rst',
  },
  qwen: {
    title: 'Qwen README, Inference Performance, KV cache, Profiling of Memory and Speed',
    url: 'https://github.com/QwenLM/Qwen/blob/03cd81f5e4da6ab60fc8f97f3b8aa1206fdb08a9/README.md',
  },
  litgpt: {
    title: 'LitGPT resource tables',
    url: 'https://github.com/Lightning-AI/litgpt/blob/4839345a97a0a90bc5f2361664b04d665c9a0e89/tutorials/resource-tables.md',
  },
  litgptQuantize: {
    title: 'LitGPT, Quantize the model',
    url: 'https://github.com/Lightning-AI/litgpt/blob/03f819775040e06b436a68569cfd129d91c6a83b/tutorials/quantize.md',
  },
  anatomy: {
    title: 'transformers, Efficient Training on a Single GPU',
    url: 'https://github.com/huggingface/transformers/blob/0016acf7ef421c7fe8eff7945de52c71896c3b01/docs/source/en/perf_train_gpu_one.mdx',
  },
  peft: { title: 'PEFT README, memory for adapting LLMs', url: 'https://github.com/huggingface/peft/blob/0032f32a82fcec45748606a1b9dcc52986cef168/README.md' },
  torchtune: {
    title: 'torchtune README, Memory and training speed',
    url: 'https://github.com/pytorch/torchtune/blob/0031bfb080bd35ec533c412df883cf2bf7bf7fe4/README.md',
  },
  vllm: { title: 'vLLM pull requests 3120 and 10511', url: 'https://github.com/vllm-project/vllm/pull/10511' },
  factory: { title: 'LLaMA-Factory wiki, Performance comparison', url: 'https://github.com/hiyouga/LLaMA-Factory/wiki/Performance-comparison' },
} as const

// Why an estimate is off: what is known of the run, and `probably` where it is inferred.
const LOADING = 'a quarter of a gigabyte more whatever the model: probably the output matrix in bf16, which is quantised on the GPU while loading'
const INPUTS = 'bitsandbytes 0.41 kept the input of each frozen matrix for the way back (ctx.tensors of MatMul4Bit); later versions do not'
const JOINED = 'keys and values are joined again for each token: growing sizes fit no free block, so that part of the cache lies idle, probably'
const BUCKETS = 'DeepSpeed on one GPU too: probably its buckets and flat copies of what is trained'
const HALF_LOGITS = 'the loss probably goes over logits in fp16 without a copy in fp32, 8 bytes a word instead of 12; the low figure has that'

const GB = 1e9
const GIB = 2 ** 30
const MIB = 2 ** 20

/** Generates 2,048 tokens after a prompt; torch.cuda.max_memory_allocated in GiB: with one token of prompt it is the weights to the hundredth. */
const qwen25 = (model: KnownModel, dtype: string, prompt: number, gib: number): Footprint => ({
  model,
  what: `${dtype}, ${prompt} + 2048 tokens`,
  words: { dtype, context: String(prompt + 2_048), prompt: String(prompt) },
  bytes: gib * GIB,
  scope: 'allocated',
  source: 'qwen25',
})
/** torch.cuda.max_memory_allocated, in 10^9 bytes (finetune/lora.py, generate/base.py of LitGPT). */
const litgpt = (model: KnownModel, what: string, words: SettingWords, gb: number, off?: string): Footprint => ({
  model,
  what,
  words,
  bytes: gb * GB,
  scope: 'allocated',
  source: 'litgpt',
  ...(off === undefined ? {} : { off }),
})
const generates = (model: KnownModel, dtype: string, gb: number, off?: string): Footprint =>
  litgpt(model, `${dtype}, short text`, { dtype, context: '64' }, gb, off)
const tunes = (model: KnownModel, dtype: string, context: number, batch: number, gb: number, off?: string): Footprint =>
  litgpt(
    model,
    `LoRA r8 of q and v over ${dtype}, ${batch} x ${context}`,
    { train: 'lora', dtype, rank: '8', targets: 'qv', context: String(context), batch: String(batch) },
    gb,
    off,
  )
/** Less the 1,343 MB that the page measured for CUDA's context and kernels alone; V100, CUDA 11.2, attention as it was in 2022. */
const anatomy = (what: string, words: SettingWords, mib: number, off?: string): Footprint => ({
  model: 'BERT large',
  what,
  words: { train: 'full', dtype: 'fp32', context: '512', attention: 'eager', ...words },
  bytes: (mib - 1_343) * MIB,
  scope: 'reserved',
  source: 'anatomy',
  ...(off === undefined ? {} : { off }),
})
/** LoRA with rank 64 of all matrices, bf16, checkpointing as in finetune_lora_single_gpu.sh. */
const qwenLora = (model: KnownModel, context: number, gb: number): Footprint => ({
  model,
  what: `LoRA r64 over bf16, 1 x ${context}`,
  words: { train: 'lora', dtype: 'bf16', rank: '64', checkpointing: 'on', context: String(context) },
  bytes: gb * GB,
  scope: 'process',
  source: 'qwen',
})
const qwenQlora = (model: KnownModel, context: number, gb: number, off?: string): Footprint => ({
  ...qwenLora(model, context, gb),
  what: `Q-LoRA r64 over GPTQ int4, 1 x ${context}`,
  words: { train: 'qlora', dtype: 'int4', rank: '64', checkpointing: 'on', context: String(context) },
  ...(off === undefined ? {} : { off }),
})
const qwenMakes = (dtype: string, context: number, batch: number, gb: number, off?: string): Footprint => ({
  model: 'Qwen 7B',
  what: `${dtype}, ${batch} x ${context} tokens made`,
  words: { dtype, context: String(context), batch: String(batch), prompt: '1' },
  bytes: gb * GB,
  scope: 'process',
  source: 'qwen',
  ...(off === undefined ? {} : { off }),
})
/** Tweets of some sixty tokens, eight at once; AdamW in fp32; PEFT's default of q and v. */
const peft = (model: KnownModel, train: 'full' | 'lora', gb: number, off?: string): Footprint => ({
  model,
  what: train === 'full' ? 'full training in fp32' : 'LoRA r8 over fp32',
  words: { train, dtype: 'fp32', rank: '8', targets: 'qv', context: '64', batch: '8', attention: 'eager' },
  bytes: gb * GB,
  scope: 'allocated',
  source: 'peft',
  ...(off === undefined ? {} : { off }),
})

export const FOOTPRINTS: readonly Footprint[] = [
  qwen25('Qwen2.5 0.5B', 'bf16', 1, 0.97),
  qwen25('Qwen2.5 1.5B', 'bf16', 1, 2.95),
  qwen25('Qwen2.5 1.5B', 'bf16', 30_720, 5.62),
  qwen25('Qwen2.5 7B', 'bf16', 1, 14.38),
  qwen25('Qwen2.5 7B', 'gptq8', 1, 8.42),
  qwen25('Qwen2.5 7B', 'int4', 1, 5.52),
  qwen25('Qwen2.5 7B', 'bf16', 6_144, 15.38),
  qwen25('Qwen2.5 7B', 'bf16', 30_720, 19.97),
  qwen25('Qwen2.5 7B', 'int4', 30_720, 11.11),
  qwen25('Qwen2.5 14B', 'bf16', 14_336, 31.95),
  qwen25('Qwen2.5 14B', 'int4', 1, 9.94),
  qwen25('Qwen2.5 32B', 'bf16', 30_720, 74.47),
  qwen25('Qwen2.5 32B', 'gptq8', 1, 33.56),
  qwen25('Qwen2.5 32B', 'int4', 30_720, 31.84),
  generates('phi-1.5', 'bf16', 2.86),
  generates('phi-1.5', 'nf4', 1.33, LOADING),
  generates('Llama 2 7B', 'bf16', 13.52),
  generates('Llama 2 7B', 'nf4-single', 4.57),
  generates('Llama 2 7B', 'nf4', 4.26),
  generates('Llama 2 13B', 'nf4', 7.72),
  generates('CodeLlama 34B', 'nf4', 18.95),
  generates('Llama 2 70B', 'nf4', 37.21),
  generates('Falcon 40B', 'nf4', 24.63),
  { model: 'Falcon 7B', what: 'bf16, 256 tokens', words: { dtype: 'bf16', context: '256' }, bytes: 14.51 * GB, scope: 'allocated', source: 'litgptQuantize' },
  {
    model: 'Falcon 7B',
    what: 'LLM.int8, 256 tokens',
    words: { dtype: 'int8', context: '256' },
    bytes: 8.71 * GB,
    scope: 'allocated',
    source: 'litgptQuantize',
  },
  qwenMakes('bf16', 512, 1, 15.2),
  qwenMakes('bf16', 2_048, 1, 17.6),
  qwenMakes('bf16', 8_192, 1, 23.2),
  qwenMakes('bf16', 1_024, 16, 31.7, JOINED),
  qwenMakes('bf16', 1_024, 32, 48.7, JOINED),
  tunes('phi-1.5', 'bf16', 1_044, 1, 4.82),
  tunes('phi-1.5', 'bf16', 1_044, 4, 10.68),
  tunes('Llama 2 7B', 'bf16', 1_304, 1, 21.3),
  tunes('Llama 2 7B', 'bf16', 1_304, 2, 29.07),
  tunes('Llama 2 7B', 'nf4', 1_304, 1, 13.84, INPUTS),
  tunes('Llama 2 13B', 'bf16', 1_304, 1, 38.12),
  tunes('Llama 2 13B', 'nf4-single', 1_304, 1, 23.14, INPUTS),
  qwenLora('Qwen 1.8B', 256, 6.7),
  qwenLora('Qwen 1.8B', 8_192, 21.8),
  qwenLora('Qwen 7B', 256, 20.1),
  qwenLora('Qwen 7B', 2_048, 23.8),
  qwenLora('Qwen 7B', 8_192, 36.6),
  qwenLora('Qwen 14B', 512, 35.1),
  qwenLora('Qwen 14B', 8_192, 55.2),
  qwenQlora('Qwen 7B', 256, 11.5, BUCKETS),
  qwenQlora('Qwen 7B', 8_192, 23.5, HALF_LOGITS),
  qwenQlora('Qwen 14B', 2_048, 19.9),
  qwenQlora('Qwen 72B', 256, 61.4),
  qwenQlora('Qwen 72B', 8_192, 75.6, HALF_LOGITS),
  {
    model: 'Qwen 7B',
    what: 'full training, bf16 and fp32 copies, ZeRO 3 over 2 GPUs, 1 x 512',
    words: { train: 'full', dtype: 'bf16', precision: 'master', gpus: '2', shard: 'zero3', checkpointing: 'on', context: '512' },
    bytes: (148.0 / 2) * GB,
    scope: 'process',
    source: 'qwen',
  },
  {
    model: 'Qwen 1.8B',
    what: 'full training, bf16 and fp32 copies, DeepSpeed on 1 GPU, 1 x 1024',
    words: { train: 'full', dtype: 'bf16', precision: 'master', checkpointing: 'on', context: '1024' },
    bytes: 43.5 * GB,
    scope: 'process',
    source: 'qwen',
    off: BUCKETS,
  },
  anatomy('AdamW fp32, 4 x 512', { batch: '4' }, 14_949),
  anatomy('AdamW fp32, 1 x 512', {}, 8_681),
  anatomy('AdamW fp32 with checkpointing, 1 x 512', { checkpointing: 'on' }, 6_775),
  anatomy('AdamW, fp16 autocast, 4 x 512', { precision: 'amp', batch: '4' }, 13_939),
  anatomy('AdamW, fp16 autocast and checkpointing, 1 x 512', { precision: 'amp', checkpointing: 'on' }, 7_275),
  anatomy('Adafactor fp32, 4 x 512', { optimizer: 'adafactor', batch: '4' }, 12_295),
  anatomy('Adafactor, fp16 autocast and checkpointing, 1 x 512', { optimizer: 'adafactor', precision: 'amp', checkpointing: 'on' }, 4_847),
  anatomy('8-bit Adam fp32, 4 x 512', { optimizer: 'adamw8bit', batch: '4' }, 13_085),
  anatomy('8-bit Adam, fp16 autocast and checkpointing, 1 x 512', { optimizer: 'adamw8bit', precision: 'amp', checkpointing: 'on' }, 5_363),
  peft('T0 3B', 'full', 47.14),
  peft('T0 3B', 'lora', 14.4),
  peft('mT0 XXL', 'lora', 56),
  peft('BLOOMZ 7B1', 'lora', 32),
  { model: 'OPT 125M', what: 'fp16, weights alone', words: { dtype: 'fp16', context: '1' }, bytes: 244.61e6, scope: 'allocated', source: 'vllm' },
  {
    model: 'Llama 3 8B',
    what: 'bf16, weights and peak of activations in vLLM, 8192 tokens',
    words: { dtype: 'bf16', engine: 'vllm', context: '8192', 'kv-cache': 'off' },
    bytes: (14.96 + 1.26) * GIB,
    scope: 'allocated',
    source: 'vllm',
  },
  {
    model: 'Llama 3 8B',
    what: 'QLoRA, 2 x 2048, chunked loss',
    words: { train: 'qlora', rank: '8', checkpointing: 'on', loss: 'chunked', context: '2048', batch: '2' },
    bytes: 7.4 * GIB,
    scope: 'reserved',
    source: 'torchtune',
    off: 'LoRA over bf16 in the same table leaves 1.2 GiB beside the weights, less than the inputs of the layers and the logits need: probably part of it lies in the memory of the host (activation offloading)',
  },
  {
    model: 'Llama 2 7B',
    what: 'QLoRA r8 of all, 1 x 8192',
    words: { train: 'qlora', rank: '8', checkpointing: 'on', context: '8192' },
    bytes: 12 * GIB,
    scope: 'process',
    source: 'factory',
  },
  {
    model: 'Llama 2 7B',
    what: 'QLoRA r8 of all, 1 x 16384',
    words: { train: 'qlora', rank: '8', checkpointing: 'on', context: '16384' },
    bytes: 19 * GIB,
    scope: 'process',
    source: 'factory',
  },
]
