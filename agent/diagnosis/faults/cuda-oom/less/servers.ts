// Other inference servers: SGLang, Text Generation Inference, TensorRT-LLM and TensorRT, ONNX Runtime, CTranslate2. Options from their own documentation.
import { group } from '../../../situation/versions.ts'
import { numberSet, setUnread } from '../../../situation/settings.ts'
import type { Situation } from '../../../situation/situation.ts'
import { manyWorkers, smaller } from '../../../situation/work.ts'
import type { Facts } from '../../../../model/facts.ts'
import type { Piece } from '../../remedies/plan.ts'

const SGLANG_SHARE = 0.88
export const WEIGHTS_HELD = /avail mem=([\d.]{1,8}) GB, mem usage=([\d.]{1,8}) GB/
/** docs.sglang.io, server arguments: the share is of weights and KV cache together; activations and graphs take the rest. */
export function lessInSglang(situation: Situation, outOf: 'start' | 'cache' | 'memory', facts: Facts = {}): readonly Piece[] {
  const share = numberSet(situation.settings, 'mem_fraction_static')
  // Far below the default a small step would fail again.
  const more = share !== undefined && share < 0.75 ? SGLANG_SHARE : Math.min(0.95, (share ?? SGLANG_SHARE) + 0.05)
  // The server keeps (1 - share) of the card free: what the weights left must be more than that.
  const [, left, held] = WEIGHTS_HELD.exec(situation.text) ?? []
  const needed = outOf === 'start' && left !== undefined ? 1 - Number(left) / (Number(left) + Number(held)) + 0.03 : 0
  const next = needed > more ? needed : outOf === 'memory' ? (share ?? SGLANG_SHARE) - 0.08 : more
  const capture = /[Cc]apture (?:cuda|CUDA) graph|cuda_graph_runner/.test(situation.text)
  // The pool of the KV cache was made, and no request ran.
  const pool = /\bin init_memory_pool\b|memory_pool\.py/.test(situation.text)
  const largest = numberSet(situation.settings, 'cuda_graph_max_bs')
  const chunk = numberSet(situation.settings, 'chunked_prefill_size')
  const running = numberSet(situation.settings, 'max_running_requests')
  const gpus = numberSet(situation.settings, 'tp_size') ?? numberSet(situation.settings, 'tp')
  // Of several ranks without a number, twice one may be fewer than now.
  const moreGpus = (text: string): Piece =>
    (gpus === undefined && (manyWorkers(situation, facts) || setUnread(situation.text, /--tp(?:-size)?/))) || (gpus ?? 1) > 7
      ? { text }
      : { text, command: `--tp-size ${(gpus ?? 1) * 2}` }
  return [
    needed <= 0.96 && {
      text:
        outOf !== 'memory'
          ? `Give weights and KV cache a larger share of the card${share === undefined ? '' : ` (now ${share})`}.`
          : `Let SGLang leave more of the card to activations and CUDA graphs${share === undefined ? '' : ` (now ${share})`}.`,
      command: `--mem-fraction-static ${next.toFixed(2)}`,
    },
    outOf === 'start' &&
      moreGpus(
        `Split the model over more GPUs, or load a ${smaller(situation)} one: ${needed > 0.96 ? `the weights take ${held} of ${(Number(left) + Number(held)).toFixed(1)} GB, so no share of the card is enough.` : 'the weights then leave more of each card.'}`,
      ),
    capture && {
      text: 'Capture CUDA graphs for smaller batches only.',
      command: `--cuda-graph-max-bs ${largest === undefined ? 16 : Math.max(1, Math.floor(largest / 2))}`,
    },
    capture && situation.text.includes('--enable-torch-compile') && { text: 'Leave out --enable-torch-compile: compiled kernels take memory of their own.' },
    outOf !== 'start' &&
      !capture &&
      !pool && {
        text: 'Process long prompts in smaller pieces.',
        command: `--chunked-prefill-size ${chunk === undefined ? 2048 : Math.max(256, Math.floor(chunk / 2))}`,
      },
    outOf !== 'start' &&
      !capture &&
      !pool && {
        text: 'Let fewer requests run at once.',
        command: `--max-running-requests ${running === undefined ? 16 : Math.max(1, Math.floor(running / 2))}`,
      },
    outOf === 'start' &&
      /speculative[-_]algorithm|EAGLE/.test(situation.text) && {
        text: 'Or run without speculative decoding: its draft model needs memory beside the weights.',
      },
    outOf !== 'start' && moreGpus(`Split the model over more GPUs, or load a ${smaller(situation)} one.`),
  ]
}

