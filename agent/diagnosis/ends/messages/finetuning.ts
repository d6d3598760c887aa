// Messages of Transformers, TRL, PEFT, Accelerate, DeepSpeed and the programs around them with one reason each; most hold figures that are used.
import { INFERENCE } from '../../situation/programs.ts'
import type { Known } from './message.ts'
import { caller } from './packages.ts'
import { madeFor } from '../python-packages.ts'
import { ofRows, type Row } from './rows.ts'

const UNSLOTH = 'python -m pip install --upgrade unsloth unsloth_zoo'
const ROWS: readonly Row[] = [
  [
    /'generation_batch_size' and 'steps_per_generation' can not be both/,
    'Leave one of both out: each follows from the other (generation_batch_size is the batch of one device × processes × steps_per_generation). Where only one was set, a configuration that was saved or copied brings the other.',
    undefined,
    undefined,
    'generation_batch_size and steps_per_generation are both set',
  ],
  [
    // https://github.com/deepspeedai/DeepSpeed/issues/6793, https://github.com/huggingface/transformers/pull/35157
    /no_sync context manager is incompatible with gradient partitioning/,
    'Install DeepSpeed 0.15.4, which does not check this; or update Transformers and Accelerate, whose newer Trainer does without no_sync under ZeRO. In a loop of your own leave accelerator.accumulate() out: DeepSpeed accumulates by its own gradient_accumulation_steps (1 always works).',
    "python -m pip install 'deepspeed==0.15.4'",
    'Since 0.16 DeepSpeed refuses no_sync under ZeRO 2 and 3, and gradient accumulation of this release uses it.',
    'Gradient accumulation and DeepSpeed do not fit together in these releases',
  ],
  [
    /does not support an attention implementation through torch\.nn\.functional\.scaled_dot_product_attention/,
    'Load the model with attn_implementation="eager".',
    undefined,
    'Its code has no version for the attention of PyTorch; code that came with the model (trust_remote_code) may be older than this Transformers.',
    'The model has no attention of that kind',
  ],
  [
    /We need an `offload_dir` to dispatch|pass along an `offload_folder`|provide an `offload_folder`/,
    "Let the model fit: quantize it (4-bit), use more GPUs, or free their memory (nvidia-smi shows who holds it). An adapter is loaded onto one GPU by device_map={'': 0}. Only for inference, and very slow: offload_folder=<FOLDER>.",
    'nvidia-smi',
    'GPUs and host memory together do not hold the model, so that layers would go to disk.',
    'The model does not fit the GPUs and the host memory',
  ],
  [
    /Cannot find valid samples, check/,
    'Compare the data set with its entry in data/dataset_info.json: formatting (alpaca, sharegpt) and the names under columns and tags must be those of the file; samples whose turns do not alternate, or that end without an answer, are dropped.',
    'head -c 600 <FILE>',
    'LLaMA-Factory read the data set, and no sample was left.',
    'No sample of the data set has the expected form',
  ],
  [
    /Cannot use chat template functions because tokenizer\.chat_template is not set|apply_chat_template[^\n]{0,80}no template|does not have a chat template/,
    'Train from the Instruct or chat variant, whose tokenizer has a template; for a base model set tokenizer.chat_template (of the same family), or give ready texts in a column "text".',
    undefined,
    'The tokenizer is of a base model, which has no format for chats.',
    'The model has no chat template',
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
    /activation_checkpointing in FSDP config and the gradient_checkpointing in training arg can't be set to True/i,
    'Set one of both: activation_checkpointing in fsdp_config, and gradient_checkpointing=False.',
  ],
  [
    /(?:already contains|passed a) `?PeftModel`?[^\n]{0,80}(?:together with|and) (?:a )?`?peft_config|`PeftModel` instance together with a `peft_config`/,
    'Give the trainer one of both: the plain model with peft_config, or the PeftModel alone. To train a second adapter: merge_and_unload() the first, and save that model.',
    undefined,
    undefined,
    'The model has an adapter already',
  ],
  [
    /Could not find the transformer layer class (\w{2,60})/,
    'Name the class of the layers of this model (print(model) shows it; for Llama LlamaDecoderLayer) in fsdp_transformer_layer_cls_to_wrap, or leave it out: the model names its own.',
  ],
  [
    /At most one of fp16 and bf16 can be True/,
    'Set one of both to False: bf16 on Ampere and newer, fp16 on older GPUs. A configuration of DeepSpeed must agree ("auto" does).',
  ],
  [
    /unexpected keyword argument 'load_in_(?:4|8)bit'/,
    'Pass quantization_config=BitsAndBytesConfig(load_in_4bit=True) to from_pretrained.',
    undefined,
    'Transformers 5 removed load_in_4bit and load_in_8bit as arguments.',
  ],
  [/unexpected keyword argument 'overwrite_output_dir'/, 'Leave overwrite_output_dir out: Transformers 5 removed it and always writes into output_dir.'],
]

export const FINETUNING: readonly Known[] = [
  {
    pattern: /name 'PreTrainedConfig' is not defined/,
    title: 'A package does not fit the installed Transformers',
    says: 'Transformers 5 writes PreTrainedConfig, where it was PretrainedConfig before.',
    remedies: (_, told) => {
      const from = caller(told, 'transformers')
      return [
        from !== undefined && {
          text: `Update ${from}, whose code failed.`,
          command: from.startsWith('unsloth') ? UNSLOTH : `python -m pip install --upgrade ${from}`,
        },
        { text: `${from === undefined ? 'Install' : 'Or install'} a Transformers before 5.`, command: "python -m pip install 'transformers<5'" },
      ]
    },
  },
  {
    // https://github.com/huggingface/transformers/issues/33620
    pattern: /'\w{2,30}' object has no attribute 'train'/,
    when: ({ error }) => /[\\/]accelerate[\\/]optimizer\.py$/.test(error?.frames.at(-1)?.file ?? ''),
    title: 'Accelerate is too old for this Transformers',
    says: 'Transformers from 4.45 on switches the optimizer to training, and an older Accelerate passes that on to optimizers that do not know it.',
    remedies: () => [{ text: 'Update Accelerate to 0.34.2 or newer.', command: "python -m pip install --upgrade 'accelerate>=0.34.2'" }],
  },
  {
    pattern:
      /global (?:train|eval) batch size \((\d{1,6}) [x*] (\d{1,6})\) must be (?:evenly )?divisible by the number of generations (?:per prompt|used for evaluation) \((\d{1,5})\)/,
    title: ([, one, two, count]) => `A batch of ${Number(one) * Number(two)} does not hold whole groups of ${count} generations`,
    remedies: ([, one, two, count], told) => {
      const have = Number(one) * Number(two)
      const valid = [...`${told.error?.message}\n${told.error?.tail}`.matchAll(/are: \[([\d, ]{1,200})\]/g)][0]?.[1]
      const divisors =
        valid ??
        Array.from({ length: have }, (_, i) => i + 1)
          .filter((i) => i > 1 && have % i === 0)
          .join(', ')
      return [
        divisors !== '' && { text: `Set num_generations to one of ${divisors}: it must divide processes × per_device_train_batch_size (${have}).` },
        {
          text: `Or keep ${count} generations: raise per_device_train_batch_size, or the number of processes, until their product is a multiple of ${count}. Where one GPU is kept for vLLM, one process less counts.`,
        },
      ]
    },
  },
  {
    pattern: /generation_batch_size \((\d{1,7})\) must be divisible by (num_generations|the global batch size) \((\d{1,7})\)/,
    title: ([, batch, , of]) => `generation_batch_size ${batch} is no multiple of ${of}`,
    remedies: ([, batch, what, of]) => [
      {
        text: `Raise per_device_train_batch_size or gradient_accumulation_steps, so that their product with the processes (${batch} now) becomes a multiple of ${of}: ${Math.ceil(Number(batch) / Number(of)) * Number(of)}.`,
      },
      what === 'num_generations' && { text: `Or set num_generations to a divisor of ${batch} that is at least 2.` },
    ],
  },
  {
    pattern: /Image features and image tokens do not match[:,]? tokens: (\d{1,9}),? features:? (\d{1,9})/,
    title: ([, tokens, features]) => `The text has ${tokens} image tokens, and the images give ${features}`,
    says: ([, tokens, features]) =>
      Number(tokens) === 0
        ? 'The text has no place for the image.'
        : Number(tokens) < Number(features)
          ? 'Mostly the text was cut at its longest length, inside the image tokens.'
          : 'A sample has more places for images than images.',
    remedies: ([, tokens, features]) => [
      Number(tokens) === 0
        ? { text: 'Build the text with processor.apply_chat_template and one {"type": "image"} for each image, or put the image token of this model into it.' }
        : Number(tokens) < Number(features)
          ? {
              text: 'Do not cut samples with images: max_length=None (LLaMA-Factory: a larger cutoff_len), or make the images smaller (max_pixels of the processor).',
            }
          : { text: 'Compare the places for images in the text with the images of the sample.' },
      { text: 'Use the processor of this very model and release; print the first sample that fails, and leave out those that do not fit.' },
    ],
  },
  {
    // https://github.com/unslothai/unsloth/pull/4807, https://github.com/huggingface/peft/issues/2388
    pattern: /Target module (\w{2,80})[^]{0,2000}?is not supported\. Currently, only/,
    title: ([, name]) => `PEFT has no adapter for ${name}`,
    says: ([, name = '']) =>
      /QuantLinear|Quanto|AWQ|GPTQ/i.test(name)
        ? 'It is a quantized layer, for which a package is missing or too old.'
        : 'target_modules matches more than linear layers: a wrapper, or a whole block.',
    remedies: ([, name = '']) =>
      /QuantLinear|Quanto|AWQ|GPTQ/i.test(name)
        ? [{ text: 'Update PEFT with the package that made the layer (gptqmodel, autoawq, optimum-quanto).', command: 'python -m pip install --upgrade peft' }]
        : [
            {
              text: "Let target_modules match linear layers of the language model alone, by a pattern over whole names: r'.*language_model.*\\.(q_proj|k_proj|v_proj|o_proj)'. The towers for images and audio then stay as they are.",
            },
            { text: 'See the names and classes: for name, module in model.named_modules(): print(name, type(module).__name__).' },
            { text: 'Update PEFT: newer releases know more layers, and unpack some wrappers.', command: 'python -m pip install --upgrade peft' },
          ],
  },
  {
    pattern: /Undefined dataset (\S{1,120}) in dataset_info\.json/,
    title: ([, name]) => `dataset_info.json has no data set ${name}`,
    remedies: ([, name]) => [
      {
        text: `Add ${name} to dataset_info.json in the folder of dataset_dir (default: data), with its file_name, formatting and columns; or correct dataset: to a name that stands there.`,
      },
      { text: 'See which names it has.', command: 'python -c "import json; print(list(json.load(open(\'data/dataset_info.json\'))))"' },
    ],
  },
  {
    pattern: /module '?(diffusers|transformers|trl|peft)'? has no attribute '?([A-Z]\w{3,80})/,
    when: ({ error }) => /has no attribute '?[A-Z]/.test(error?.message ?? '') && !/[a-z]' has no/.test(error?.message ?? ''),
    title: ([, owner, name]) => `The installed ${owner} has no ${name}`,
    says: ([, owner]) => `The model was saved for a newer ${owner}.`,
    remedies: ([, owner]) => [
      { text: `Update ${owner}.`, command: `python -m pip install --upgrade ${owner}` },
      { text: 'If no release has it yet: install it from its repository.', command: `python -m pip install git+https://github.com/huggingface/${owner}` },
    ],
  },
  {
    // `Python 3.12+ not yet supported for torch.compile`; since 2.4, 2.6 and 2.10 it is for 3.12, 3.13 and 3.14.
    pattern: /(?:Dynamo|torch\.compile) is not supported on Python (3\.\d{1,2})\+|Python (3\.\d{1,2})\+ not yet supported for torch\.compile/,
    title: ([, one, two]) => `This PyTorch cannot compile under Python ${one ?? two} or newer`,
    remedies: ([, one, two]) => {
      const python = one ?? two ?? ''
      const release = { '3.11': '2.1', '3.12': '2.4', '3.13': '2.6', '3.14': '2.10' }[python]
      return [
        release !== undefined && {
          text: `Update PyTorch to ${release} or newer, with all that was built for it: from then on it compiles under Python ${python}.`,
        },
        { text: `Or use a Python before ${python}.`, command: `conda create -y -n <NAME> python=3.${Number(python.slice(2)) - 1}` },
        { text: 'Or run without torch.compile.', command: 'export TORCHDYNAMO_DISABLE=1' },
      ]
    },
  },
  {
    pattern: /Could not load (?:lib)?torchcodec/,
    title: (_, { situation: { text } }) =>
      /libavutil[^\n]{0,40}cannot open/.test(text) && !/undefined symbol|libnppi/.test(text) ? 'FFmpeg is missing' : 'TorchCodec cannot be loaded',
    says: (_, { situation: { text } }) =>
      /undefined symbol/.test(text)
        ? 'It was built for another PyTorch than the one that is installed.'
        : /libavutil[^\n]{0,40}cannot open/.test(text)
          ? 'TorchCodec found the libraries of no FFmpeg that it knows.'
          : undefined,
    remedies: (_, { situation: { text, system } }) => {
      const torch = /PyTorch version \((\d\.\d{1,2})/.exec(text)?.[1]
      const fits = torch === undefined ? undefined : madeFor('torchcodec', torch)
      const ffmpeg = /libavutil[^\n]{0,40}cannot open/.test(text)
      const match = {
        text: `Install the TorchCodec for ${torch === undefined ? 'this PyTorch' : `PyTorch ${torch}`}${fits === undefined ? ' (the table is in its README)' : `: ${fits}`}.`,
        command: `python -m pip install 'torchcodec==${fits === undefined ? '<VERSION>' : fits}'`,
      }
      return [
        /undefined symbol/.test(text) && match,
        ffmpeg &&
          (system === 'windows'
            ? { text: 'Install a build of FFmpeg with shared libraries (DLLs) into the environment.', command: 'conda install -y -c conda-forge ffmpeg' }
            : { text: 'Install FFmpeg with its shared libraries. On Debian and Ubuntu (elsewhere by conda):', command: 'sudo apt-get install -y ffmpeg' }),
        !/undefined symbol/.test(text) && match,
        { text: 'Or load audio without it: datasets before 4 (soundfile, librosa).', command: "python -m pip install 'datasets<4'" },
      ]
    },
  },
  {
    pattern: /decoding (?:audio|video) data,? please install '?torchcodec/,
    title: 'TorchCodec is missing',
    says: 'datasets decodes audio and video by it since version 4.',
    remedies: (_, { situation }) => [
      { text: 'Install it in the release for your PyTorch, with FFmpeg.', command: 'python -m pip install torchcodec' },
      situation.system !== 'windows' && { text: 'On Debian and Ubuntu:', command: 'sudo apt-get install -y ffmpeg' },
      { text: 'Or use datasets before 4, which decodes by soundfile and librosa.', command: "python -m pip install 'datasets<4'" },
    ],
  },
  ...ofRows(ROWS).map((row) => (/chat_template/.test(row.pattern.source) ? { ...row, when: trains } : row)),
]
function trains({ situation: { programs } }: Parameters<NonNullable<Known['when']>>[0]): boolean {
  return !INFERENCE.some((one) => programs.has(one))
}
