// Programs that are no inference server: image generation, RAPIDS, video, structure prediction, training, and what is not known.
import type { Facts } from '../../../../model/facts.ts'
import type { Situation } from '../../../situation/situation.ts'
import { gibAsPrinted as gib } from '../../../../text/bytes.ts'
import { setVariables } from '../../remedies/environment.ts'
import { whoHolds } from '../../remedies/gpu.ts'
import { numberSet } from '../../../situation/settings.ts'
import { installerOf } from '../../remedies/pip.ts'
import type { Piece } from '../../remedies/plan.ts'
import { evaluates, evaluatesAlone, inEvaluation, largerInstance, loadsWeights, MIG, phasePieces, validates } from './phase.ts'

const size = (megabytes: string | undefined): string => gib(Number(megabytes) * 2 ** 20)
const PARTLY = /loaded partially[;:] ([\d.]{1,12}) MB usable, [\d.]{1,12} MB loaded, ([\d.]{1,12}) MB offloaded/g
/** Forge says before each model what it needs. */
const FORGE = /Free GPU: ([\d.]{1,12}) MB, Model Require: ([\d.]{1,12}) MB[^\n]{0,120}Remaining: -/
/** What ComfyUI or Forge says of the model that it loaded last, where the card was too small for it. */
export function partlyLoaded({ text }: Situation): string | undefined {
  const forge = FORGE.exec(text)
  if (forge !== null) return `The model needs ${size(forge[2])}, and ${size(forge[1])} was free.`
  const last = [...text.matchAll(PARTLY)].at(-1)
  return last === undefined ? undefined : `${size(last[1])} was usable for the model, and ${size(last[2])} of it stayed in host memory already.`
}

/** The last frames of a traceback: ComfyUI's own node, or its VAE. */
const DECODES =
  /\bin decode(?:_tiled\w{0,3})?\s{1,20}[^\n]{0,160}\bvae\.decode|comfy[\\/]sd\.py", line \d{1,6}, in decode\b|\bin decode_first_stage\b|Node Type:\W{1,6}VAEDecode/

