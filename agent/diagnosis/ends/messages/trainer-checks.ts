// What trainers and loaders of models refuse at their start: settings that exclude each other, samples without the columns of the model, a model that does not fit.
import { printTorch } from '../../faults/remedies/environment.ts'
import { INFERENCE } from '../../situation/programs.ts'
import { newerName } from '../python-packages.ts'
import { only, type Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

export const UNSLOTH = 'python -m pip install --upgrade unsloth unsloth_zoo'
const ROWS: readonly Row[] = [
  [
    /train_dataset does not implement __len__[^]{0,200}max_steps/,
    'Set max_steps: samples × epochs / (batch of one device × processes × gradient_accumulation_steps). Or give the Trainer a data set that is not streamed.',
    undefined,
    'A streamed data set has no length, so epochs do not give the number of steps.',
    'max_steps is missing for a streamed data set',
  ],
  [
    /Cannot load <class 'diffusers[^]{0,200}because the following keys are missing/,
    'Take the files of this very model: a variant of another kind (Flux dev and schnell, inpainting, another size) has other layers. If its page names a newer Diffusers, update that. Weights that are filled in at random (low_cpu_mem_usage=False) give no usable model.',
    'python -m pip show diffusers',
    undefined,
    'The files lack layers that the model has',
  ],
  [
    /The batch received was empty|No columns in the dataset match the model's forward method/,
    'Tokenize before the training: dataset.map(lambda x: tokenizer(x["text"], truncation=True), batched=True), with a column labels where the collator makes none. remove_unused_columns=False only where a collator of your own reads the raw columns.',
    undefined,
    'The data set has no column that the model takes (input_ids, labels), so the Trainer dropped them all.',
    'The samples are not tokenized',
  ],
  [
    // https://github.com/unslothai/unsloth/issues/2797
    /eos_token` \('<EOS_TOKEN>'\) is not found in the vocabulary/,
    'Import unsloth before trl and transformers, and update it; or give SFTConfig the eos_token that the tokenizer itself has.',
    UNSLOTH,
    'The placeholder comes from Unsloth, which changes the defaults of TRL.',
    'Unsloth was imported after TRL',
  ],
  [
    /NaN detected in latents/,
    'Encode in full precision: --no_half_vae; for SDXL the VAE that was corrected for fp16 (sdxl-vae-fp16-fix) works too. If it is one picture alone, look at it: it may be damaged.',
    undefined,
    'The VAE in fp16 gives values that are no numbers.',
    'The VAE gives NaN',
  ],
  [
    /Cannot find valid samples, check/,
    'Compare the data set with its entry in data/dataset_info.json: formatting (alpaca, sharegpt) and the names under columns and tags must be those of the file; samples whose turns do not alternate, or that end without an answer, are dropped.',
    'head -c 600 <FILE>',
    'LLaMA-Factory read the data set, and no sample was left.',
    'No sample of the data set has the expected form',
  ],
  [
    /vLLM server can't be reached at (\S{5,80})/,
    'Start the server on other GPUs than the training, before it, and name its host and port (vllm_server_host, vllm_server_port); or let both share the GPUs: vllm_mode="colocate".',
    'CUDA_VISIBLE_DEVICES=<GPU> trl vllm-serve --model <MODEL>',
    undefined,
    'The trainer does not reach its vLLM server',
  ],
  [
    /has some modules offloaded to cpu or disk|can't move a model that has some modules offloaded/i,
    'Leave .to() and .cuda() out: device_map placed the model. For training it must fit the GPU: a smaller or 4-bit model, or more GPUs.',
  ],
  [
    /contains `DTensor` parameters, which is incompatible with DDP/,
    "Load the model without device_map='auto' (leave it out, or name one device), and let the launcher start one process for each GPU.",
    undefined,
    "device_map='auto' split the model by tensor parallelism, and DDP needs a whole one on each GPU.",
  ],
  [
    /unexpected keyword argument 'load_in_(?:4|8)bit'/,
    'Pass quantization_config=BitsAndBytesConfig(load_in_4bit=True) to from_pretrained.',
    undefined,
    'Transformers 5 removed load_in_4bit and load_in_8bit as arguments.',
  ],
]

/** `['--evaluation_strategy', 'steps']`: the options, without their values. */
const optionsIn = (list: string): readonly string[] => [...list.matchAll(/['"]--([A-Za-z][\w-]{0,60})(?:=[^'"]{0,200})?['"]/g)].map(([, name = '']) => name)

export const TRAINER_CHECKS: readonly Known[] = [
  {
    pattern: /Some specified arguments are not used by the HfArgumentParser: \[([^\]\n]{2,600})\]/,
    title: ([, list = '']) => {
      const [first] = optionsIn(list)
      return first === undefined ? 'The script does not take all of its arguments' : `The script takes no --${first}`
    },
    remedies: ([, list = ''], { situation }) => [
      ...optionsIn(list).map((name) => {
        const now = newerName(name.replaceAll('-', '_'), 'TrainingArguments')
        return (
          now !== undefined && { text: `In newer releases of Transformers --${name} is ${/^\w+$/.test(now) ? `--${now}` : now}: change it in the command.` }
        )
      }),
      { text: 'Correct these arguments, or leave them out; see which the script takes.', command: `python ${situation.subject.script ?? '<SCRIPT>'} --help` },
      { text: 'Where they were right for the release that the script was written for, install that one.', command: 'python -m pip show transformers' },
    ],
  },
  {
    // accelerate/accelerator.py: is_bf16_available()
    pattern: /bf16 mixed precision requires PyTorch >= 1\.10 and a supported device/,
    title: 'bf16 was asked for, and this PyTorch has no device for it',
    says: 'PyTorch sees no GPU, or one that is too old for bf16 (before Ampere, or without an emulation).',
    remedies: () => [
      {
        text: 'See which it is.',
        command: printTorch('torch.__version__, torch.cuda.is_available(), torch.cuda.is_available() and torch.cuda.is_bf16_supported()'),
      },
      { text: 'False at once: this PyTorch was built without CUDA, or the driver does not work. Else take fp16.', command: '--mixed_precision fp16' },
    ],
  },
  {
    pattern: /when caching (latents|text encoder outputs?), (?:either )?([\w, ]{3,160}) cannot be used/i,
    title: ([, what = '']) => `${what.toLowerCase() === 'latents' ? 'Cached latents do' : 'A cached text encoder does'} not go together with another option`,
    remedies: ([, what = '', options = '']) => [
      {
        text: `Take ${options.replace(/ or (?=\w+$)/, ' and ')} out (those of them that are set), or the caching: ${what.toLowerCase() === 'latents' ? 'the cache holds one crop and one colour of each image' : 'the cache holds one version of each caption'}.`,
      },
    ],
  },
  {
    // https://github.com/deepspeedai/DeepSpeed/issues/6793, https://github.com/huggingface/transformers/pull/35157
    pattern: /no_sync context manager is incompatible with gradient partitioning/,
    title: 'Gradient accumulation and DeepSpeed do not fit together in these releases',
    says: 'Since 0.16 DeepSpeed refuses no_sync under ZeRO 2 and 3, and the accumulation of gradients here uses it.',
    remedies: () => [
      {
        text: 'With the Trainer: update Transformers and Accelerate, whose newer releases do without no_sync under ZeRO.',
        command: 'python -m pip install --upgrade transformers accelerate',
      },
      { text: 'Or install DeepSpeed 0.15.4, which does not refuse it.', command: "python -m pip install 'deepspeed==0.15.4'" },
      { text: 'In a loop of your own: leave accelerator.accumulate() out, and set gradient_accumulation_steps in the configuration of DeepSpeed.' },
    ],
  },
  {
    pattern: /We need an `offload_dir` to dispatch|pass along an `offload_folder`|provide an `offload_folder`/,
    title: 'The model does not fit the GPUs and the host memory',
    says: 'Layers would go to disk, for which no folder is named.',
    remedies: () => [
      { text: 'Make the model smaller (4-bit), or use more GPUs.' },
      { text: 'See who else holds memory of the GPUs.', command: 'nvidia-smi' },
      { text: "For an adapter onto a model that fits one GPU: device_map={'': 0}." },
      { text: 'Only for inference, and very slow: offload_folder, on a fast disk.' },
    ],
  },
  {
    // Servers have advice of their own.
    pattern:
      /Cannot use chat template functions because tokenizer\.chat_template is not set|apply_chat_template[^\n]{0,80}no template|does not have a chat template/,
    when: ({ situation: { programs } }) => !INFERENCE.some((one) => programs.has(one)),
    title: 'The model has no chat template',
    says: 'The tokenizer is of a base model, which has no format for chats.',
    remedies: only(
      'Train from the Instruct or chat variant, whose tokenizer has a template; for a base model set tokenizer.chat_template (of the same family), or give ready texts in a column "text".',
    ),
  },
  ...ofRows(ROWS),
]
