// Messages of fine-tuning: samples that are not tokenized, ZeRO-3, processors of models, Unsloth and TRL.
import { only, type Known } from './message.ts'

export const TUNING: readonly Known[] = [
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
    title: 'A part of the model was split by ZeRO-3 and is used outside of it',
    remedies: () => [
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
    pattern: /len\(self\.ckpt_list\) > 0/,
    title: 'DeepSpeed got no checkpoint files',
    remedies: only('Name the folder or the list of files of the checkpoint (checkpoint=, base_dir=): the one that was given is empty.'),
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
    pattern: /Direct module loading failed for (Unsloth\w{2,60})/,
    title: ([, name]) => `Unsloth could not generate ${name} for the installed TRL`,
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
]