/** comfy/cli_args.py. The portable ComfyUI is started by a batch file. */
export function lessInComfyui(situation: Situation): readonly Piece[] {
  const portable = installerOf(situation) === 'embedded'
  const start = portable ? String.raw`.\python_embeded\python.exe -s ComfyUI\main.py --windows-standalone-build` : 'python main.py'
  const where = portable ? ' Add it to the line in run_nvidia_gpu.bat.' : ''
  const fewer: Piece = { text: `Start ComfyUI so that it takes less GPU memory, with fewer parts of the models.${where}`, command: `${start} --lowvram` }
  const reserve: Piece = {
    text: `Keep more memory free for the working data, the desktop and other programs (figure in GB).${where}`,
    command: `${start} --reserve-vram 1.0`,
  }
  const decode: Piece = DECODES.test(situation.text) && {
    text: /VAEDecodeTiled|retrying with tiled|\bin decode_tiled_?/.test(situation.text)
      ? 'It failed in the VAE decode, in tiles already: give the node "VAE Decode (Tiled)" smaller tiles (tile_size; for a video temporal_size too), or run the VAE on the CPU (--cpu-vae, slow).'
      : 'It failed in the VAE decode: use the node "VAE Decode (Tiled)" in place of "VAE Decode", for a video with a smaller temporal_size too.',
  }
  const smaller: Piece = {
    text: `Use a smaller resolution, batch or number of frames, ${decode === false ? 'a tiled VAE decode, ' : ''}or an fp8 or GGUF version of the model.`,
  }
  // Comfy-Org/ComfyUI#10662, #11597: the system refuses to lock host memory, and CUDA has the same words for that.
  const pinned: Piece = /\bPin error\.|CUDA error: out of memory/.test(situation.text) &&
    !situation.text.includes('--disable-pinned-memory') && {
      text: `Let ComfyUI lock no host memory for what it keeps there: where the system refuses that, CUDA says "out of memory" too.${where}`,
      command: `${start} --disable-pinned-memory`,
    }
  // Parts of the model are in host memory already: what is lacking is memory for the work.
  return partlyLoaded(situation) === undefined
    ? [decode, !situation.text.includes('--lowvram') && fewer, smaller, reserve]
    : /\bPin error\./.test(situation.text)
      ? [pinned, smaller, reserve]
      : [decode, smaller, pinned, reserve]
}
export const lessInWebui = ({ text }: Situation): readonly Piece[] => [
  FORGE.test(text) && { text: 'Use a smaller version of the model (nf4, or GGUF in 4 to 6 bit): the one that is chosen does not fit the card.' },
  /--no-half(?!-)|--precision full/.test(text) &&
    !/GTX ?16\d0/.test(text) && {
      text: 'Start without --precision full and --no-half, if the card works in 16 bit: they double the memory.',
    },
  {
    text: `${/\bdecode_first_stage\b/.test(text) ? 'It failed in the VAE decode, which grows with the area of the image (the extension Tiled VAE does it in tiles). ' : ''}Use a smaller resolution or batch${/\[GPU Setting\]/.test(text) ? ', and lower "GPU Weights" at the top of Forge' : text.includes('--lowvram') ? ' (--lowvram is already set), and upscale the image in tiles afterwards' : `, and start with ${text.includes('--medvram') ? '' : '--medvram or '}--lowvram in COMMANDLINE_ARGS`}.`,
  },
]
/** huggingface.co/docs/diffusers, "Reduce memory usage". */
const BUILDS_PIPELINE = /\bin (?:load_sub_model|from_pretrained|load_flow_model)\b/
export const lessInDiffusers = (situation: Situation): readonly Piece[] => [
  // While it is loaded, no image is made.
  !BUILDS_PIPELINE.test(situation.text) &&
    !loadsWeights(situation) &&
    !/enable_model_cpu_offload\(/.test(situation.text) && { text: 'Use a smaller resolution, batch or number of frames; decode the VAE in tiles or slices.' },
  /enable_sequential_cpu_offload\(/.test(situation.text)
    ? undefined
    : /enable_model_cpu_offload\(/.test(situation.text)
      ? /\.to\(["']cuda/.test(situation.text)
        ? { text: 'Leave out .to("cuda"): it puts the whole pipeline on the GPU before pipe.enable_model_cpu_offload() can keep it away.' }
        : { text: 'Keep single layers on the GPU instead of whole models (much slower): pipe.enable_sequential_cpu_offload().' }
      : { text: 'Keep on the GPU only what works: pipe.enable_model_cpu_offload() of diffusers, instead of moving the whole pipeline there.' },
  { text: 'Load the transformer and the text encoder quantized (fp8 or 4 bit), if they are not.' },
]

/** docs.rapids.ai: RMM managed memory; cuDF spilling. */
export const lessInRapids = (situation: Situation): readonly Piece[] => [
  { text: "Let RMM use host memory beside the card's: rmm.reinitialize(managed_memory=True) before the first allocation." },
  {
    text: 'Let cuDF move what it does not need to host memory, and work on smaller partitions.',
    command: setVariables(situation, { CUDF_SPILL: 'on' }),
  },
]
/** docs.cupy.dev, memory management. */
export const lessInCupy = ({ text }: Situation): readonly Piece[] => [
  // Chainer trains with CuPy's arrays.
  /\bchainer\b/i.test(text) && { text: 'Use a smaller minibatch, or smaller inputs.' },
  { text: 'Work in smaller pieces, and in float32 where float64 is not needed: it takes half.' },
  { text: 'Delete arrays that are done with, then give back what the pool keeps: cupy.get_default_memory_pool().free_all_blocks().' },
]
export const lessInXgboost = (situation: Situation, { free_bytes: free = 0, requested_bytes: asked = Infinity }: Facts): readonly Piece[] => [
  asked < free && {
    text: 'Watch the memory while it trains, and give each GPU one worker only.',
    command: 'nvidia-smi --query-gpu=index,memory.used,memory.free --format=csv -l 1',
  },
  { text: 'Give XGBoost its data in bins: QuantileDMatrix instead of DMatrix, and a smaller max_bin (128); it needs a fraction of the memory.' },
  { text: "Train on a part of the rows for each tree: subsample=0.2 with sampling_method='gradient_based', or with shallower trees (max_depth)." },
  whoHolds(situation),
]
/** docs.ultralytics.com, train settings. */
export function lessInUltralytics(situation: Situation): readonly Piece[] {
  const found = /AutoBatch: Using batch-size (\d{1,5})/.exec(situation.text)?.[1]
  const now = found === undefined ? (numberSet(situation.settings, 'batch') ?? numberSet(situation.settings, 'batch_size')) : Number(found)
  return [
    now === 1
      ? { text: 'The batch is 1 already: use smaller images.' }
      : {
          text: `Use a smaller batch${now === undefined || now < 1 ? '' : ` (now ${now})`}: batch= (YOLOv5: --batch-size)${found === undefined ? '' : '. AutoBatch measured it before the training, whose steps may need more: give it a smaller share (batch=0.5)'}.`,
        },
    { text: 'Use smaller images (imgsz=, YOLOv5: --img) or a smaller model of the family (n or s).' },
  ]
}
export const lessInFfmpeg = (): readonly Piece[] => [{ text: 'Decode or encode fewer streams at once on this GPU, or with fewer surfaces.' }]

const LENGTHS = /(?:of )?length (\d{2,6})\b/g
/** ESMFold and its relatives: attention over residues grows with the square of the length. */
/** docs/performance.md of AlphaFold 3, docker/run_docker.py of AlphaFold 2: pages of host memory behind those of the GPU. */
const ALPHAFOLD = /alphafold|colabfold/i
const SHARE_OF_XLA = /XLA_(?:PYTHON_)?CLIENT_MEM_FRACTION["']?[ =:]{1,3}["']?(\d{0,2}\.?\d{1,2})\b/
function lessInAlphafold(situation: Situation): readonly Piece[] {
  const share = SHARE_OF_XLA.exec(situation.text)?.[1]
  return [
    share !== undefined && Number(share) > 1 && situation.text.includes('TF_FORCE_UNIFIED_MEMORY')
      ? { text: `It uses host memory already, up to ${share} times the card: give the job that much host memory, and where it has more, raise the share.` }
      : {
          text: `Let it use host memory too (slower): unified memory, with a share above 1 of the card${share === undefined || Number(share) > 1 ? '' : `; ${share}, which is set, leaves only that part of the card`}.`,
          command: setVariables(situation, {
            TF_FORCE_UNIFIED_MEMORY: '1',
            [/alphafold-?3|xla_client_mem/i.test(situation.text) ? 'XLA_CLIENT_MEM_FRACTION' : 'XLA_PYTHON_CLIENT_MEM_FRACTION']: '4.0',
            XLA_PYTHON_CLIENT_PREALLOCATE: 'false',
          }),
        },
    { text: 'Fold less at once: memory grows with the square of the number of residues. Cut the sequence into parts that overlap, or leave chains out.' },
    { text: 'Or fold it on a GPU with more memory: one prediction runs on one GPU.' },
  ]
}
/** openmm/openmm#3975: the grid of PME grows with the box and with the accuracy that is asked for. */
export const lessInOpenmm: readonly Piece[] = [
  {
    text: 'See how large the periodic box is, and which error tolerance PME has: a huge box or a tiny ewaldErrorTolerance makes a huge grid of charges. Trim the solvent.',
  },
  { text: 'Compute in single or mixed precision, and run one simulation on a GPU at a time.' },
]
/** docs.blender.org, Cycles: performance, simplify, command line arguments. */
export const lessInBlender = (): readonly Piece[] => [
  {
    text: 'Make the scene smaller: limit textures and subdivision (Render Properties, Simplify), use fewer particles, and leave out what the camera does not see.',
  },
  { text: 'Render in smaller tiles (Performance, Memory: 1024 or 512).' },
  { text: 'Or render on the CPU: Cycles loads the whole scene onto each GPU.', command: 'blender -b <FILE> -f <FRAME> -- --cycles-device CPU' },
]
export function lessInFolding(situation: Situation): readonly Piece[] {
  if (ALPHAFOLD.test(situation.text)) return lessInAlphafold(situation)
  const failed = [...situation.text.matchAll(/out of memory\)? on sequence \S{1,60} (?:of )?length (\d{2,6})/gi)].map((match) => Number(match[1]))
  const shortest = failed.length > 0 ? Math.min(...failed) : undefined
  const done = [...situation.text.matchAll(LENGTHS)].map((match) => Number(match[1])).filter((length) => shortest !== undefined && length < shortest)
  const worked = done.length > 0 ? Math.max(...done) : undefined
  return [
    {
      text: `Compute the attention in chunks (esm-fold: --chunk-size 64, then 32)${shortest === undefined ? '' : `: sequences of length ${shortest} and more failed${worked === undefined ? '' : `, ${worked} worked`}`}.`,
    },
    { text: 'Fold long sequences alone, one in each batch, or on a GPU with more memory.' },
  ]
}

const BATCH = [
  'per_device_train_batch_size',
  'micro_batch_size',
  'train_micro_batch_size_per_gpu',
  'train_batch_size',
  'batch_size',
  'batch size per device',
  'batch size',
] as const
function smallerBatch({ settings }: Situation): Piece {
  const now = BATCH.map((name) => numberSet(settings, name)).find((size) => size !== undefined)
  if (now === 1) return { text: 'The batch size is 1 already: use smaller inputs (shorter sequences, a lower resolution).' }
  return {
    text: `Halve the batch size${now === undefined ? '' : ` (now ${now})`} and double the gradient accumulation steps: the result stays the same.`,
  }
}
const inForce = (text: string, pattern: RegExp): boolean => pattern.test(text)
/** Unsloth and LLaMA-Factory (disable_gradient_checkpointing: false) recompute by default. */
const CHECKPOINTS = /unsloth|llama-?factory|gradient[-_]checkpointing["']?(?:[=:,]|['"], ?['"]?| ) ?["']?True/i
const HALF =
  /unsloth|--(?:fp16|bf16|(?:use[-_])?amp)\b|\bwith (?:torch\.)?(?:cuda\.)?(?:amp\.)?autocast\(|\b(?:fp16|bf16|use_amp)["']?[=: ]{1,3}["']?true|mixed[-_]precision["']?[=: ]{1,3}["']?(?:fp16|bf16)/i
/** Trainers of image models, which have no sequences. */
const IMAGES =
  /\bsd-scripts\b|\bkohya|\bdiffusers\b|\btorchvision\b|\btimm\b|\bmm(?:det|seg|cv)\b|\bmonai\b|\bnnunet|\bimagenet\b|\bcoco\b|[\\/]images\b|--(?:imgsz|img[-_]size|image[-_]size)\b|\bresnet\d/i
/** sd-scripts: train_network.py trains a LoRA; its options. */
const KOHYA_LORA = /train_network\.py/
/** FLUX.1 and SD3 have no U-Net: docs of flux_train_network.py. */
const KOHYA_DIT = /\bflux_train_network\.py/
const SHARDED = /\bfsdp2?\b|FullyShardedDataParallel|\bfully_shard\b/i
const OFFLOADS = /zero[-_]?\d?\w{0,6}[-_]offload|offload_(?:optimizer|param)/i

export const lessInTraining = (situation: Situation): readonly Piece[] => (evaluatesAlone(situation) ? inEvaluation(situation) : whileTraining(situation))
const whileTraining = (situation: Situation): readonly Piece[] => [
  ...phasePieces(situation),
  !validates(situation) && !evaluates(situation) && smallerBatch(situation),
  !validates(situation) &&
    !evaluates(situation) && {
      text: inForce(situation.text, CHECKPOINTS)
        ? `Use ${inForce(situation.text, HALF) ? '' : '16-bit numbers (bf16, where the GPU supports it), '}an 8-bit optimizer, or ${IMAGES.test(situation.text) ? 'smaller images' : 'shorter sequences'}.`
        : `Switch on activation checkpointing${inForce(situation.text, HALF) ? '' : ' and 16-bit numbers (bf16, where the GPU supports it)'}, or ${IMAGES.test(situation.text) ? 'use smaller images' : 'shorten the sequences'}.`,
    },
  /\bZeRO[-_ ]?(?:stage[-_ ]?)?3\b|zero[-_\\/]?(?:stage)?_?3|"stage": ?3/i.test(situation.text)
    ? inForce(situation.text, OFFLOADS)
      ? { text: 'ZeRO 3 with offloading is already in use: shorten the sequences to reduce activation memory, or use more GPUs.' }
      : {
          text: 'ZeRO 3 already splits the model over the ranks: let DeepSpeed offload optimizer and parameters to the CPU (offload_optimizer, offload_param), or use more GPUs.',
        }
    : situation.programs.has('deepspeed')
      ? !validates(situation) && {
          text: 'Let DeepSpeed split the optimizer, gradients and parameters over the ranks (ZeRO stage 3), or offload them to the CPU.',
        }
      : /unsloth/i.test(situation.text)
        ? { text: 'Train fewer parameters: a smaller rank, and neither embed_tokens nor lm_head.' }
        : KOHYA_DIT.test(situation.text)
          ? {
              text: 'Keep blocks of the transformer in host memory (--blocks_to_swap 18, more if needed), the outputs of the text encoders and the latents in the cache (--cache_text_encoder_outputs, --cache_latents), and the base model in fp8 (--fp8_base).',
            }
          : KOHYA_LORA.test(situation.text)
            ? {
                text: 'Train only the U-Net (--network_train_unet_only), with the latents cached (--cache_latents), and keep the base model in fp8 (--fp8_base).',
              }
            : !validates(situation) &&
              !/\/THC\//.test(situation.text) && {
                text: `${SHARDED.test(situation.text) ? 'FSDP is in use: let it split the parameters too (FULL_SHARD), keep them in host memory (CPU offload), or use more GPUs' : situation.hosted ? 'Choose a runtime with a larger GPU' : 'Split the model and the optimizer over more GPUs (FSDP or ZeRO)'}${/bnb-4bit|load_in_4bit|qlora|quantization_bit/i.test(situation.text) ? '' : /\blora|\bpeft|unsloth/i.test(situation.text) ? ', or load the base model in 4 bit (QLoRA)' : ', or train an adapter (LoRA) instead of all weights'}.`,
              },
]

/** Nothing tells whether a model is trained or used. */
/** CUDA.jl, "Memory management": it collects garbage before it gives up. */
const inJulia = ({ programs, text }: Situation): Piece =>
  (programs.has('julia') || /\b(?:CuArrays|CUDAdrv)\b/.test(text)) && {
    text: 'See in the program what is held (CUDA.memory_status()): what is left after the garbage collection is still referenced. Let go of arrays that are done with (x = nothing) or free them (CUDA.unsafe_free!), in loops above all.',
  }
/** Weights go to the GPU while they are read, before the model gets them. */
const inPaddle = ({ text }: Situation): Piece =>
  /\bpaddle\.load\(/.test(text)
    ? {
        text: 'It failed while weights were read: read them into host memory (paddle.load(…, return_numpy=True)), so that the GPU holds them only once, and use half precision or a smaller model.',
      }
    : undefined
export const lessAnyway = (situation: Situation): readonly Piece[] => [
  inJulia(situation),
  ...(MIG.test(situation.text) ? [largerInstance(situation)] : []),
  /\bmistralrs/.test(situation.text) && { text: 'Let mistral.rs quantize the model while it loads it (--isq 4), or take one that is quantized (GGUF).' },
  inPaddle(situation) ?? { text: 'Make the work smaller: a smaller batch, shorter or smaller inputs, or a smaller or quantized model.' },
  // Programs see one instance of MIG.
  !MIG.test(situation.text) && { text: `Or run it on a GPU with more memory${situation.hosted || situation.jetson ? '' : ', or split over several'}.` },
]

/** FlashInfer's buffer, in bytes: SGLang's variable had another name before 0.5. */
export function lessWorkspace(situation: Situation, asked: number): readonly Piece[] {
  const bytes = String(2 ** 29 * Math.max(2, Math.ceil((1.5 * asked) / 2 ** 29)))
  const vllm = situation.programs.has('vllm') && !situation.programs.has('sglang')
  return [
    {
      text: `Make the workspace larger (in bytes; it is taken from the GPU's memory)${vllm ? '' : '; older releases of SGLang call it FLASHINFER_WORKSPACE_SIZE'}.`,
      command: setVariables(situation, { [vllm ? 'VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE' : 'SGLANG_FLASHINFER_WORKSPACE_SIZE']: bytes }),
    },
    {
      text: 'Or process long prompts in smaller pieces.',
      command: vllm ? '--max-num-batched-tokens 2048' : '--chunked-prefill-size 2048',
    },
  ]
}

/** PaddlePaddle says which share of the card it may use; a little more of nearly all of it would not help. */
export function raiseFraction(situation: Situation): Piece {
  const share = Number(/FLAGS_fraction_of_gpu_memory_to_use is (0\.\d{1,4})/.exec(situation.text)?.[1] ?? 1)
  return (
    share < 0.85 && {
      text: `Let PaddlePaddle use more of the card, if nothing else runs on it: it may take ${Math.round(100 * share)} % now.`,
      command: setVariables(situation, { FLAGS_fraction_of_gpu_memory_to_use: '0.92' }),
    }
  )
}
/** RMM's pool, whose largest size was set, or else is what was free at its start. */
export const LARGER_POOL: Piece = {
  text: 'Raise the largest size of the pool, where one was set: maximum_pool_size in rmm.reinitialize, --rmm-maximum-pool-size of dask-cuda.',
}
/** A program in C++ of the user's own. */
export const LESS_AT_ONCE: Piece = {
  text: 'Work on less at once: a smaller problem or batch, or one part after another, and free what is not needed any more (cudaFree).',
}
