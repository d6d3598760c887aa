// Where in a run GPU memory ran out, as the frames of the traceback tell: weights, optimizer state and gathered outputs get no smaller with the batch.
import type { Situation } from '../../../situation/situation.ts'
import { smaller } from '../../../situation/work.ts'
import type { Piece } from '../../remedies/plan.ts'

const GATHERS =
  /\bin (?:_unshard_params|_unshard_fsdp_state_params|summon_full_params|_full_pre_state_dict_hook|_full_post_state_dict_hook|get_model_state_dict|_consolidated_16bit_state_dict)\b/
const EVALUATES = /\bin (?:evaluation_loop|prediction_loop|prediction_step|nested_concat|torch_pad_and_concatenate|pad_across_processes|gather_for_metrics)\b/
/** Of Transformers' Trainer and of those built on it. */
const PREDICTS = /\btrainer\.(?:predict|evaluate)\(/
const TRAINS = /\b_inner_training_loop\b|\bin (?:train|training_step|_maybe_log_save_evaluate)\b/
export const evaluates = ({ text }: Situation): boolean =>
  EVALUATES.test(text) || (PREDICTS.test(text) && /transformers|llama-?factory|\btrl\b/i.test(text) && !TRAINS.test(text))
/** Nothing else of a training is on the GPU then: no gradients, no state of the optimizer. */
export const evaluatesAlone = (situation: Situation): boolean => evaluates(situation) && !TRAINS.test(situation.text)
/** A loop of one's own: its frame, or the bar that was last. */
const VALIDATES =
  /\bin (?:validate|validation|validation_step|run_validation|(?:eval|val|valid|validate)_epoch|do_eval)\b|\b[Vv]alid(?:at(?:ion|ing|e))?\b[^\n]{0,120}%\|[^\n]{0,160}\s{1,4}Traceback/
/** Of one's own script, not of a library that evaluates: those keep no gradients. */
const OWN_EVALUATION =
  /File "(?![^"\n]{0,200}(?:-packages|lm_eval|lighteval))[^"\n]{1,200}", line \d{1,6}, in (?:evaluate|eval|test|evaluation|eval_model|evaluate_model)\b/
/** Evaluated already without gradients: `with torch.no_grad():`, or a decorator's frame. */
const WITHOUT_GRADIENTS = /no_grad\(\)|inference_mode\(|in decorate_context\b/
export const validates = ({ text }: Situation): boolean =>
  VALIDATES.test(text) || (OWN_EVALUATION.test(text) && !EVALUATES.test(text) && !WITHOUT_GRADIENTS.test(text))
/** Harnesses that measure a model: nothing is trained. */
export const onlyEvaluates = ({ text }: Situation): boolean => /\blighteval\b|\blm[-_]eval\b|lm-evaluation-harness/.test(text)
/** DeepSpeed makes the state of the optimizer before the first batch. */
const OF_MEGATRON = /distrib_optimizer\.py", line \d{1,6}, in (?:__init__|_build_\w{3,40}|_init_optimizer_states\w{0,20})\b/
const OPTIMIZER =
  /distrib_optimizer\.py", line \d{1,6}, in (?:__init__|_build_|_init_optimizer_states)|\b_setup_for_real_optimizer\b|\binitialize_optimizer_states\b|\b_create_fp32_partitions\b|\b_configure_zero_optimizer\b/

/** The weights are copied, or room for all of them is asked for at once. */
const LOADS =
  /\bin convert\s{1,20}(?:\d{1,5} {0,20})?return t\.to\(|_apply\(lambda t: t\.cuda\(|\bin (?:caching_allocator_warmup|set_module_tensor_to_device|_load_state_dict_into_meta_model|_load_pretrained_model|_move_model_to_device|load_checkpoint_in_model|_load_parameter_into_model)\b|modeling_utils\.py", line \d{1,5}, in from_pretrained\b|Loading checkpoint shards: {1,4}\d{1,2}%\|[^\n]{0,160}\s{1,4}Traceback|pipeline_utils\.py", line \d{1,5}, in to\b/
/** Weights that are in host memory are copied for each layer that runs. */
export const loadsWeights = ({ text }: Situation): boolean => LOADS.test(text) && !/\bin pre_forward\b/.test(text)
const HALF = /torch_?dtype=["']?(?:torch\.)?(?:b?float16|half|auto)|\bdtype=torch\.b?float16|\.half\(\)|--(?:fp16|bf16)\b|fp16: ?[Tt]rue|bf16: ?[Tt]rue/
/** A program that was given one instance names it so. */
export const MIG = /CUDA_VISIBLE_DEVICES=["']?MIG-|\bMIG\b[^\n]{0,16}\b(?:\dc\.)?\dg\.\d{1,3}gb\b|nvidia\.com\/mig-\dg\./i
export const largerInstance = ({ text }: Situation): Piece => {
  const profile = /\b(?:\dc\.)?\dg\.\d{1,3}gb\b/i.exec(text)?.[0]
  return {
    text: `The program has one MIG instance${profile === undefined ? '' : ` (${profile})`}: give it one with more memory.`,
    command: 'nvidia-smi mig -lgip; nvidia-smi -L',
  }
}
const LOADS_WHISPER = /\bwhisper\.load_model\(|[\\/]whisper[\\/]__init__\.py"/
/** No batch makes the weights smaller. */
export const lessToLoad = (situation: Situation): readonly Piece[] =>
  LOADS_WHISPER.test(situation.text)
    ? lessToTranscribe
    : [
        {
          text: `It failed while the model's weights were copied to the GPU, before any batch: load ${HALF.test(situation.text) ? '' : 'them in 16 bit, or '}a ${smaller(situation) === 'smaller' ? 'smaller model' : 'model in 8 or 4 bit'}.`,
        },
        MIG.test(situation.text)
          ? largerInstance(situation)
          : {
              text: "Or spread the weights over more GPUs, or let a part stay in host memory, which is slow (transformers and accelerate: device_map='auto').",
            },
      ]

/** The last words of the traceback count: an evaluation is called by a training. */
export const makesOptimizer = ({ text }: Situation): boolean => OPTIMIZER.test(text)

/** Nothing of a batch is held any more when the optimizer makes its step. */
const STEPS = /\bin (?:_multi_tensor_\w{2,20}|_single_tensor_\w{2,20}|_init_group)\b/
/** Optimizers of others (ColossalAI, Apex, bitsandbytes) make their state in the first step: the line of the frame names it. */
const MAKES_STATE =
  /^\s{1,40}(?:self\.)?state\[["']?(?:p\]\[["'])?(?:exp_avg|momentum_buffer|step|state[12])\w{0,8}["']?\] ?= ?[^\n]{0,60}\b(?:zeros|empty|get_state_buffer)/m
const makesStep = ({ text }: Situation): boolean => STEPS.test(text) || MAKES_STATE.test(text)
const OFFLOADED = /offload_optimizer["']?\s?:\s?\{[^}]{0,80}cpu/
const ADAPTER = /\blora|\bpeft|unsloth/i
export const phasePieces = (situation: Situation): readonly Piece[] => [
  GATHERS.test(situation.text) && {
    text: 'It failed while the whole state was gathered on one GPU: save it in shards (SHARDED_STATE_DICT), or on the host (FullStateDictConfig(offload_to_cpu=True, rank0_only=True)).',
  },
  evaluates(situation) && {
    text: 'It failed in the evaluation, whose outputs stay on the GPU: set eval_accumulation_steps, a smaller per_device_eval_batch_size, or preprocess_logits_for_metrics, which keeps only what the metric needs.',
  },
  validates(situation) && {
    text: 'It failed in the validation: run it under torch.no_grad() (Lightning does so by itself), use a smaller validation batch, and keep no outputs on the GPU.',
  },
  makesStep(situation) && {
    text: `It failed in the step of the optimizer, when no batch is held any more: ${/[\\/]deepspeed[\\/]/.test(situation.text) && !OFFLOADED.test(situation.text) ? 'keep its state in host memory (zero_optimization: offload_optimizer, device cpu), or split it over more GPUs' : 'use an 8-bit optimizer, or split its state over more GPUs (FSDP, ZeRO)'}.`,
  },
  /_multi_tensor_/.test(situation.text) && {
    text: 'Or give the optimizer foreach=False: its temporary copies then have the size of one tensor, not of all weights (slower).',
  },
  ...(OF_MEGATRON.test(situation.text)
    ? [
        {
          text: 'It failed while the state of the optimizer was made, before any batch: split the model over more GPUs (--tensor-model-parallel-size, --pipeline-model-parallel-size), or that state over more data-parallel ranks.',
        },
        { text: 'Or keep it in host memory (--optimizer-cpu-offload of newer releases of Megatron Core).' },
      ]
    : makesOptimizer(situation)
      ? [
          !OFFLOADED.test(situation.text) && {
            text: 'It failed while DeepSpeed made the state of the optimizer, before any batch: keep that in host memory (zero_optimization: offload_optimizer, device cpu).',
          },
          { text: `Or spread it over more GPUs${ADAPTER.test(situation.text) ? '' : ', or train an adapter (LoRA), whose optimizer is small'}.` },
        ]
      : []),
]
/** Evaluated only: neither gradients nor an optimizer hold anything. */
export const inEvaluation = (situation: Situation): readonly Piece[] => [
  ...phasePieces(situation),
  { text: `Load the model ${HALF.test(situation.text) ? '' : 'in 16 bit, '}in 8 or 4 bit, or spread over more GPUs (device_map="auto").` },
]
/** Before its first step a trainer of image models encodes all images: kohya's scripts (library/train_util.py, library/strategy_base.py), OneTrainer, ai-toolkit. */
const CACHES_LATENTS = /\bin (?:new_)?cache_(?:batch_)?latents\w{0,12}\b|\b_default_cache_batch_latents\b/
const KOHYA = /\bsd-scripts\b|\bkohya|--vae_batch_size|\bvae_batch_size\b/
const lessToEncode = ({ text }: Situation): readonly Piece[] => [
  KOHYA.test(text)
    ? {
        text: 'It failed while the VAE encoded the images, before the first step of the training, whose batch size has no part in it: encode one image at a time.',
        command: '--vae_batch_size 1',
      }
    : { text: 'It failed while the VAE encoded the images, before the first step of the training: encode fewer of them at once.' },
  { text: 'Or lower the resolution of the images: what the VAE needs grows with their area.' },
]

/** Reads tensors to where they lay when they were saved: with several ranks all of them to the first GPU. */
const RESTORES = /\bin (?:restore_location|_cuda_deserialize|_deserialize)\b/
export const toHostFirst = ({ text }: Situation): Piece =>
  RESTORES.test(text) &&
  !/map_location=["']?(?:torch\.device\(["'])?cpu/.test(text) && {
    text: "It failed while a checkpoint was read straight onto the GPU where it was saved: torch.load(…, map_location='cpu'), then move the model.",
  }
/** Transformers: generation/utils.py. huggingface.co/docs/transformers/v4.44.0/kv_cache. */
const GENERATES = /generation[\\/]utils\.py", line \d{1,6}, in (?:generate|_?sample|_?beam_search|_?greedy_search)\b/
const lessToGenerate: readonly Piece[] = [
  { text: 'It failed while text was generated, and the KV cache grows with each token: shorter prompts, a smaller max_new_tokens, or fewer prompts at once.' },
  { text: 'Or keep that cache in host memory, which is slower: model.generate(…, cache_implementation="offloaded") of Transformers 4.44 and newer.' },
  { text: 'Or load the model in 8 or 4 bit, which leaves more of the card to the cache.' },
]
/** github.com/oobabooga/text-generation-webui, its tab Parameters and its flags. */
const WEBUI = /[\\/]text-generation-webui[\w.-]{0,20}[\\/]/
const WEBUI_GENERATES = /\bin (?:generate_with_callback|gentask|generate_reply\w{0,10})\b|^Output generated in \d/m
const lessInTextWebui = ({ text }: Situation): readonly Piece[] => {
  const context = /^Output generated in [^\n]{0,80}\bcontext (\d{1,7}),/m.exec(text)?.[1]
  return [
    {
      text: `It failed while text was generated${context === undefined ? '' : ` from a context of ${context} tokens`}: lower "Truncate the prompt up to this length" and max_new_tokens in the tab Parameters.`,
    },
    !/--load-in-4bit/.test(text) && {
      text: 'Or start it with the model in 4 bit, or take a GPTQ, EXL2 or GGUF version of the model.',
      command: 'python server.py --load-in-4bit',
    },
  ]
}
/** OpenAI's whisper has no batch. */
const WHISPER = /[\\/]whisper[\\/](?:transcribe|model|decoding|audio|timing)\.py"/
const lessToTranscribe: readonly Piece[] = [
  { text: 'Load a smaller model (turbo or medium in place of large).' },
  { text: 'Or use faster-whisper, whose models need less: WhisperModel(…, compute_type="int8").' },
]
/** README of facebookresearch/demucs. */
const DEMUCS = /\bdemucs\b/i
const lessToSeparate: readonly Piece[] = [
  { text: 'Let Demucs cut the song into shorter pieces (seconds; releases from 3 on).', command: '--segment 7' },
  { text: 'Or compute on the CPU: it takes about as long as the song.', command: '-d cpu' },
]

/** Where no batch was in play: instead of everything that is said of batches. */
export const lessBeforeBatch = (situation: Situation): readonly Piece[] | undefined =>
  loadsWeights(situation)
    ? lessToLoad(situation)
    : CACHES_LATENTS.test(situation.text)
      ? lessToEncode(situation)
      : makesOptimizer(situation) || makesStep(situation)
        ? phasePieces(situation)
        : WEBUI.test(situation.text) && WEBUI_GENERATES.test(situation.text)
          ? lessInTextWebui(situation)
          : GENERATES.test(situation.text) && !situation.training
            ? lessToGenerate
            : WHISPER.test(situation.text) && !situation.training
              ? lessToTranscribe
              : DEMUCS.test(situation.text) && !situation.training
                ? lessToSeparate
                : undefined
