// llama.cpp and Ollama: layers, context, compute buffers. Options: tools/server/README.md of llama.cpp; docs/faq of Ollama.
import { gibAsPrinted as gib } from '../../../../text/bytes.ts'
import { group } from '../../../situation/versions.ts'
import type { Facts } from '../../../../model/facts.ts'
import { numberSet, shortOption } from '../../../situation/settings.ts'
import type { Situation } from '../../../situation/situation.ts'
import { setVariables } from '../../remedies/environment.ts'
import type { Piece } from '../../remedies/plan.ts'

/** common/fit: what it would set, where the user had not; with the structure's name in front of some. */
const SET_BY_USER = /failed to fit params to free device memory: (?:\w{3,40}::)?([\w ]{3,40}) already set by user/
const OPTION: Readonly<Record<string, string>> = {
  n_gpu_layers: '-ngl (--n-gpu-layers)',
  tensor_split: '--tensor-split',
  tensor_buft_overrides: '--override-tensor (-ot, --cpu-moe, --n-cpu-moe)',
}
/** "projected to use 9000 MiB of device memory vs. 7000 MiB of free device memory", before anything is loaded. */
export function projected(text: string): string | undefined {
  const [, needs, free] = /projected to use (\d{2,9}) MiB of device memory vs\. (\d{1,9}) MiB of free device memory/.exec(text) ?? []
  if (needs === undefined || free === undefined || Number(needs) < Number(free)) return undefined
  return `Before it loaded the model it counted ${gib(Number(needs) * 2 ** 20)} that it needs, and ${gib(Number(free) * 2 ** 20)} free.`
}

/** More than any card has: a figure of the program's own settings. */
export const IMPOSSIBLE = 200 * 2 ** 30

/** Vulkan's maxMemoryAllocationSize: often 4 GiB. */
export const OVER_LIMIT =
  /(?:Device memory allocation of size \d{1,18} failed\.?[^]{0,40})?Requested buffer size exceeds device (?:memory allocation|buffer size) limit/

type Buffer = 'compute' | 'cache' | 'model'
/** The line behind a failed allocation names what the buffer was for. */
export function bufferIn(text: string): Buffer | undefined {
  if (/failed to allocate compute|gallocr_reserve|graph_reserve: failed/.test(text)) return 'compute'
  if (/buffer for kv cache|kv_cache_init: failed|llama_kv_cache/.test(text)) return 'cache'
  return /unable to allocate (?:CUDA|ROCm|Vulkan|SYCL)\d? buffer|error loading model|load_tensors|llama_model_load/.test(text) ? 'model' : undefined
}

/** Ollama's runner logs the length of all requests together. */
function ofRunner(text: string): number | undefined {
  const [, requests, all] = /\bParallel:(\d{1,3}) [^\n]{0,80}\bKvSize:(\d{3,9})\b/.exec(text) ?? []
  return all === undefined ? undefined : Number(all) / Math.max(1, Number(requests))
}
const contextNow = (situation: Situation): number | undefined =>
  numberSet(situation.settings, 'n_ctx') ??
  numberSet(situation.settings, 'ctx_size') ??
  numberSet(situation.settings, 'num_ctx') ??
  shortOption(situation.text, 'c') ??
  ofRunner(situation.text)
function context(situation: Situation): string | undefined {
  const now = contextNow(situation)
  return now === undefined || now < 1_024 ? undefined : String(Math.floor(now / 2 / 256) * 256)
}

