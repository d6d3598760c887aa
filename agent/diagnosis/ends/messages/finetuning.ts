// Messages of Transformers, TRL, PEFT, Accelerate, DeepSpeed and the programs around them with one reason each; most hold figures that are used.
import { UNSLOTH } from './trainer-checks.ts'
import type { Known } from './message.ts'
import { caller } from './packages.ts'
import { madeFor } from '../python-packages.ts'

export const FINETUNING: readonly Known[] = [
  {
    pattern: /Unsloth: (\S{3,120}) is not supported in your current Unsloth version/,
    title: ([, model]) => `This Unsloth does not know ${model}`,
    remedies: () => [
      {
        text: 'Update Unsloth and what belongs to it, then start the process (notebook: the kernel) again.',
        command: 'python -m pip install --upgrade unsloth unsloth_zoo',
      },
      { text: 'Where the newest does not know it either: the model is of an architecture that Unsloth does not train.' },
    ],
  },
  {
    pattern: /Unsloth: The tokenizer `([^`\n]{3,160})`\s{0,3}does not have a \{% if add_generation_prompt %\}/,
    title: 'The chat template of the tokenizer cannot begin an answer',
    says: ([, name]) => `The chat template of ${name} has no part that opens the answer (add_generation_prompt), which Unsloth asks for.`,
    remedies: () => [
      {
        text: "Give the tokenizer the template of the model's family: unsloth.chat_templates.get_chat_template(tokenizer, chat_template=…), or tokenizer.chat_template of the model that it was trained from.",
      },
      { text: 'Or update Unsloth: newer releases correct more templates by themselves.', command: 'python -m pip install --upgrade unsloth unsloth_zoo' },
    ],
  },
  {
    pattern: /torch_compile should be set within your deepspeed config file/,
    title: 'Axolotl wants torch.compile switched on in the DeepSpeed file',
    remedies: () => [
      {
        text: 'Take torch_compile out of the YAML, and add this to the JSON file that deepspeed: names: "compile": {"disable": false, "backend": "inductor"}.',
      },
    ],
  },
  {
    // deepspeed/runtime/zero/stage3.py, defragment
    pattern: /^/,
    when: ({ error, situation }) => error?.name === 'AssertionError' && /assert len\(set\(t\.dtype for t in tensors\)\) == 1/.test(situation.text),
    title: 'ZeRO-3 got weights of several types',
    says: 'ZeRO-3 puts the weights of a group into one buffer, so all of them must have one dtype: adapters, value heads or norms in fp32 are mixed with bf16 or fp16 here.',
    remedies: () => [
      { text: 'Bring all weights to one type after adapters and heads were added, before the trainer is made: model.to(torch.bfloat16).' },
      { text: 'PEFT keeps adapters in fp32 by itself: get_peft_model(model, config, autocast_adapter_dtype=False).' },
    ],
  },
  {
    pattern: /`metric_for_best_model` training argument is set to '([\w.-]{1,80})'[^]{0,80}The available evaluation metrics are: \[([^\]]{1,600})\]/,
    title: ([, name]) => `The evaluation gives no ${name}`,
    remedies: ([, name, all = '']) => {
      const metrics = [...all.matchAll(/'([\w.-]{1,80})'/g)].flatMap(([, one]) => (one === undefined || /runtime|per_second|^epoch$/.test(one) ? [] : [one]))
      return [
        metrics.length > 0 && { text: `Set metric_for_best_model to one that there is: ${metrics.slice(0, 8).join(', ')}.` },
        {
          text: `Or let compute_metrics return ${name?.replace(/^eval_/, '')}: the Trainer writes eval_ before it. With several evaluation sets the name of the set comes between.`,
        },
      ]
    },
  },
  {
    pattern: /name 'PreTrainedConfig' is not defined/,
    title: 'A package does not fit the installed Transformers',
    says: 'Transformers 5 writes PreTrainedConfig, where it was PretrainedConfig before.',
    remedies: (_, context) => {
      const from = caller(context, 'transformers')
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
    remedies: ([, one, two, count], context) => {
      const have = Number(one) * Number(two)
      const valid = [...`${context.error?.message}\n${context.error?.tail}`.matchAll(/are: \[([\d, ]{1,200})\]/g)][0]?.[1]
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
        text: `Add ${name} to dataset_info.json in the folder of dataset_dir (default: data), with its file_name, formatting and columns; or correct dataset: to a name that the file has.`,
      },
      { text: 'See which names it has.', command: 'python -c "import json; print(list(json.load(open(\'data/dataset_info.json\'))))"' },
    ],
  },
  {
    // Without quotes it is what Diffusers looked up for a class that model_index.json names.
    pattern: /module (diffusers|transformers|trl|peft) has no attribute ([A-Z]\w{3,80})/,
    title: ([, owner, name]) => `The installed ${owner} has no ${name}`,
    says: ([, owner], { error }) =>
      error?.frames.some(({ file }) => /from_pretrained|pipeline|auto_factory|loading_utils/.test(file)) === true
        ? `The model was saved for a newer ${owner}.`
        : undefined,
    remedies: ([, owner]) => [
      { text: `Update ${owner}.`, command: `python -m pip install --upgrade ${owner}` },
      { text: 'If no release has it yet: install it from its repository.', command: `python -m pip install git+https://github.com/huggingface/${owner}` },
    ],
  },
  {
    // `Python 3.12+ not yet supported for torch.compile`; for 3.13 it is since 2.6 (its release post, #144048); 2.4 and 2.10 have no source that we could open.
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
]
