// Attributes that a class of a library does not have: its package is of another release than the code that asks for it.
import { applicationOf } from '../applications.ts'
import { isUserFrame } from '../../traceback/user-frame.ts'
import { packageOfClass } from '../python-packages.ts'
import type { Known } from './message.ts'
import { caller, together } from './packages.ts'

const cache = 'the methods of the cache changed: get_seq_length() and get_max_cache_shape() are left'
/** `Class.attribute`, and what took its place. */
const NOW: readonly (readonly [name: RegExp, now: string])[] = [
  [/Cache\.(?:seen_tokens|get_max_length|get_usable_length)$/, cache],
  [/Cache\.(?:from|to)_legacy_cache$/, 'caches are no tuples any more: pass the cache object itself'],
  [/Tokenizer\w*\.(?:batch_)?encode_plus$/, 'call the tokenizer itself'],
  [/Config\.rope_theta$/, "config.rope_parameters['rope_theta'] (Transformers 5)"],
  [/Config\.(?:vocab_size|hidden_size|num_hidden_layers|num_attention_heads)$/, 'of the text part: config.get_text_config() or config.text_config'],
  [
    /(?:Llama|Qwen|Mistral)\w*Attention\.(?:num_heads|num_key_value_heads|rotary_emb|hidden_size)$/,
    'read from config, or passed from the model (Transformers 4.48)',
  ],
]

/** Names that a library imports only where a package is installed. */
const OPTIONAL: readonly (readonly [name: RegExp, package_: string])[] = [
  [
    /^(?:ParallelismConfig|init_empty_weights|init_on_device|dispatch_model|infer_auto_device_map|find_tied_parameters|load_checkpoint_in_model|AcceleratorState|PartialState|Accelerator)$/,
    'accelerate',
  ],
  [/^Peft\w{2,30}$|^(?:LoraConfig|get_peft_model|prepare_model_for_kbit_training)$/, 'peft'],
  [/^bnb$/, 'bitsandbytes'],
  [/^flash_attn\w{0,30}$|^_?flash_attention\w{0,20}$/, 'flash-attn --no-build-isolation'],
  [/^(?:torch|nn)$/, 'torch'],
]