const TOKENS = /Not enough memory to handle (\d{1,9})|max_batch_prefill_tokens[=: ]{1,3}(\d{1,9})|--max-batch-prefill-tokens[= ](\d{1,9})/
/** huggingface.co/docs/text-generation-inference, launcher arguments: what failed in the warm-up is the upper bound. */
export function lessInTgi(situation: Situation): readonly Piece[] {
  const failed = group(TOKENS.exec(situation.text))
  const now = failed === undefined ? undefined : Number(failed)
  const half = now === undefined ? undefined : Math.floor(now / 2)
  const longest = numberSet(situation.settings, 'max_total_tokens')
  const input = numberSet(situation.settings, 'max_input_tokens') ?? numberSet(situation.settings, 'max_input_length')
  const inputFlag =
    !situation.text.includes('--max-input-tokens') && /max[-_]input[-_]length/.test(situation.text) ? '--max-input-length' : '--max-input-tokens'
  const shards = numberSet(situation.settings, 'num_shard') ?? 1
  const quantized = /(?:--quantize[ =]["']?|quantize: Some\()(?!none)\w/i.test(situation.text)
  // A batch must hold the longest request.
  const loading =
    failed === undefined && /Error when initializing model|load_weights|initialize_model/.test(situation.text) && !/[Ww]arm(?:ing)? ?up/.test(situation.text)
  const all = Number(/handle (\d{1,9}) total tokens/.exec(situation.text)?.[1])
  return [
    all / 2 >= (longest ?? 1) && {
      text: `Let a batch hold fewer tokens: ${all} did not fit beside the model.`,
      command: `--max-batch-total-tokens ${Math.floor(all / 2)}`,
    },
    loading
      ? undefined
      : half === undefined
        ? { text: 'Prefill fewer tokens at once (the default follows the longest input).', command: '--max-batch-prefill-tokens <TOKENS>' }
        : half >= 128
          ? {
              text: `Prefill fewer tokens at once: ${now} did not fit.${input !== undefined && input > half ? ' The longest input must not be longer than that.' : ''}`,
              command: `--max-batch-prefill-tokens ${half}${input !== undefined && input > half ? ` ${inputFlag} ${half}` : ''}`,
            }
          : undefined,
    !quantized && {
      text: `Load the model in 4 bit${loading ? ': it failed while its weights were loaded' : ', if it fills the card by itself'}.`,
      command: '--quantize bitsandbytes-nf4',
    },
    setUnread(situation.text, /--num-shard/)
      ? { text: 'Split the model over more GPUs (--num-shard).' }
      : shards < 8 && { text: `Split the model over ${shards * 2} GPUs${shards === 1 ? '' : ` (now ${shards})`}.`, command: `--num-shard ${shards * 2}` },
    !loading &&
      (half === undefined || half < 128 || quantized) && {
        text: 'Allow shorter requests: the warm-up tries the longest ones (--max-input-tokens, before 2.0 --max-input-length).',
        command: `--max-total-tokens ${longest === undefined ? '<TOKENS>' : Math.floor(longest / 2)}${longest !== undefined && input !== undefined ? ` ${inputFlag} ${Math.floor(Math.min(input, longest / 2 - 1))}` : ''}`,
      },
  ]
}

/** nvidia.github.io/TensorRT-LLM: kv_cache_free_gpu_memory_fraction is 0.9 of what is free after the engine was loaded. */
const LEFT = /calculating max tokens in paged kv cache: total: ([\d.]{1,8}) GiB, available: ([\d.]{1,8}) GiB/
const TRITON = /tritonserver|model_lifecycle|config\.pbtxt|modelInstanceState|libtriton/
export function lessInTensorrtLlm({ text }: Situation, building = false): readonly Piece[] {
  const [, total, left] = LEFT.exec(text) ?? []
  // Then the share of what is free is no matter.
  const full = left !== undefined && Number(left) < 0.05 * Number(total)
  const cache: Piece = {
    text: `Give the KV cache a smaller share of the free memory: ${TRITON.test(text) ? "in the backend's config.pbtxt set kv_cache_free_gpu_mem_fraction" : "set free_gpu_memory_fraction of the KV cache (kv_cache_config; in Triton's config.pbtxt kv_cache_free_gpu_mem_fraction)"} below its default of 0.9.`,
  }
  return [
    full
      ? {
          text: `The engine and what else is loaded left only ${left} GiB of ${total} for the KV cache: see that no second model or instance is on the same GPU.`,
        }
      : !building && cache,
    { text: 'Build the engine for less: smaller max_batch_size, max_num_tokens and max_input_len, one beam.' },
    { text: 'Build a quantized engine, or split it over more GPUs (tp_size).' },
  ]
}
export const lessInTensorrt = (): readonly Piece[] => [
  { text: 'Give the builder a smaller workspace, and build for smaller batches or shapes.' },
  { text: 'Run fewer execution contexts at once: each has activation memory of its own.' },
]

/** lmdeploy.readthedocs.io, TurbomindEngineConfig: the share is of the memory that is free after loading. */
const ENGINE_CONFIG = /\b((?:Turbomind|Pytorch)EngineConfig)\(/
export function lessInLmdeploy({ settings, text }: Situation): readonly Piece[] {
  const share = numberSet(settings, 'cache_max_entry_count')
  const half = ((share ?? 0.8) / 2).toFixed(1)
  const config = ENGINE_CONFIG.exec(text)?.[1]
  const own = config !== undefined || !/--infer_backend lmdeploy|--engine\b/.test(text)
  const cache = `Give the KV cache a smaller share of what is free after the weights were loaded (${share === undefined ? '0.8 is the default' : `now ${share}`})`
  // Weights are made one by one before there is a cache.
  const loading = /_create_weight|memory_utils\.cu/.test(text)
  const split: Piece = {
    text: `${loading ? 'It failed while the weights were loaded, before there was a KV cache: split' : 'Split'} the model over more GPUs (${config === undefined ? '--tp' : `in the script ${config}(tp=2)`}), or load one that is quantized (AWQ).`,
  }
  const shares: Piece =
    config === undefined
      ? own
        ? { text: `${cache}.`, command: `--cache-max-entry-count ${half}` }
        : { text: `${cache}: cache_max_entry_count.` }
      : { text: `${cache}. In the script: ${config}(cache_max_entry_count=${half}).` }
  const shorter: Piece = {
    text:
      config === undefined && own
        ? 'Allow shorter sessions (--session-len), or prefill fewer tokens at once (--max-prefill-token-num).'
        : 'Allow shorter sessions (session_len), or prefill fewer tokens at once (max_prefill_token_num).',
  }
  return loading ? [split, shorter] : [shares, shorter, split]
}

/** onnxruntime.ai, CUDA execution provider: options. */
export const lessInOnnx = (): readonly Piece[] => [
  { text: 'Run smaller batches, or fewer sessions on one GPU: each session has an arena of its own.' },
  {
    text: 'Let the arena grow by what is asked for: CUDA provider option arena_extend_strategy=kSameAsRequested (the default doubles); gpu_mem_limit caps it.',
  },
]
export const lessInCtranslate2 = (): readonly Piece[] => [
  { text: 'Load the model with compute_type="int8" or "int8_float16": it takes about half of the memory of float16.' },
  { text: 'Use a smaller model, or a smaller batch_size.' },
]
/** huggingface.co/docs/text-embeddings-inference, command line arguments: 16384 tokens in a batch by default. */
export const lessInTei = (): readonly Piece[] => [
  { text: 'Let a batch hold fewer tokens (16384 is the default).', command: '--max-batch-tokens 4096' },
  { text: 'Compute in float16, if it is not set, and fewer requests at once (--max-concurrent-requests).', command: '--dtype float16' },
  { text: 'Use a smaller model, or a GPU with more memory.' },
]
/** tabbyAPI's config.yml and the loaders of ExLlama: cache, its number type, and what goes to which GPU. */
export const lessInExllama = (): readonly Piece[] => [
  { text: 'Make the cache smaller: a smaller max_seq_len (and cache_size, which is at least as large).' },
  { text: 'Keep it in fewer bits (cache_mode: Q8, Q6 or Q4; for EXL3 such as 8,8).' },
  { text: 'With several GPUs leave space on the first (gpu_split, autosplit_reserve); a smaller chunk_size needs less while prompts are read.' },
  { text: 'Use a quantization with fewer bits per weight.' },
]
