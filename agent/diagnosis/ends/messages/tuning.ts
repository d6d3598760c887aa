// Messages of fine-tuning: samples that are not tokenized, ZeRO-3, processors of models, Unsloth and TRL.
import { trlServer } from '../../faults/remedies/trl.ts'
import { KERNEL_LOG } from '../../faults/host-oom/remedies.ts'
import { signalName } from '../signals.ts'
import { only, type Known } from './message.ts'

/** A negative code is the number of a signal. */
const signalOf = (code: string): string | undefined => (code.startsWith('-') ? signalName(code) : undefined)

const FSDP = /FullyShardedDataParallel|\bfsdp\b(?![^]*\bdeepspeed\b)/i

export const TUNING: readonly Known[] = [
  {
    pattern: /[Yy]our model already has LoRA adapters|already added LoRA adapters to your model/,
    title: 'The model has a LoRA already',
    remedies: () => [
      { text: 'To train the adapter on: leave get_peft_model out; from_pretrained has loaded it with the model.' },
      { text: 'For a new one: load the base model, and start the process (notebook: the kernel) again, if get_peft_model has run before.' },
    ],
  },
  {
    pattern: /text input must be of type `str`|TextEncodeInput must be Union\[/,
    title: 'A sample of the data set is no text',
    says: 'The tokenizer got a number, a list or nothing (None) where it needs a string.',
    remedies: (_, { error }) => [
      error?.frames.some(({ file }) => file.includes('tensorflow')) === true && {
        text: "In tf.data texts are tensors of bytes: decode them before the tokenizer: [t.decode('utf-8') for t in texts.numpy()].",
      },
      {
        text: 'Find the samples and correct them or leave them out: dataset.filter(lambda x: isinstance(x["text"], str)). Empty fields of CSV and JSON files are None.',
      },
      { text: 'See that the column is the one with the text, and that messages were made into text first (apply_chat_template with tokenize=False).' },
    ],
  },
  {
    // DeepSpeed takes the word as it is. https://huggingface.co/docs/transformers/deepspeed
    pattern:
      /'[<>]=?' not supported between instances of '(?:str|int|float)' and '(?:str|int|float)'|(?:could not convert string to float|invalid literal for int\(\) with base 10): '?auto/,
    when: ({ error }) => /[\\/]deepspeed[\\/]/.test(error?.frames.at(-1)?.file ?? ''),
    title: 'DeepSpeed got a word where it needs a number',
    says: 'Mostly it is "auto" of the configuration, in whose place only the Trainer of Transformers and accelerator.prepare put figures.',
    remedies: () => [
      {
        text: 'Write figures in place of "auto" (warmup_num_steps, total_num_steps, train_micro_batch_size_per_gpu …), or leave scheduler and optimizer out and let the trainer make them.',
      },
    ],
  },
  {
    pattern: /Argument `(\w{1,60})` is not a valid argument of `GenerationConfig`/,
    title: ([, name]) => `${name} belongs to generate(), not to its configuration`,
    remedies: ([, name]) => [
      { text: `Take ${name} out of GenerationConfig (or generation_config.json), and pass it to generate().` },
      {
        text: 'Where a library makes the configuration: it was written for another Transformers. Update it, or install that one.',
        command: 'python -m pip show transformers',
      },
    ],
  },
  {
    pattern:
      /(\w[\w .-]{1,60}?) (?:failed|exited|crashed|ended) with (?:an? )?(?:non-zero )?(?:(?:exit|return|error) )?(?:code|status)[ :=]{1,2}(-?\d{1,10})\.?(?: (?:Check|See|Look) [^\n]{3,80})?$/m,
    when: ({ error }) => /^(?:Runtime|OS|Child\w{0,10})?(?:Error|Exception)$/.test(error?.name ?? ''),
    title: ([, what, code = '']) => (signalOf(code) === undefined ? `${what} ended with exit code ${code}` : `${what} was ended by ${signalOf(code)}`),
    says: ([, , code = '']) =>
      signalOf(code) === 'SIGKILL'
        ? `Exit code ${code} means SIGKILL: mostly the kernel sends it, when host memory runs out; a launcher also does, to clear away what failed before.`
        : 'The program that started it knows no more.',
    remedies: ([, , code = '']) => [
      {
        text: 'Read the lines of that program further above: its own error is there. Where this console does not show them, start its command in a terminal of its own.',
      },
      signalOf(code) === 'SIGKILL' && KERNEL_LOG,
    ],
  },
  {
    // What a launcher or a program with a window started.
    pattern:
      /^Command '\[?["']?(?:[^'"\n]{0,200}[\\/])?(accelerate|deepspeed|torchrun|python[\d.]{0,5})(?:\.exe)?['" ][^]{0,8000}?returned non-zero\s{1,3}exit status ([1-9]\d{0,2})\.?$/m,
    when: ({ error }) => error?.name === 'CalledProcessError' && !/\bpip\b|setup\.py|'vllm\.model_executor/.test(error.message),
    // Of Python only the script tells who it was.
    title: ([command, what, code]) => {
      const script = what?.startsWith('python') === true ? /([\w.-]{1,80}\.py)\b/.exec(command)?.[1] : undefined
      return script === undefined ? `What ${what} ran ended with exit code ${code}` : `${script} ended with exit code ${code}`
    },
    says: 'The program that started it knows no more.',
    remedies: only(
      'Read the lines of that program further above: its own error is there. Where this console does not show them, start the command of the message in a terminal of its own.',
    ),
  },
  {
    // AI Toolkit, kohya's sd-scripts and musubi-tuner make the network first, and find it empty afterwards.
    pattern: /not any lora modules in this network|no LoRA modules|create LoRA for [\w -]{2,40}: 0 modules/i,
    title: 'No layer of the model takes the LoRA',
    says: 'The network was made for layers of another model than the one that was loaded.',
    remedies: () => [
      {
        text: "Set the type of the model, and of its network, to the model that is trained: arch in AI Toolkit, network_module in kohya's programs (networks.lora_flux, networks.lora_wan …). A filter of layers (only_if_contains, include_patterns) must match names that the model has.",
      },
      { text: 'Update the program: a newer model has names of layers that an older release does not know.', command: 'git pull' },
    ],
  },
  {
    pattern: /Attempted to assign [\d +]{1,400}= (\d{1,9}) multimodal tokens to (\d{1,9}) placeholders/,
    title: ([, features, places]) => `The images give ${features} tokens, and the prompt has space for ${places}`,
    says: 'vLLM processed the images in another way than the program that wrote the prompt.',
    remedies: () => [
      {
        text: 'Give both the same limits of the image processor (min_pixels, max_pixels): in vLLM by mm_processor_kwargs, in the trainer by its processor or its options of that name. Hand vLLM the images as they are, not resized.',
      },
      {
        text: 'Use the same release of Transformers for both, and do not cut prompts inside the image tokens.',
        command: 'python -m pip show vllm transformers',
      },
    ],
  },
  {
    pattern: /Attempting to use the same CUDA device \(UUID: ([\w-]{8,60})\) for multiple distinct roles/,
    title: 'The vLLM server and the training share a GPU',
    remedies: ([, uuid]) => trlServer(`Run the server on other GPUs than the training (both use ${uuid}).`),
  },
  {
    // https://github.com/unslothai/unsloth/issues/3183
    pattern: /'unsloth_compiled_\w{1,80}' has no attribute '(\w{1,80})'/,
    title: 'Unsloth uses code that it generated for other releases',
    remedies: () => [
      { text: 'Delete what Unsloth generated, and update it.', command: 'rm -rf unsloth_compiled_cache; python -m pip install --upgrade unsloth unsloth_zoo' },
    ],
  },
  {
    pattern: /^/,
    when: ({ error }) =>
      /^(?:NameError|UnboundLocalError|TypeError|AttributeError)$/.test(error?.name ?? '') &&
      error?.frames.at(-1)?.file.includes('unsloth_compiled_cache') === true,
    title: 'Code that Unsloth generated fails',
    remedies: () => [
      {
        text: 'Delete the folder, so that Unsloth generates it again for the installed releases, and update Unsloth and TRL.',
        command: 'rm -rf unsloth_compiled_cache; python -m pip install --upgrade unsloth unsloth_zoo trl',
      },
    ],
  },
  {
    // https://github.com/2U1/Qwen-VL-Series-Finetune/issues/197
    pattern: /seed_worker\(\) missing \d required positional arguments: 'num_workers' and 'rank'/,
    title: 'The trainer is older than the installed Transformers',
    says: 'Newer releases of Transformers give seed_worker two more arguments, which a trainer with a DataLoader of its own must pass.',
    remedies: () => [
      { text: 'Update TRL (0.23.1 does it), or what else brings the trainer.', command: "python -m pip install --upgrade 'trl>=0.23.1'" },
      { text: 'Or install the Transformers for which it was written.', command: "python -m pip install 'transformers==<VERSION>'" },
    ],
  },
  {
    pattern: /should supply an encoding or a list of encodings to this method that includes (\w{1,40}), but you provided \[([^\]\n]{0,200})\]/,
    title: ([, wants]) => `The samples have no ${wants}`,
    says: ([, , has]) => `They hold ${has === '' ? 'nothing' : `only ${has}`}: the data set is not tokenized, or the Trainer dropped its columns.`,
    remedies: () => [
      { text: 'Tokenize before training: dataset.map(lambda x: tokenizer(x["text"], truncation=True), batched=True), and hand that data set to the Trainer.' },
      { text: 'If the columns are there: the Trainer drops those that the forward of the model does not name (remove_unused_columns=False keeps them).' },
    ],
  },
  {
    pattern: /'weight' must be 2-D/,
    title: (_, { situation }) => `A part of the model was split by ${FSDP.test(situation.text) ? 'FSDP' : 'ZeRO-3'} and is used outside of it`,
    remedies: (_, { situation }) =>
      FSDP.test(situation.text)
        ? [
            { text: 'Call the whole model that FSDP wraps: a part that is called by itself, or another method than forward, finds its weights still split.' },
            { text: 'Wrap the part (an embedding that is used alone) as a unit of its own, or leave it out (ignored_modules, ignored_states).' },
            { text: 'Where it must be: FSDP.summon_full_params(model) around the access.' },
          ]
        : [
            {
              text: 'Let DeepSpeed know the model when it is loaded: make TrainingArguments (or HfDeepSpeedConfig) before from_pretrained, and do not call its parts on their own.',
            },
            { text: 'Or use ZeRO stage 2, which does not split parameters.' },
            { text: 'Where it must be: deepspeed.zero.GatheredParameters around the access.' },
          ],
  },
  {
    pattern: /\{'id': (?:\d{1,9}|'name=[^'\n]{1,200}'), 'status': '\w{3,20}', 'numel': \d|parameters? in the parameter fetch queue to be/,
    title: 'ZeRO-3 found a parameter in another state than it expected',
    says: 'Mostly a layer ran outside of the order that ZeRO-3 recorded: re-entrant checkpointing, generation during training, or a save while it is in use.',
    remedies: () => [
      { text: "Use checkpointing without re-entrance: gradient_checkpointing_kwargs={'use_reentrant': False}, or none." },
      {
        text: 'Update DeepSpeed, Transformers and TRL together: their handling of generation and saving under ZeRO-3 changed often.',
        command: 'python -m pip install --upgrade deepspeed transformers trl accelerate',
      },
      { text: 'Or use ZeRO stage 2, where the model fits.' },
    ],
  },
  {
    pattern: /Processor was not found, please check/,
    title: "The model's processor could not be loaded",
    remedies: () => [
      {
        text: 'See that the folder of the model has its processor files (preprocessor_config.json, processor_config.json, tokenizer files); for InternVL and LLaVA take the variant for Transformers (-hf, -HF).',
      },
      {
        text: 'Then update Transformers, and install what the processor imports (pillow, torchvision, av, librosa).',
        command: 'python -m pip install --upgrade transformers pillow torchvision',
      },
    ],
  },
  {
    pattern: /Direct module loading failed for (Unsloth\w{2,60})|Error patching (\w{2,60}Trainer)/,
    title: ([, name, patched]) => `Unsloth could not ${name === undefined ? `change ${patched}` : `generate ${name}`} for the installed TRL`,
    remedies: () => [
      {
        text: 'Delete what Unsloth generated, and update it; it names the newest TRL that it supports.',
        command: 'rm -rf unsloth_compiled_cache; python -m pip install --upgrade unsloth unsloth_zoo',
      },
      { text: 'Else install an older TRL.', command: "python -m pip install 'trl==<VERSION>'" },
    ],
  },
  {
    pattern: /requested device for vll?m \(cuda:\d{1,2}\) is not available/,
    title: 'No GPU is left for vLLM',
    remedies: () => [
      {
        text: 'Let vLLM share the GPUs of the training: use_vllm=True, vllm_mode="colocate" (older TRL: vllm_device="cuda:0"), with a low vllm_gpu_memory_utilization.',
      },
      { text: 'With several GPUs: start one process less than there are GPUs (--num_processes).' },
    ],
  },
  {
    // https://github.com/unslothai/unsloth/issues/2107, 1624, 2846
    pattern: /'(\w{2,80})' object has no attribute 'vllm_engine'/,
    title: 'The model was loaded without its vLLM engine',
    says: 'Unsloth makes the engine when it loads the model, and use_vllm=True of the trainer asks for it.',
    remedies: () => [
      { text: 'Load the model with fast_inference=True (FastLanguageModel.from_pretrained); not with full_finetuning=True, which has no engine.' },
      { text: 'Where Unsloth has no engine for this model: use_vllm=False in the config of the trainer. It generates more slowly then.' },
      { text: 'Update Unsloth: more models have an engine in newer releases.', command: 'python -m pip install --upgrade unsloth unsloth_zoo' },
    ],
  },
  {
    // https://github.com/huggingface/trl/issues/5314
    pattern: /'(?:VLLMGeneration|\w{0,20}GRPOTrainer)' object has no attribute 'vllm_client'/,
    title: 'Only one process has the connection to the vLLM server',
    says: 'With vllm_mode="server" the main process alone has a vllm_client, and with "colocate" none has.',
    remedies: () => [
      { text: 'Call it in the main process only (trainer.accelerator.is_main_process), and send the result to the others (broadcast_object_list).' },
      { text: 'Else update TRL, and what builds on it, to releases that fit together.', command: 'python -m pip install --upgrade trl' },
    ],
  },
]
