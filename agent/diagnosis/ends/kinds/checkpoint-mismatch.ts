// A checkpoint that does not fit the model, or cannot be read.
import type { Facts } from '../../../model/facts.ts'
import { CUT_CHECKPOINT, MODEL_FILE } from '../../faults/remedies/shared.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { WEIGHT, anyOf, openFrame, raises, saying, says, type EndKind, type EndContext, type ErrorPart } from '../end-kind.ts'

const unreadable = ({ input }: RegExpExecArray): Facts => {
  const path = MODEL_FILE.exec(input)?.[1]
  return { pattern: 'unreadable', ...(path === undefined ? {} : { path }) }
}
/** Reading a checkpoint fails with errors that say nothing of it. */
const READS =
  /^(?:load|torch_load|_load|_legacy_load|load_state_dict|__init__|safe_open|load_file|load_checkpoint|_open_zipfile_reader|persistent_load|restore|deserialize)$/
const reading = ({ frames }: ErrorPart): boolean =>
  frames.slice(-4).some(({ file, name }) => /(?:serialization|safetensors|pickle|h5py|orbax|checkpoint)/.test(file) && (name === undefined || READS.test(name)))

/** The file is whole: what may run from it is the question. */
function fullLoad(context: EndContext): readonly Piece[] {
  const name = /GLOBAL ([\w.]{3,120}) was not an allowed global|add_safe_globals\(\[(\w[\w.]{0,80})\]\)/.exec(context.situation.text)
  return [
    {
      text: `If ${name?.[1] ?? name?.[2] ?? 'the class that the message names'} comes from a library that you trust, allow it before the load: torch.serialization.add_safe_globals([${name?.[1] ?? name?.[2] ?? '…'}]).`,
    },
    { text: 'Only for a file that you made yourself or whose source you trust (loading it can run code): torch.load(…, weights_only=False).' },
    {
      text: 'If a library calls torch.load: update it, or use safetensors files. Releases made for PyTorch 2.6 load their own checkpoints.',
      command: 'python -m pip list',
    },
    openFrame(context),
  ]
}

const SIZES =
  /size mismatch for ([\w.]{1,200}): copying a param with shape torch\.Size\(\[([\d, ]{0,60})\]\) from checkpoint, the shape in current model is torch\.Size\(\[([\d, ]{0,60})\]\)/
type Sizes = { readonly name: string; readonly had: string; readonly has: string }
/** Orbax: `Requested shape: (…) is not compatible with the stored shape: (…)`. */
function stored({ error }: EndContext): Piece {
  const [, asked, has] = /Requested shape: (\([\d, ]{1,80}\)) is not compatible with the stored shape: (\([\d, ]{1,80}\))/.exec(error?.message ?? '') ?? []
  return (
    asked !== undefined && {
      text: `The model asks for ${asked}, and the checkpoint has ${has}: where only the first number differs, it is the size of the vocabulary (rounded up for the devices, or another tokenizer).`,
    }
  )
}
/** Of a tensor that could not be copied, which is not always for its size. */
const COPIED =
  /While copying the parameter named "?([\w.]{1,200})"?, whose dimensions in the model are torch\.Size\(\[([\d, ]{0,60})\]\) and whose dimensions in the checkpoint are torch\.Size\(\[([\d, ]{0,60})\]\)/