export const ATTRIBUTES: readonly Known[] = [
  {
    // Its Python files ask its own compiled part for a name.
    pattern: /module 'torch\._C(?:\.\w{1,40})?' has no attribute '(\w{1,80})'/,
    when: ({ situation }) => /[\\/]torch[\\/](?:\w{1,30}[\\/]){0,3}\w{1,40}\.py", line \d/.test(situation.text),
    title: 'Two releases of PyTorch are mixed',
    says: "PyTorch's own Python files ask for it: they are of another release than its compiled part, mostly because one release was installed over another, or libtorch of another one is found first.",
    remedies: (_, { situation }) => [
      {
        text: `Remove every copy, then install one release${situation.jetson ? ' (on a Jetson the wheel for its JetPack)' : ''}: repeat this until it finds none.`,
        command: 'python -m pip uninstall -y torch torchvision torchaudio',
      },
      {
        text: 'See whether a folder of the loader or of Python brings another one.',
        command: 'printenv LD_LIBRARY_PATH PYTHONPATH; python -m pip list -v | grep -i torch',
      },
    ],
  },
  {
    pattern: /'DeepSpeedCPU(?:Adam|Adagrad|Lion)' object has no attribute 'ds_opt_\w{3,20}'/,
    title: "DeepSpeed's optimizer for the CPU was not built",
    says: 'It only follows: the extension could not be compiled or loaded, and the error above it says why.',
    remedies: () => [
      {
        text: "Look at the error above it: mostly there is no nvcc or compiler, or the CUDA toolkit is not that of PyTorch. DeepSpeed's own report compares them.",
        command: 'ds_report',
      },
      { text: 'Then let it build again from nothing.', command: 'rm -rf ~/.cache/torch_extensions' },
    ],
  },
  {
    pattern: /^name '(\w{1,80})' is not defined/,
    when: ({ facts, error }) => facts.frame === undefined || !(error?.frames.length === 0),
    title: ([, name = '']) => {
      const package_ = OPTIONAL.find(([pattern]) => pattern.test(name))?.[1].split(' ')[0]
      return package_ === undefined ? undefined : package_ === 'torch' ? 'A library does without PyTorch, and needs it' : `${package_} is missing or too old`
    },
    remedies: ([, name = ''], context) => {
      const package_ = OPTIONAL.find(([pattern]) => pattern.test(name))?.[1]
      // Where the user's own script uses the name, it lacks an import.
      const deepest = context.error?.frames.at(-1)
      if (package_ === undefined || (deepest !== undefined && isUserFrame(deepest))) return []
      return package_ === 'torch'
        ? [
            {
              text: 'A warning further above says why: PyTorch is missing, broken, or older than the library asks for. Update PyTorch, or install an older release of the library.',
              command: 'python -c "import torch; print(torch.__version__)"; python -m pip list | grep -iE "torch|transformers"',
            },
          ]
        : [
            {
              text: `${name} comes from ${package_.split(' ')[0]}, which could not be imported: install or update it, and start the process (notebook: the kernel) again.`,
              command: `python -m pip install --upgrade ${package_}`,
            },
          ]
    },
  },
  {
    // Trust_remote_code of models written for version 4, which do not call post_init. https://github.com/huggingface/transformers/issues/43646
    pattern: /has no attribute 'all_tied_weights_keys'|'list' object has no attribute 'keys'/,
    when: ({ error, situation }) => error?.message.includes('all_tied') === true || /tied_weights/.test(situation.text),
    title: "The model's code was written for Transformers 4",
    says: 'Transformers 5 expects what the base class sets in post_init(), which this code does not call.',
    remedies: () => [
      { text: 'Install the last Transformers of version 4.', command: "python -m pip install 'transformers<5'" },
      {
        text: 'Or take a newer revision of the code (of the model or of the package that brings it); code of your own: call self.post_init() last in __init__.',
      },
    ],
  },
  {
    pattern:
      /'(\w{2,60}Processor)' object has no attribute '((?:pad|eos|bos|unk|cls|sep|mask)_token\w{0,4}|padding_side|truncation_side|vocab_size|convert_\w{1,40}|add_(?:special_)?tokens|get_vocab|all_special_\w{1,10}|model_max_length|encode)'/,
    title: ([, type]) => `A ${type} is no tokenizer`,
    says: 'It holds the tokenizer beside the parts for images or sound.',
    remedies: ([, , name = '']) => [{ text: `Ask the tokenizer in it: processor.tokenizer.${name}.` }],
  },
  {
    // https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md: an attribute that is missing here has no message of its own in many releases.
    pattern:
      /^(?:AttributeError)?\n|'(?:transformers\.\S{1,60}\.)?BatchEncoding' object (?:cannot be interpreted|has no attribute '(?:shape|size|dim|ndim|dtype|device|tolist|unsqueeze|squeeze|repeat|expand)')|argument must be \S{0,20} ?(?:Tensor|list)[^\n]{0,20}BatchEncoding|KeyError: 'shape'|can(?:no|')t serialize [^\n]{0,200}BatchEncoding|must be Tensor, not BatchEncoding/,
    when: ({ error, situation }) =>
      /^(?:AttributeError)?$/.test(error?.message ?? '')
        ? error?.frames.at(-1)?.file.endsWith('tokenization_utils_base.py') === true
        : /\bapply_chat_template\b/.test(situation.text),
    title: 'A dictionary of tensors was passed where one tensor is expected',
    says: 'A tokenizer that is called, and from Transformers 5 on apply_chat_template as well, returns a BatchEncoding with input_ids and attention_mask.',
    remedies: () => [
      { text: 'Pass all of it: model.generate(**inputs). Where a tensor or list of tokens is wanted: inputs["input_ids"].' },
      { text: 'For code that works with both versions of Transformers: apply_chat_template(…, return_dict=True), then as above.' },
    ],
  },
  {
    // Transformers 5 says it without "object".
    pattern:
      /^(\w{2,60}Tokenizer\w{0,12}) has no attribute ((?:batch_)?encode_plus|batch_decode_plus|build_inputs_with_special_tokens|prepare_for_model|as_target_tokenizer)\b/,
    title: ([, type, name]) => `${type} of the installed transformers has no ${name}`,
    says: 'Transformers 5 removed it.',
    remedies: ([, , name = '']) => [
      {
        text: name.endsWith('encode_plus')
          ? 'In your own code call the tokenizer itself: tokenizer(texts, …) takes the same arguments.'
          : 'In your own code call the tokenizer itself: tokenizer(text, text_target=…).',
      },
      { text: 'If a package calls it: update that, or install the last Transformers of version 4.', command: "python -m pip install 'transformers<5'" },
    ],
  },
  {
    pattern: /'(\w{2,80})' object has no attribute '(\w{1,80})'/,
    title: ([, type = '', name], context) => {
      const owner = packageOfClass(type)
      return owner === undefined || applicationOf(context) !== undefined ? undefined : `${type} of the installed ${owner} has no ${name}`
    },
    remedies: ([, type = '', name = ''], context) => {
      const owner = packageOfClass(type)
      // What a pack of nodes or an application asks for is its own matter.
      if (owner === undefined || applicationOf(context) !== undefined) return []
      const now = NOW.find(([pattern]) => pattern.test(`${type}.${name}`))?.[1]
      const from = caller(context, owner)
      return [
        now !== undefined && { text: `In newer releases: ${now}. Change it where your own code asks for it.` },
        from === undefined
          ? {
              text: `Update ${owner}, or install the release that the program was written for.`,
              command: `python -m pip install --upgrade ${owner}`,
            }
          : together(from, owner, `${type}.${name}`),
        { text: 'See which releases are installed.', command: `python -m pip show ${from === undefined ? owner : `${owner} ${from}`}` },
      ]
    },
  },
]
