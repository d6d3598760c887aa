// Who starts vLLM in a log, and how its options are called there: trainers that generate on the cards they train on, and managers of models, have names of their own for them.
import type { Situation } from '../../../situation/situation.ts'
import type { Piece } from '../../remedies/plan.ts'

type Value = string | number | undefined
/** A program that starts vLLM: it trains with PyTorch and generates with vLLM, or it manages models. */
type Host = {
  readonly pattern: RegExp
  /** How an option of vLLM is given to it; undefined where it has no such option, or none that was looked up. */
  readonly spell: (name: string, value: Value) => string | undefined
  /** It trains on the same cards. */
  readonly trains: boolean
  /** Its default for vLLM's share is far below vLLM's own, and has changed. */
  readonly ownShare?: true
  /** What it has to give the memory of one part back while the other works. */
  readonly frees?: Piece
  readonly lessToTrain?: Piece
  /** Its options are arguments of a script's config, not flags. */
  readonly inScript?: true
}

const isSet = (value: Value): Value => value ?? 'True'
const only = (names: readonly string[], spell: (name: string, value: Value) => string): Host['spell'] => {
  return (name, value) => (names.includes(name) ? spell(name, value) : undefined)
}
const OF_VERL = 'actor_rollout_ref.'
const OF_ROLLOUT = /^(?:gpu_memory_utilization|tensor_parallel_size|max_model_len|max_num_(?:seqs|batched_tokens)|enforce_eager|dtype)$/
const WHILE_THE_OTHER_WORKS = 'Let vLLM and the trainer release GPU memory while the other one works (when both share the GPUs)'

/** Names: verl's and NeMo RL's configuration pages, OpenRLHF's `--help`, TRL's GRPOConfig, ms-swift's command-line parameters. */
const HOSTS: readonly Host[] = [
  {
    pattern: /\bactor_rollout_ref\b|\/verl\/(?:workers|trainer|utils|single_controller)\//,
    // What its configuration has no key for goes to the engine as it is; Hydra adds a key with "+".
    spell: (name, value) =>
      OF_ROLLOUT.test(name)
        ? `${OF_VERL}rollout.${name.replace('tensor_', 'tensor_model_')}=${isSet(value)}`
        : `+${OF_VERL}rollout.engine_kwargs.vllm.${name}=${isSet(value)}`,
    trains: true,
    ownShare: true,
    frees: {
      text: 'Keep weights and optimizer of the training in host memory while vLLM generates on the same card.',
      command: ['param', 'optimizer'].map((what) => `${OF_VERL}actor.fsdp_config.${what}_offload=True`).join(' '),
    },
    lessToTrain: {
      text: 'It failed in a step of the training: use a smaller micro-batch.',
      command: `${OF_VERL}actor.ppo_micro_batch_size_per_gpu=1`,
    },
  },
  {
    // Its actors that generate have the class LLMRayActor.
    pattern: /\bopenrlhf\b|\(LLMRayActor pid=/i,
    spell: (name, value) =>
      name === 'enforce_eager'
        ? '--enforce_eager'
        : only(['gpu_memory_utilization', 'tensor_parallel_size'], (known, set) => `--vllm_${known} ${set ?? ''}`)(name, value),
    trains: true,
    frees: { text: `${WHILE_THE_OTHER_WORKS}.`, command: '--vllm_enable_sleep --deepspeed_enable_sleep' },
  },
  {
    pattern: /\bnemo_rl\b/,
    spell: only(['gpu_memory_utilization', 'tensor_parallel_size', 'max_model_len', 'enforce_eager'], (name, value) => {
      return `policy.generation.vllm_cfg.${name}=${value ?? 'true'}`
    }),
    trains: true,
    ownShare: true,
  },
  {
    pattern: /\bswift (?:rlhf|sft|infer|deploy|rollout)\b|\/swift\/(?:llm|trainers|pipelines|rlhf_trainers)\//,
    spell: only(['gpu_memory_utilization', 'tensor_parallel_size', 'max_model_len', 'max_num_seqs', 'enforce_eager'], (name, value) => {
      return `--vllm_${name} ${value ?? 'true'}`
    }),
    trains: true,
    frees: { text: `${WHILE_THE_OTHER_WORKS}.`, command: '--sleep_level 1' },
  },
  {
    // docs.unsloth.ai, reinforcement learning: the share is an argument of from_pretrained, with a default of its own.
    pattern: /\bunsloth\b|Unsloth\w{0,10}Trainer|unsloth_/i,
    spell: only(['gpu_memory_utilization', 'max_lora_rank'], (name, value) => `FastLanguageModel.from_pretrained(${name}=${value ?? ''})`),
    trains: true,
    ownShare: true,
    inScript: true,
  },
  {
    pattern: /\/trl\/trainer\/|\b(?:GRPO|RLOO|OnlineDPO)(?:Trainer|Config)\b/,
    spell: only(
      ['gpu_memory_utilization', 'tensor_parallel_size', 'max_model_len'],
      (name, value) => `vllm_${name}${name.endsWith('_len') ? 'gth' : ''}=${value ?? ''}`,
    ),
    trains: true,
    ownShare: true,
    frees: { text: `${WHILE_THE_OTHER_WORKS}: vllm_enable_sleep_mode=True in the config (GRPOConfig …).` },
    inScript: true,
  },
  {
    // Arguments that it does not know go to the engine, by the names of vLLM's Python.
    pattern: /\bxinference\b/i,
    spell: (name, value) => `xinference launch --model-engine vllm --model-name <MODEL> --${name} ${isSet(value)}`,
    trains: false,
  },
]

/** The one that runs vLLM here; undefined where vLLM was started by itself or by a script. */
export const hostOf = ({ text }: Pick<Situation, 'text'>): Host | undefined => HOSTS.find(({ pattern }) => pattern.test(text))

/** The engine is made by a script: options are arguments there. */
const CALL = /\b(LLM|[A-Z]\w{1,40})\([^()\n]{0,200}?(?:gpu_memory_utilization|max_model_len|tensor_parallel_size)=|\b(LLM)\(/
export const madeByScript = ({ text }: Pick<Situation, 'text'>): boolean => CALL.test(text)

/** What to set, in the words of whoever starts vLLM. `name`: as vLLM's Python calls it. */
export function vllmOption(situation: Situation, text: string, name: string, value?: string | number): Piece {
  const host = hostOf(situation)
  if (host !== undefined) {
    const command = host.spell(name, value)
    if (command === undefined) return undefined
    return host.inScript === true ? { text: `${text} In the config: ${command}.` } : { text, command }
  }
  const call = CALL.exec(situation.text)
  return call === null
    ? { text, command: `--${name.replaceAll('_', '-')}${value === undefined ? '' : ` ${value}`}` }
    : { text: `${text} In the script: ${call[1] ?? call[2]}(${name}=${value === undefined ? 'True' : name.endsWith('dtype') ? `'${value}'` : value}).` }
}