function sizesOf({ error }: EndContext): Sizes | undefined {
  // A console wraps long lines.
  const text = `${error?.message}\n${error?.tail}`.replaceAll(/\s+/g, ' ')
  const [, copied, now, then] = COPIED.exec(text) ?? []
  if (copied !== undefined && now !== undefined && then !== undefined && now !== then) return { name: copied, had: then, has: now }
  const [, name, had, has] = SIZES.exec(text) ?? []
  return name === undefined || had === undefined || has === undefined ? undefined : { name, had, has }
}
/** The tensor that does not fit says which setting differs. */
function bySizes(sizes: Sizes | undefined): readonly Piece[] {
  const general: Piece = {
    text: 'Build the model with the settings that the checkpoint was trained with: layers, width, number of classes, size of the vocabulary.',
  }
  if (sizes === undefined) return [general, HEAD]
  const { name, had, has } = sizes
  const [was, is] = [had.split(', '), has.split(', ')]
  if (has === '0')
    return [
      {
        text: 'The model is split by DeepSpeed ZeRO-3, so that each tensor is empty outside of its layer: load the weights before deepspeed.initialize (from_pretrained), or under deepspeed.zero.GatheredParameters(…, modifier_rank=0).',
      },
    ]
  if (had === '0')
    return [
      {
        text: 'The file holds empty tensors: it was saved under ZeRO-3 or FSDP without gathering the weights first, so there is nothing in it to load.',
      },
      {
        text: "Take the weights from DeepSpeed's own checkpoint of that run (the folder with zero_to_fp32.py), if it was kept.",
        command: 'python zero_to_fp32.py . <OUTPUT>',
      },
      {
        text: 'For the next run gather them: "stage3_gather_16bit_weights_on_model_save": true in the DeepSpeed file, or accelerator.get_state_dict(model) for what is saved.',
      },
    ]
  if (/\.lora_[ABE]/.test(name)) {
    const at = /lora_A/.test(name) ? 0 : 1
    return [
      {
        text: `The adapter has rank ${was[at]}, the model was made with r=${is[at]}: set r=${was[at]}, or read it from the adapter (PeftModel.from_pretrained).`,
      },
    ]
  }
  if (/embed|lm_head|wte|word_embeddings/.test(name) && was.length === 2 && was[1] === is[1])
    return [
      {
        text: `The vocabulary of the checkpoint has ${was[0]} tokens, that of the model ${is[0]}: call model.resize_token_embeddings(${was[0]}) before the load, with the tokenizer that was saved beside it.`,
      },
      general,
    ]
  return was.length === is.length &&
    /(?:^|\.)(?:classifier|head|fc|score|cls_score|out_proj|bbox_pred)\.?\d?\.?(?:weight|bias)?$/.test(name.replace(/\.(?:weight|bias)$/, ''))
    ? [HEAD, general]
    : [general, HEAD]
}
const HEAD: Piece = {
  text: 'For a new number of classes leave out the last layer (Transformers: ignore_mismatched_sizes=True): it is then trained from scratch.',
}
const listed = (text: string, which: string): readonly string[] =>
  [...(new RegExp(`${which} key\\(s\\) in state_dict: ([^\\n]{1,4000})`).exec(text)?.[1] ?? '').matchAll(/"([\w.-]{1,200})"/g)].flatMap(
    ([, name]) => name ?? [],
  )