/** llama-cpp-python takes the same as arguments; LangChain's class has its own names. */
function option({ text: log }: Situation, text: string, command: string, argument: string): Piece {
  const call = /\b(Llama(?:Cpp|CPP)?)\(/.exec(log)?.[1]
  return call === undefined ? { text, command } : { text: `${text} In Python: ${call}(${argument}=…).` }
}

/** How many layers the model has, as it was loaded. */
const LAYERS = /offloaded \d{1,4}\/(\d{1,4}) layers|\bn_layer +[=:] (\d{1,4})\b|block_count u32 +[=:] (\d{1,4})\b/

/** koboldcpp has the same options by other names. */
const OF_KOBOLD: readonly (readonly [llama: RegExp, kobold: string])[] = [
  [/--ctx-size/, '--contextsize'],
  [/--n-gpu-layers/, '--gpulayers'],
  [/--ubatch-size/, '--blasbatchsize'],
  [/ ?(?:--flash-attn on|-fa)$| ?(?:--flash-attn on|-fa)(?= )/, ' --flashattention'],
  [/--cache-type-k \S+ --cache-type-v \S+/, '--quantkv 1'],
]
const ofKobold = (command: string): string => OF_KOBOLD.reduce((said, [from, to]) => said.replace(from, to), command).trim()

export function lessInLlamacpp(situation: Situation, facts: Facts = {}): readonly Piece[] {
  const pieces = lessInLlama(situation, facts)
  if (!/kobold|gpttype_|Load Text Model OK/i.test(situation.text)) return pieces
  return pieces.map((piece) =>
    typeof piece === 'object' && 'command' in piece && piece.command !== undefined ? { ...piece, command: ofKobold(piece.command) } : piece,
  )
}

/** Of all sizes of batch and context alike: -ot of tools/server/README.md, a pattern of names. */
const LARGE_TENSOR: readonly Piece[] = [
  {
    text: 'A tensor of the model itself is larger than one buffer may be: keep the largest, mostly the embeddings, in host memory.',
    command: '--override-tensor token_embd=CPU',
  },
  { text: 'Update llama.cpp, and the driver, whose limit it is.' },
  { text: 'Or use a smaller quantization of the model, whose tensors are smaller.' },
]
/** Until August 2025 the option took no value: https://github.com/ggml-org/llama.cpp/pull/15434. */
const BARE_FLASH = /\bllama_new_context_with_model|\bllama_load_model_from_file|\bllama_kv_cache_init\b|\bflash_attn {1,8}= [01]\b/
function lessInLlama(situation: Situation, { gpu_index: gpu, requested_bytes: asked = 0 }: Facts): readonly Piece[] {
  const half = context(situation)
  const buffer = bufferIn(situation.text)
  const ubatch = numberSet(situation.settings, 'n_ubatch') ?? numberSet(situation.settings, 'ubatch_size') ?? shortOption(situation.text, 'ub') ?? 512
  const onGpu = numberSet(situation.settings, 'n_gpu_layers') ?? shortOption(situation.text, 'ngl')
  const all = group(LAYERS.exec(situation.text))
  // 99 and more mean all of them: a share of that may still be all.
  const layers = all === undefined ? (onGpu === undefined || onGpu >= 99 ? undefined : onGpu) : Math.min(onGpu ?? Infinity, Number(all))
  const flash = /--flash-attn (?:on|1)\b|(?:^|\s)-fa\b/.test(situation.text) ? '' : BARE_FLASH.test(situation.text) ? ' -fa' : ' --flash-attn on'
  const small = /--cache-type-k q[48]|-ctk q[48]/.test(situation.text)
  // It is short already.
  const shorter: Piece =
    (contextNow(situation) ?? Infinity) >= 1_024 &&
    option(
      situation,
      `Use a shorter context${half === undefined ? '' : ` (half of the present one)`}: the KV cache and the compute buffers grow with it.`,
      `--ctx-size ${half ?? '<TOKENS>'}`,
      'n_ctx',
    )
  const smallerBatch = option(
    situation,
    `Make the compute buffers smaller: a smaller physical batch${flash === '' ? '' : ', and flash attention (on, where the GPU supports it)'}.`,
    `--ubatch-size ${Math.max(32, Math.floor(ubatch / 2))}${flash}`,
    'n_batch',
  )
  const inPython = /\bLlama\(/.test(situation.text)
  const cache: Piece =
    !small && inPython
      ? { text: 'Keep the KV cache in 8 bit: about half of its size. In Python: Llama(flash_attn=True, type_k=8, type_v=8).' }
      : !small && {
          text: 'Keep the KV cache in 8 bit: about half of its size.',
          command: `${flash.trim()} --cache-type-k q8_0 --cache-type-v q8_0`.trim(),
        }
  const fewerLayers = option(
    situation,
    'Put fewer layers onto the GPU; the rest runs on the CPU, slower.',
    `--n-gpu-layers ${layers === undefined || layers < 2 ? '<LAYERS>' : Math.floor(layers * 0.75)}`,
    'n_gpu_layers',
  )
  // Several GPUs share the model, and this one got too much.
  const split: Piece = gpu !== undefined &&
    gpu > 0 &&
    asked < IMPOSSIBLE && { text: `Give GPU ${gpu} a smaller share of the model (--tensor-split; in Python tensor_split).` }
  const onePipeline: Piece = /pipeline parallelism enabled/.test(situation.text) && {
    text: 'Pipeline parallelism keeps several copies of the compute buffers: a build with -DGGML_SCHED_MAX_COPIES=1 keeps one.',
  }
  const smaller: Piece = { text: 'Or use a smaller quantization of the model.' }
  // tools/mtmd: the encoder of images has buffers of its own, which neither the context nor the layers change.
  if (/compute buffers for CLIP|alloc_compute_meta: failed/.test(situation.text))
    return [
      {
        text: 'It is the encoder of images: its buffers grow with the size of an image. Let an image take fewer tokens (--image-max-tokens), or run the encoder on the CPU (--no-mmproj-offload).',
      },
      fewerLayers,
      shorter,
    ]
  if (OVER_LIMIT.test(situation.text)) return buffer === 'model' ? LARGE_TENSOR : [smallerBatch, shorter, buffer !== 'compute' && cache]
  // common/fit: what the user has set is left as it is.
  const set = SET_BY_USER.exec(situation.text)?.[1]
  if (set !== undefined)
    return [
      {
        text: `Leave ${OPTION[set] ?? '-ngl (--n-gpu-layers), --tensor-split and --override-tensor'} out: llama.cpp then places as many layers on the GPU as fit (--fit on); it gave that up here because ${OPTION[set] === undefined ? 'they were' : 'it was'} set.`,
      },
      cache,
      smaller,
    ]
  switch (buffer) {
    case 'compute':
      // No number of layers makes room for a buffer that no card can hold.
      return asked > IMPOSSIBLE
        ? [smallerBatch, shorter, onePipeline]
        : [split, shorter, smallerBatch, onePipeline, fewerLayers, /\bF(?:32|16)\b/.test(situation.text) && smaller]
    case 'cache':
      return [split, shorter, cache, fewerLayers]
    case 'model':
      // A shorter context makes the weights no smaller.
      return [split, fewerLayers, smaller]
    case undefined:
      break
  }
  // A physical batch above the default of 512 is set, and its buffers grow with it.
  return [ubatch > 512 && smallerBatch, fewerLayers, shorter, cache, smaller]
}

/** Variables reach Ollama only in the environment of its server. */
function inServer({ programs, text, system }: Situation): string {
  if (programs.has('compose') || programs.has('docker') || /^ollama {1,10}\| /m.test(text)) return " Set it in the container's environment."
  if (programs.has('kubernetes')) return " Set it in the pod's environment."
  if (system === 'windows') return ' Set it for your account, then quit Ollama and start it again.'
  return /\bollama\[\d|systemd|ollama\.service/.test(text) ? ' Set it for the service (systemctl edit ollama, Environment=), then restart it.' : ''
}

/** Its server prints the variables that it knows; releases of 2023, which log without levels, know none of these. */
const reads = (text: string, name: string): boolean =>
  /\bconfig"? env="?map\[/.test(text) ? text.includes(`${name}:`) : !/^.{0,80}\d{4}\/\d\d\/\d\d [\d:]{8} \w{1,20}\.go:\d{1,5}: /m.test(text)

/** Of one request of the default length it is far smaller. */
const LARGE_CACHE = 4 * 2 ** 30

export function lessInOllama(situation: Situation, { requested_bytes: asked = 0 }: Facts = {}): readonly Piece[] {
  const { text } = situation
  const half = context(situation)
  const where = inServer(situation)
  // The default was 2048, then 4096, and follows the card today: without a figure a fixed one may be more than now.
  const shorter: Piece =
    half === undefined || Number(half) < 1_024
      ? { text: 'Use a shorter context, where more than the default is set (num_ctx): the KV cache grows with it.' }
      : {
          text: `Use a shorter context (half of the present one): the KV cache grows with it (in a request: the option num_ctx).${where}`,
          command: setVariables(situation, { OLLAMA_CONTEXT_LENGTH: half }),
        }
  const noFlash = /flash attention (?:enabled but )?not supported/.test(text)
  const set = /OLLAMA_FLASH_ATTENTION[:=] ?["']?(?:1|true)/i.test(text)
  const cache: Piece = !noFlash &&
    reads(text, 'OLLAMA_KV_CACHE_TYPE') &&
    !/KvCacheType:q/.test(text) &&
    !(set && /OLLAMA_KV_CACHE_TYPE[:=] ?["']?q/.test(text)) && {
      text: `Keep the KV cache in 8 bit (with flash attention, which not every model supports).${where}`,
      command: setVariables(situation, { OLLAMA_FLASH_ATTENTION: '1', OLLAMA_KV_CACHE_TYPE: 'q8_0' }),
    }
  const one: Piece = /OLLAMA_NUM_PARALLEL[:=] ?["']?[2-9]|--parallel [2-9]|\bParallel:[2-9]/.test(text) && {
    text: `Serve one request at a time: each has a context of its own.${where}`,
    command: setVariables(situation, { OLLAMA_NUM_PARALLEL: '1' }),
  }
  // envconfig/config.go: a number of bytes, taken off each GPU when the layers are placed.
  const wrong = /key=OLLAMA_GPU_OVERHEAD value=(\S{1,20})/.exec(text)?.[1]
  const reserve: Piece = reads(text, 'OLLAMA_GPU_OVERHEAD') &&
    !/OLLAMA_GPU_OVERHEAD[:=] ?["']?[1-9]/.test(text) && {
      text: `Let Ollama leave space on each GPU when it places the layers${wrong === undefined ? '' : `: OLLAMA_GPU_OVERHEAD is a number of bytes, and ${wrong} was ignored`}.${where}`,
      command: setVariables(situation, { OLLAMA_GPU_OVERHEAD: '1073741824' }),
    }
  const container = situation.subject.container ?? /^([\w.-]{0,40}ollama[\w.-]{0,40}) {1,10}\| /m.exec(text)?.[1]
  const loaded: Piece = {
    text: 'See which models are loaded; `ollama stop` unloads one.',
    command: `${container === undefined || situation.programs.has('kubernetes') ? '' : `docker exec ${container} `}ollama ps`,
  }
  const smaller: Piece = { text: 'Use a smaller model or quantization, or put fewer layers onto the GPU (option num_gpu).' }
  // A shorter context makes the weights no smaller.
  if (OVER_LIMIT.test(text))
    return [
      { text: 'Use a smaller batch (option num_batch, such as 128): the buffers for computing grow with it.' },
      cache,
      shorter,
      { text: 'Update Ollama, and the driver, whose limit it is.' },
    ]
  const buffer = bufferIn(text)
  if (buffer === 'model') return [reserve, smaller, loaded, cache]
  // Room that is left elsewhere makes a cache of many GiB no smaller.
  return buffer === 'cache' && asked > LARGE_CACHE ? [shorter, one, cache, reserve, smaller] : [reserve, one, cache, shorter, smaller]
}
