// vLLM: its share of the card, the length of a request, the number of sequences. Options: docs.vllm.ai, "Conserving Memory" and "Engine Arguments".
import type { Facts } from '../../../../model/facts.ts'
import { numberSet, setUnread } from '../../../situation/settings.ts'
import type { Situation } from '../../../situation/situation.ts'
import { compareVersions } from '../../../situation/versions.ts'
import { manyWorkers, smaller } from '../../../situation/work.ts'
import type { Piece } from '../../remedies/plan.ts'
import { MIG } from './phase.ts'
import { madeByScript, hostOf, vllmOption as option } from './vllm-host.ts'

/** Defaults of --gpu-memory-utilization: https://github.com/vllm-project/vllm/pull/38284 raised it in April 2026. */
const DEFAULT_SHARE = 0.9
const DEFAULT_FROM_0_20 = 0.92
/** KV cache: bytes of fp8 are half of those of 16 bit. */
/** GPUs that are named, before Ada: none has fp8. */
/** vLLM on TPUs: neither their number formats nor their compiler are CUDA's. */
const TPU = /\bTPU\b|TPU_BACKEND|\btpu_(?:commons|inference)\b/
const WITHOUT_FP8 = /\b(?:RTX (?:20[678]0|30[5-9]0|A[2-6]000)|A(?:100|10G?|16|30|40|800)|T4|[PV]100|P40|GTX 1[06]\d0)\b/
const fp8 = (situation: Situation): Piece =>
  !WITHOUT_FP8.test(situation.text) &&
  !TPU.test(situation.text) &&
  compareVersions(situation.versions.vllm ?? '1', '0.4') >= 0 &&
  !/cache[-_]dtype[="': ]{1,3}fp8/.test(situation.text) &&
  option(situation, 'Halve the KV cache with 8-bit values (needs a GPU with fp8 support, compute capability 8.9 or newer).', 'kv_cache_dtype', 'fp8')

const percent = (share: number): string => share.toFixed(2)
/** vLLM prints the share that is in force as `x gpu_memory_utilization (0.98)`. */
const IN_FORCE = /gpu_memory_utilization \((0\.\d{1,4})\)/
const setShare = ({ settings, text }: Situation): number | undefined => {
  const said = IN_FORCE.exec(text)?.[1]
  return numberSet(settings, 'gpu_memory_utilization') ?? (said === undefined ? undefined : Number(said))
}
function defaultShare({ versions }: Situation): number {
  return versions.vllm !== undefined && compareVersions(versions.vllm, '0.20') >= 0 ? DEFAULT_FROM_0_20 : DEFAULT_SHARE
}
const shareOf = (situation: Situation): number => setShare(situation) ?? defaultShare(situation)
/** What is in force, or the default of that version; of an unknown version only that it is the default. */
function shareText(situation: Situation): string {
  const set = setShare(situation)
  if (set !== undefined) return `now ${percent(set)}`
  // Trainers have defaults of their own.
  if (hostOf(situation)?.trains === true) return 'what is set now is not in the text'
  return situation.versions.vllm === undefined
    ? `the default is ${DEFAULT_SHARE}, from 0.20 on ${DEFAULT_FROM_0_20}`
    : `the default is ${defaultShare(situation)}`
}

/** Terminals and documents break the message, also inside a word. */
const unbroken = (text: string): string =>
  /KV cach/.test(text) ? text.replace(/ {0,40}\n(?:\(\w{1,40} pid=\d{1,9}\) )?(?:> )? {0,40}/g, ' ').replace(/KV ?cach ?e\b/g, 'KV cache') : text
/** The longest request that the log says would fit. */
export function longestIn(log: string): number | undefined {
  const text = unbroken(log)
  const match =
    /estimated maximum model length is (\d{2,9})/.exec(text) ??
    /larger than the maximum number of tokens that can be stored in (?:the )?KV cache \((\d{2,9})\)/.exec(text) ??
    /maximum number of tokens that can be stored in (?:the )?KV cache \((\d{2,9})\)/.exec(text)
  return match?.[1] === undefined ? undefined : Number(match[1])
}
/** Releases that estimate nothing print what the longest request needs: 5 % below the length at which that would fit, since caches with sliding windows grow slower at their end. */
function computedLongest(log: string): number | undefined {
  const match =
    /max seq len \((\d{3,9})\),? \(?([\d.]{1,12}) Gi?B KV cache is needed, which is larger than the available KV cache memory \(([\d.]{1,12}) /.exec(
      unbroken(log),
    )
  if (match === null) return undefined
  const [length, needed, available] = match.slice(1).map(Number)
  if (length === undefined || needed === undefined || available === undefined || !(available > 0 && available < needed)) return undefined
  return Math.floor((0.95 * length * available) / needed / 256) * 256
}

/** At its start vLLM runs the encoder with as many and as large images and videos as a request may hold. */
const ENCODES =
  /maximum feature size|worst[- ]case[^\n]{0,80}multi-?modal|multi-?modal embeddings in the worst case|\bin (?:get_multimodal_embeddings|embed_multimodal|_process_(?:image|video)_input|_execute_mm_encoder)\b|profile run for multi-modal/
/** JSON on the command line from 0.9 on, pairs before; a dictionary in a script. */
function fewerImages(situation: Situation): Piece {
  const { text: log, versions } = situation
  if (!ENCODES.test(log) || hostOf(situation) !== undefined) return undefined
  const text = 'Let one request hold fewer images and videos: at its start vLLM tries the encoder with as many as it may hold.'
  if (madeByScript(situation)) return { text: `${text} In the script: limit_mm_per_prompt={"image": 1, "video": 0}.` }
  const old = versions.vllm !== undefined && compareVersions(versions.vllm, '0.9') < 0
  return { text, command: old ? '--limit-mm-per-prompt image=1' : `--limit-mm-per-prompt '{"image": 1, "video": 0}'` }
}

export const DUMMY_REQUESTS = /warming up sampler with (\d{1,6}) dummy requests/
function fewerSequences(situation: Situation): Piece {
  const dummies = DUMMY_REQUESTS.exec(situation.text)?.[1]
  const now = numberSet(situation.settings, 'max_num_seqs') ?? (dummies === undefined ? undefined : Number(dummies))
  const fewer = now === undefined ? 32 : Math.max(1, Math.floor(now / 2))
  return option(
    situation,
    `Let fewer requests run at once${now === undefined ? '' : ` (now ${now})`}: less memory for activations and for captured CUDA graphs.`,
    'max_num_seqs',
    fewer,
  )
}
const eager = (situation: Situation): Piece =>
  !TPU.test(situation.text) &&
  !/enforce[-_]eager(?:=|: ?|["'], ?)?True|--enforce-eager\b/.test(situation.text) &&
  option(situation, 'Run without CUDA graphs: it frees the memory that they hold, and generation gets slower.', 'enforce_eager')
function moreGpus(situation: Situation, facts: Facts = {}): Piece {
  // One board has one GPU.
  if (situation.jetson) return { text: 'Or load a smaller or quantized model.' }
  // A process sees one instance, however many there are.
  if (MIG.test(situation.text))
    return { text: `Give it a larger MIG instance, or load a ${smaller(situation)} model: it cannot be split over several instances.` }
  const workers = [...situation.text.matchAll(/\bVllmWorker rank=(\d{1,3})\b/g)].map((match) => Number(match[1]) + 1)
  const now = numberSet(situation.settings, 'tensor_parallel_size') ?? Math.max(1, ...workers)
  const stages = numberSet(situation.settings, 'pipeline_parallel_size') ?? 1
  // Several work already, and the text does not say how many.
  if (now > 7 || (now === 1 && (manyWorkers(situation, facts) || setUnread(situation.text, /--tensor-parallel-size|-tp/))))
    return {
      text: `Split the model over more GPUs than now${hostOf(situation) === undefined ? ' (--tensor-parallel-size)' : ''}, or load a ${smaller(situation)} one.`,
    }
  const all = now * stages
  return option(
    situation,
    `Split the model over ${all * 2} GPUs${all === 1 ? '' : ` (now ${all})`}, or load a ${smaller(situation)} one.`,
    'tensor_parallel_size',
    now * 2,
  )
}
const halfWeights = (situation: Situation): Piece =>
  /(?<!cache[-_])\bdtype[="': ]{1,3}(?:torch\.)?float(?:32)?\b/.test(situation.text) &&
  option(situation, 'Load the weights in 16 bit: float32, which is set, takes twice the memory.', 'dtype', 'half')

/** What vLLM's first engine and its successor print of their trial run. */
const ACTIVATIONS = /activation peak memory takes ([\d.]{1,8}) ?GiB/
export const activationsIn = (text: string): number => Number(ACTIVATIONS.exec(text)?.[1] ?? 0)
/** A large part of what it computes with goes with the tokens of one step. */
const fewerTokens = (situation: Situation): Piece =>
  activationsIn(situation.text) > 2 &&
  option(
    situation,
    `Let one step process fewer tokens: activations take ${activationsIn(situation.text)} GiB now (before vLLM 0.8 with --enable-chunked-prefill).`,
    'max_num_batched_tokens',
    2048,
  )
/** A larger share that does not even make up for what is lacking is no remedy. */
function tooLittle(gained: number, text: string): boolean {
  const total = Number(/total_gpu_memory \(([\d.]{1,8}) ?GiB\)/.exec(text)?.[1] ?? Infinity)
  return gained * total < shortOf(text) + 0.5
}
/** How much is lacking before the first block of the KV cache, in GiB. */
export const shortOf = (text: string): number =>
  Number(/(?:Available KV cache memory: |reserved for KV Cache is )-(\d{1,4}(?:\.\d{1,3})?) ?GiB/.exec(text)?.[1] ?? 0)

/** Hardly a prompt: more memory comes before so short a limit. */
const SHORT = 2_048
/** Nothing, or too little, is left of vLLM's own share: it must rise, or the need must fall. */
export function moreCache(situation: Situation): readonly Piece[] {
  const share = shareOf(situation)
  const larger = share < 0.93 && !tooLittle(0.95 - share, situation.text) ? 0.95 : undefined
  const estimated = longestIn(situation.text)
  const longest = estimated ?? computedLongest(situation.text)
  const why = estimated === undefined ? 'computed from the two sizes in the message' : "by vLLM's own estimate the KV cache holds that many"
  const shorter = option(situation, `Limit requests to ${longest} tokens: ${why}.`, 'max_model_len', longest)
  // On the CPU its size is a setting, and no GPU is in play.
  if (/VLLM_CPU_KVCACHE_SPACE|cpu_(?:model_runner|worker)\.py|\[cpu\.py:/.test(situation.text))
    return [
      shorter,
      {
        text: 'Give the KV cache more host memory (in GiB).',
        command: `export VLLM_CPU_KVCACHE_SPACE=${Math.ceil(Number(/\(([\d.]{1,8}) GiB KV cache is needed/.exec(situation.text)?.[1] ?? 8) + 1)}`,
      },
    ]
  return [
    halfWeights(situation),
    longest !== undefined && longest >= SHORT && shorter,
    fewerTokens(situation),
    larger !== undefined &&
      (hostOf(situation)?.ownShare === true
        ? // The training on the same cards needs the rest.
          option(
            situation,
            `Give vLLM a larger share of the card (${shareText(situation)}): the training has the rest.`,
            'gpu_memory_utilization',
            setShare(situation) === undefined ? '<SHARE>' : percent(Math.min(0.9, share + 0.15)),
          )
        : option(
            situation,
            `Give vLLM a larger share of the card (${shareText(situation)}), if nothing else runs on it.`,
            'gpu_memory_utilization',
            percent(larger),
          )),
    longest !== undefined && fp8(situation),
    // The graphs are captured after the cache was sized: where the share cannot rise, they are not what is lacking.
    ...(larger === undefined ? [moreGpus(situation), eager(situation)] : [eager(situation), moreGpus(situation)]),
    longest !== undefined && longest < SHORT && shorter,
    longest === undefined && fewerSequences(situation),
  ]
}

/** vLLM reserves its share at the start: it may take no more than what is free then. */
export function smallerShare(situation: Situation, facts: Facts): Piece {
  const { free_bytes: free, total_bytes: total } = facts
  if (free === undefined || total === undefined || total <= 0) return undefined
  const share = Math.floor((100 * free) / total - 0.5) / 100
  if (share < 0.1) return undefined
  return option(
    situation,
    `Or take only what is free: ${percent(share)} of the card (computed from the figures of the message).`,
    'gpu_memory_utilization',
    percent(share),
  )
}

/** Before the KV cache is sized: neither the share of the card nor the number of requests counts yet. */
const LOADS =
  /\bin (?:create_weights|_?initialize_model|_init_model|make_layers|load_weights|process_weights_after_loading|load_model)\b|processing method load_model\b/
const WAKES = /\bin wake_up\b/
const toLoad = (situation: Situation, facts: Facts): readonly Piece[] => [
  halfWeights(situation),
  moreGpus(situation, facts),
  option(situation, 'Or keep a part of the weights in host memory (GiB for each GPU), which is much slower.', 'cpu_offload_gb', 8),
  { text: 'It failed while the weights were loaded, before the KV cache: a smaller share of the card (--gpu-memory-utilization) makes no space for them.' },
]

/** Its trial run with as many requests, tokens and images as it allows, whose peak shows how much is left for the KV cache: none is made yet. */
const PROFILES = /\b(?:profile_run|determine_num_available_blocks|determine_available_memory)\b|Starting profile run/
const smallerTrial = (situation: Situation): Piece =>
  option(
    situation,
    'It failed in the trial run at its start, before there is a KV cache: let a step take fewer tokens. A smaller share of the card (--gpu-memory-utilization) makes no space for it.',
    'max_num_batched_tokens',
    Math.max(512, Math.floor((numberSet(situation.settings, 'max_num_batched_tokens') ?? 4096) / 2)),
  )

/** PyTorch ran out of memory inside vLLM: while loading, profiling or running. */
export function lessInVllm(situation: Situation, facts: Facts, othersBytes: number | undefined): readonly Piece[] {
  const total = facts.total_bytes
  const share = shareOf(situation)
  const fitting = total === undefined || othersBytes === undefined ? share - 0.05 : (total - othersBytes) / total - 0.02
  // What the training holds is there again after each step.
  const host = hostOf(situation)
  const lower = Math.floor(Math.min(share - (host?.trains === true ? 0.2 : 0.05), fitting) * 100 + 1e-6) / 100
  if (LOADS.test(situation.text) && host === undefined && othersBytes === undefined && !MIG.test(situation.text)) return toLoad(situation, facts)
  const sampler = DUMMY_REQUESTS.test(situation.text)
  const profiles = PROFILES.test(situation.text) && host === undefined && othersBytes === undefined
  return [
    halfWeights(situation),
    fewerImages(situation),
    (sampler || profiles) && fewerSequences(situation),
    profiles && smallerTrial(situation),
    !profiles &&
      lower >= 0.1 &&
      option(
        situation,
        `Give vLLM a smaller share of the card, so that activations and other processes have space beside its KV cache (${shareText(situation)}).`,
        'gpu_memory_utilization',
        host?.ownShare === true && setShare(situation) === undefined ? '<SHARE>' : percent(lower),
      ),
    host?.frees,
    WAKES.test(situation.text) &&
      host?.frees === undefined && {
        text: 'Before vLLM wakes up, let the trainer give its memory back: weights and optimizer to host memory, then torch.cuda.empty_cache().',
      },
    /\bin update_(?:policy|actor)\b/.test(situation.text) && host?.lessToTrain,
    host?.trains !== true && fewerSequences(situation),
    // Graphs are captured later.
    !profiles && eager(situation),
    moreGpus(situation, facts),
  ]
}