/** Names that are missing against names that are too many: a prefix, or a folder of several states. */
function byKeys({ error }: EndContext): Piece {
  const text = `${error?.message}\n${error?.tail}`
  const [missing, more] = [listed(text, 'Missing'), listed(text, 'Unexpected')]
  const whole = more.find((name) => /^(?:model|state_dict|model_state_dict|net|weights|ema|module|generator)$/.test(name))
  if (whole !== undefined || more.some((name) => /^(?:epoch|optimizer\w{0,20}|step|global_step|scheduler|lr_schedulers?)$/.test(name)))
    return whole === undefined
      ? { text: 'The file holds more than the weights: print(checkpoint.keys()), and load the entry with them.' }
      : { text: `The file holds more than the weights, which are in its entry "${whole}": model.load_state_dict(checkpoint["${whole}"]).` }
  const [first, other] = [missing[0], more[0]]
  if (first !== undefined && other?.endsWith(`.${first}`) === true) {
    const prefix = other.slice(0, -first.length)
    return {
      text: `The names in the file begin with "${prefix}"${WRAPPERS.get(prefix) ?? ''}, those of the model do not: strip it, {k.removeprefix("${prefix}"): v for k, v in state.items()}.`,
    }
  }
  if (other !== undefined && first?.endsWith(`.${other}`) === true) {
    const prefix = first.slice(0, -other.length)
    return {
      text: `The names of the model begin with "${prefix}"${WRAPPERS.get(prefix) ?? ''}, those in the file do not: load them before the model is wrapped, or add it, {"${prefix}" + k: v for k, v in state.items()}.`,
    }
  }
  if (/(?:^|['\s(])(?:\w{1,20}\.){0,3}lm_head\.weight'/.test(text) && missing.length < 2)
    return {
      text: 'Where a model shares its output layer with its input embeddings (tie_word_embeddings in config.json), lm_head.weight is stored and sharded only once. Update Transformers, Accelerate and the trainer, which know of that, or tie the weights before the state is loaded: model.tie_weights().',
    }
  return { text: 'A wrapper adds a prefix to all names (`module.` of DataParallel, `_orig_mod.` of torch.compile): strip it before loading.' }
}
const WRAPPERS: ReadonlyMap<string, string> = new Map([
  ['module.', ' (of DataParallel)'],
  ['_orig_mod.', ' (of torch.compile)'],
  ['base_model.model.', ' (of PEFT)'],
])
const OPTIMIZER = /loaded state dict (?:contains a parameter group|has a different number)/

/** The name of a tensor, as the key that a table of parameters does not have. */
export const OF_WEIGHT = /^'(?:\w{1,40}\.){1,8}(?:(?:[wqkv]\d{0,2}_)?(?:q?weight|bias)\w{0,20}|qzeros|scales|g_idx|\w{1,20}_scale\w{0,4})(?:\.\w{1,20}){0,2}'$/m

/** As the cache of the hub calls its folder. */
function repository(text: string): string {
  const [, owner, name] = /models--([\w.-]{1,96}?)--([\w.-]{1,96}?)(?=[\\/\s]|$)/.exec(text) ?? []
  return name === undefined ? '<REPOSITORY>' : `${owner}/${name}`
}

/** Keras, of weights in HDF5 */
const OTHER_LAYERS = /Layer count mismatch when loading|weight file containing \d{1,5} layers|Layer #\d{1,5} \(named/
const BY_LAYERS = {
  text: 'Build the model as it was when the file was saved: the same layers, in the same order. Or load the layers that have the same names (by_name=True of load_weights, for HDF5 files).',
}

export const checkpointMismatch: EndKind = {
  kind: 'checkpoint_mismatch',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    // vLLM, model_executor/models/utils.py and load_weights of its models
    says(/There is no module or parameter named '[\w.]{1,200}'/, WEIGHT.message + 0.2, () => ({ pattern: 'keys' })),
    ({ name, message }) => (name === 'KeyError' && OF_WEIGHT.test(message) ? { weight: WEIGHT.message, facts: { pattern: 'keys' } } : undefined),
    ({ full }) => {
      const [, , now, then] = COPIED.exec(full) ?? []
      return now === undefined || now === then ? undefined : { weight: WEIGHT.message + 0.2, facts: { pattern: 'sizes' } }
    },
    // Keras and MindSpore
    says(
      /Shape mismatch in layer #\d|Received saved weight with shape|Layer weight shape .{1,60} not compatible with provided weight shape|should have the same shape as \S{1,200} in the argument 'parameter_dict'/,
      WEIGHT.message + 0.2,
      () => ({ pattern: 'sizes' }),
    ),
    says(
      /Layer count mismatch when loading weights|load a weight file containing \d{1,5} layers into a model with \d|Layer #\d{1,5} \(named .{1,120}\) expects \d{1,5} weight\(s\), but/,
      WEIGHT.message + 0.2,
      () => ({ pattern: 'keys' }),
    ),
    says(
      /size mismatch for \w[\w.]{0,200}|Size mismatch between saved torch\.Size|copying a param with shape|Requested shape: \([\d, ]{1,80}\) is not compatible with the stored shape|(?:parameter|weight|tensor) \S{1,120} has shape .{1,60} (?:but|expected)/,
      WEIGHT.message + 0.2,
      () => ({ pattern: 'sizes' }),
    ),
    says(
      /cannot find tensor [\w.]{3,200}|[Mm]issing tensor ['`"]?[\w.]{3,200}|Missing key\(s\) in state_dict|Unexpected key\(s\) in state_dict|[Mm]issing keys?(?: in)?:? ?\[|not found in checkpoint|unexpected keys? in (?:source )?state|restore item and on-disk .{0,40}structures do not match|(?:keys?|structures?|tree) .{0,60}(?:do not|does not|don't) match .{0,60}(?:checkpoint|state|restored)/,
      WEIGHT.message + 0.1,
      () => ({ pattern: 'keys' }),
    ),
    says(
      /Error\(s\) in loading state_dict|loaded state dict (?:contains a parameter group|has a different number)|different (?:set of )?(?:keys|number of (?:layers|parameters)) .{0,40}checkpoint/,
      WEIGHT.message,
      () => ({ pattern: 'keys' }),
    ),
    says(
      /PytorchStreamReader|failed finding central directory|invalid (?:load key|magic number|header|checkpoint file)|[Ii]ncomplete metadata|MetadataIncompleteBuffer|HeaderTooLarge|InvalidHeader|Error while deserializing|[Uu]nable to open file \((?:truncated|file signature)|file signature not found|truncated file|not a (?:zip|gzip|valid (?:checkpoint|safetensors|HDF5|gguf))|[Cc]orrupt(?:ed)? (?:checkpoint|file|data|header)|data is not within the file bounds|Unable to (?:load weights|open table file)|unpickling stack underflow|pickle data was truncated|Ran out of input|unexpected EOF|unexpectedly reached end of file|[Cc]hecksum (?:mismatch|failed|does not match)/,
      WEIGHT.message,
      unreadable,
    ),
    says(/Weights only load failed/, WEIGHT.message + 0.1, () => ({ pattern: 'weights_only' })),
    (error) => {
      const claim = raises(/^(?:SafetensorError|UnpicklingError|BadZipFile|BadZipfile|DataLossError|CheckpointError|RestoreError)$/)(error)
      return claim === undefined || /serializing|IoError|torch\.utils\.checkpoint/.test(error.message)
        ? undefined
        : { ...claim, facts: { pattern: 'unreadable' } }
    },
    (error) => (reading(error) && (error.errno === 22 || error.name === 'EOFError') ? { weight: WEIGHT.message, facts: { pattern: 'unreadable' } } : undefined),
  ),
  title: ({ facts: { pattern } }) =>
    pattern === 'weights_only'
      ? 'torch.load refuses what is not a tensor'
      : pattern === 'unreadable'
        ? 'A checkpoint or model file cannot be read'
        : 'The checkpoint does not fit the model',
  verdict: (context) =>
    context.facts.pattern === 'unreadable'
      ? saying(context, 'could not read a checkpoint or model file', 'Most likely a download or a save was cut off.')
      : context.facts.pattern === 'weights_only'
        ? saying(
            context,
            'could not load a checkpoint',
            'It holds more than tensors: torch.load, which since PyTorch 2.6 reads only weights (weights_only=True), refuses to run code of a file.',
          )
        : saying(
            context,
            'could not load a checkpoint',
            sizesOf(context) !== undefined
              ? `${sizesOf(context)?.name} is [${sizesOf(context)?.had}] in the checkpoint and [${sizesOf(context)?.has}] in the model.`
              : OPTIMIZER.test(context.error?.message ?? '')
                ? 'The optimizer was saved with other parameters than it has now.'
                : OTHER_LAYERS.test(context.error?.message ?? '')
                  ? 'It has other layers than the model.'
                  : `Its tensors have other ${context.facts.pattern === 'sizes' ? 'sizes' : 'names'} than those of the model.`,
          ),
  remedies: (context) => {
    const { pattern, path } = context.facts
    if (pattern === 'weights_only') return fullLoad(context)
    return pattern === 'unreadable'
      ? [
          {
            text: 'Compare the size of the file with that of its neighbours or of the hub.',
            ...(context.situation.system === 'windows'
              ? {}
              : { command: path === undefined || !/^[\w./~@+-]+$/.test(path) ? 'ls -lL <FOLDER>' : `ls -lL ${path}` }),
          },
          CUT_CHECKPOINT,
          {
            text: 'If it was downloaded, fetch it again: the incomplete file is replaced.',
            command: `hf download ${repository(context.situation.text)} --force-download`,
          },
          { text: 'Save to a temporary name and rename it when it is complete: a crash while saving then leaves the old one.' },
        ]
      : OPTIMIZER.test(context.error?.message ?? '')
        ? [
            { text: 'Give the optimizer the same parameters, in the same groups, as when it was saved: freeze, wrap and add parameters before it is made.' },
            { text: 'If they were changed on purpose: load the weights only, and let the optimizer start over (it warms up again).' },
            openFrame(context),
          ]
        : [
            stored(context),
            ...(OTHER_LAYERS.test(context.error?.message ?? '')
              ? [BY_LAYERS]
              : [
                  pattern === 'sizes' ? bySizes(sizesOf(context)) : byKeys(context),
                  pattern === 'keys' && { text: 'Else build the model with the settings that the checkpoint was trained with: layers, width, heads.' },
                ]),
            openFrame(context),
          ]
  },
}
