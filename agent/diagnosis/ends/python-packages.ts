// Python's packages as errors name them: how pip installs a module whose package has another name, and which package a file belongs to.
import { lookup } from '../../text/lookup.ts'
import type { Situation } from '../situation/situation.ts'

/** Without its options apex installs only what is Python (its README, for pip 23.1 and newer). */
const APEX = `--no-build-isolation --config-settings "--build-option=--cpp_ext" --config-settings "--build-option=--cuda_ext" git+https://github.com/NVIDIA/apex.git`
const git = (repository: string): string => `--no-build-isolation git+https://github.com/${repository}.git`
/** What pip is given for a module, where that is not its name: some names on PyPI belong to other programs. */
const INSTALLED_AS: Readonly<Record<string, string>> = {
  cv2: 'opencv-python-headless',
  PIL: 'pillow',
  sklearn: 'scikit-learn',
  skimage: 'scikit-image',
  yaml: 'pyyaml',
  bs4: 'beautifulsoup4',
  Crypto: 'pycryptodome',
  dotenv: 'python-dotenv',
  git: 'GitPython',
  attr: 'attrs',
  hydra: 'hydra-core',
  umap: 'umap-learn',
  faiss: 'faiss-cpu',
  pynvml: 'nvidia-ml-py',
  google: 'protobuf',
  megatron: 'megatron-core',
  swift: 'ms-swift',
  nemo: "'nemo_toolkit[all]'",
  taming: 'taming-transformers',
  distutils: 'setuptools',
  pkg_resources: "'setuptools<81'",
  flash_attn: 'flash-attn --no-build-isolation',
  flash_attn_2_cuda: 'flash-attn --no-build-isolation',
  mamba_ssm: 'mamba-ssm --no-build-isolation',
  causal_conv1d: 'causal-conv1d --no-build-isolation',
  transformer_engine: "--no-build-isolation 'transformer-engine[pytorch]'",
  transformer_engine_torch: "--no-build-isolation 'transformer-engine[pytorch]'",
  apex: APEX,
  amp_C: APEX,
  fused_layer_norm_cuda: APEX,
  fused_weight_gradient_mlp_cuda: APEX,
  oneccl_bindings_for_pytorch: 'oneccl_bind_pt --extra-index-url https://pytorch-extension.intel.com/release-whl/stable/xpu/us/',
  detectron2: git('facebookresearch/detectron2'),
  pytorch3d: git('facebookresearch/pytorch3d'),
  clip: git('openai/CLIP'),
  segment_anything: git('facebookresearch/segment-anything'),
}
/** PyTorch Geometric's extensions: wheels by PyTorch and CUDA. */
const GEOMETRIC = /^torch[_-](?:scatter|sparse|cluster|spline[_-]conv)$|^pyg[_-]lib$/

/** What follows `pip install` for a module. */
export function installs(module: string, { text }: Pick<Situation, 'text'>): string {
  const top = module.split('.')[0] ?? module
  const name = top.replaceAll('_', '-')
  const torch = /\b(\d\.\d{1,2})\.\d(\+(?:cu\d{3}|cpu))/.exec(text)
  if (GEOMETRIC.test(top)) return `${name} -f https://data.pyg.org/whl/torch-${torch === null ? '<TORCH>' : `${torch[1]}.0${torch[2]}`}.html`
  return lookup(INSTALLED_AS, top) ?? name
}
/** Over what pip installs from there: built again for the PyTorch that is installed. */
export const rebuilds = (module: string, situation: Pick<Situation, 'text'>): string => {
  const given = installs(module, situation)
  return given.includes('--no-build-isolation') || given.includes('-f ') ? given : `--no-build-isolation ${given}`
}

/** https://github.com/meta-pytorch/torchcodec#installing-torchcodec */
const TORCHCODEC = ['0.1', '0.2', '0.5', '0.7', '0.9', '0.10', '0.11'] as const
/** The release of a package of PyTorch's own that was made for a PyTorch 2: `0.21.*` of torchvision for 2.6. Undefined where that is not known. */
export function madeFor(name: string, torch: string | undefined): string | undefined {
  const minor = Number(/^2\.(\d{1,2})\b/.exec(torch ?? '')?.[1] ?? Number.NaN)
  const release = name === 'torchvision' ? `0.${minor + 15}` : name === 'torchaudio' ? `2.${minor}` : name === 'torchcodec' ? TORCHCODEC[minor - 5] : undefined
  return Number.isNaN(minor) || release === undefined ? undefined : `${release}.*`
}

/** Only the name in what pip is given: `pip show` and `pip list` take no options, extras or addresses. */
const nameIn = (given: string): string | undefined =>
  given
    .replaceAll("'", '')
    .split(' ')
    .find((word) => /^[A-Za-z]/.test(word) && !word.includes('://'))
    ?.replace(/[[<=>].*$/, '')
/** The distribution of a file below site-packages. */
export function packageOf(file: string | undefined): string | undefined {
  const found = /[\\/](?:site|dist)-packages[\\/]([A-Za-z]\w{0,60})[\\/.]/.exec(file ?? '')?.[1]
  return found === undefined || found.startsWith('_') ? undefined : (nameIn(lookup(INSTALLED_AS, found) ?? '') ?? found.replaceAll('_', '-'))
}

/** What a name or argument is called in newer releases. `CLASS.name` before `name`. */
const NOW: Readonly<Record<string, string>> = {
  evaluation_strategy: 'eval_strategy',
  'SFTTrainer.tokenizer': 'processing_class',
  'DPOTrainer.tokenizer': 'processing_class',
  'GRPOTrainer.tokenizer': 'processing_class',
  'Trainer.tokenizer': 'processing_class',
  'Seq2SeqTrainer.tokenizer': 'processing_class',
  'SFTTrainer.dataset_text_field': 'set in SFTConfig, which takes the place of TrainingArguments',
  'SFTTrainer.max_seq_length': 'set in SFTConfig, as max_length',
  'SFTTrainer.packing': 'set in SFTConfig, which takes the place of TrainingArguments',
  'SFTConfig.max_seq_length': 'max_length',
  'DPOTrainer.beta': 'set in DPOConfig, which takes the place of TrainingArguments',
  'DPOTrainer.max_length': 'set in DPOConfig, which takes the place of TrainingArguments',
  num_items_in_batch: 'passed to compute_loss by the Trainer (4.46 and newer): let your compute_loss take **kwargs',
  no_cuda: 'use_cpu',
  // Fields that TrainingArguments of Transformers 4.57 has and those of 5.18 have not.
  'TrainingArguments.overwrite_output_dir': 'gone (it always writes into output_dir)',
  'TrainingArguments.group_by_length': "train_sampling_strategy='group_by_length'",
  'TrainingArguments.warmup_ratio': 'warmup_steps, which takes a share below 1 too',
  'TrainingArguments.save_safetensors': 'gone (it always does)',
  'TrainingArguments.logging_dir': 'the variable TENSORBOARD_LOGGING_DIR',
  'TrainingArguments.adafactor': "optim='adafactor'",
  'TrainingArguments.include_inputs_for_metrics': "include_for_metrics=['inputs']",
  'TrainingArguments.fsdp_transformer_layer_cls_to_wrap': 'transformer_layer_cls_to_wrap in fsdp_config',
  'TrainingArguments.use_mps_device': 'gone (Apple GPUs are found)',
  'TrainingArguments.push_to_hub_token': 'hub_token',
  'TrainingArguments.push_to_hub_model_id': 'hub_model_id',
  'TrainingArguments.per_gpu_train_batch_size': 'per_device_train_batch_size',
  'TrainingArguments.per_gpu_eval_batch_size': 'per_device_eval_batch_size',
  'TrainingArguments.fp16_backend': 'gone: leave it out',
  'TrainingArguments.half_precision_backend': 'gone: leave it out',
  'GRPOConfig.max_prompt_length': 'gone: shorten the prompts before the training',
  'GRPOConfig.vllm_device': "vllm_mode ('colocate' or 'server')",
  'GRPOConfig.vllm_guided_decoding_regex': 'vllm_structured_outputs_regex',
  'DPOConfig.max_prompt_length': 'gone: max_length alone counts',
  'DPOTrainer.max_prompt_length': 'gone: max_length of DPOConfig alone counts',
  use_auth_token: 'token',
  'Trainer.gpus': "accelerator='gpu', devices=<GPUS>",
  'Trainer.resume_from_checkpoint': 'trainer.fit(…, ckpt_path=…)',
  'Trainer.progress_bar_refresh_rate': 'a callback, TQDMProgressBar',
  prepare_model_for_int8_training: 'prepare_model_for_kbit_training',
  ANTIALIAS: 'Image.Resampling.LANCZOS (Pillow 10)',
  container_abcs: 'collections.abc',
  cached_download: 'hf_hub_download',
  load_metric: 'load of the package evaluate',
  AdamW: 'torch.optim.AdamW',
  DataCollatorForCompletionOnlyLM: 'completion_only_loss or assistant_only_loss of SFTConfig',
  float: 'the plain type of Python (NumPy 1.24 and newer)',
  int: 'the plain type of Python (NumPy 1.24 and newer)',
  bool: 'the plain type of Python (NumPy 1.24 and newer)',
  object: 'the plain type of Python (NumPy 1.24 and newer)',
}
/** Names in modules: only of these, since other modules have such names too. */
const OF: Readonly<Record<string, string>> = { AdamW: 'transformers', float: 'numpy', int: 'numpy', bool: 'numpy', object: 'numpy' }
export function newerName(name: string, owner: string | undefined): string | undefined {
  const of = lookup(OF, name)
  if (of !== undefined && of !== owner?.split('.')[0]) return undefined
  // The configurations of TRL are TrainingArguments with more.
  const base = /^(?:Seq2SeqTrainingArguments|(?:SFT|DPO|GRPO|KTO|Reward|RLOO|ORPO|CPO)Config)$/.test(owner ?? '') ? 'TrainingArguments' : owner
  return lookup(NOW, `${owner}.${name}`) ?? lookup(NOW, `${base}.${name}`) ?? lookup(NOW, name)
}

/** The package that has a class whose arguments changed often. */
const CLASSES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^(?:SamplingParams|EngineArgs|AsyncEngineArgs|LLMEngine|ModelConfig|VllmConfig)$/, 'vllm'],
  [/^(?:DeepSpeedEngine|DeepSpeedZero\w{0,20}|DeepSpeedZeRo\w{0,20})$/, 'deepspeed'],
  [/^(?:Linear4bit|Linear8bitLt|Params4bit|Int8Params)$/, 'bitsandbytes'],
  [/^(?:DetectionModel|SegmentationModel|PoseModel|C3k2?|C2f|C2PSA|SPPF|v8\w{1,20}Loss|YOLO)$/, 'ultralytics'],
  [/^(?:DatasetDict|IterableDataset)$/, 'datasets'],
  [/^(?:UNet2D\w{0,30}|Autoencoder\w{2,20}|\w{2,30}Transformer[23]DModel|\w{2,40}Pipeline|\w{2,40}Scheduler)$/, 'diffusers'],
  [/^(?:SFT|DPO|GRPO|PPO|KTO|ORPO|CPO|Reward|RLOO)(?:Trainer|Config)$/, 'trl'],
  [
    /^(?:Seq2Seq)?(?:TrainingArguments|Trainer)$|For(?:CausalLM|ConditionalGeneration|SequenceClassification|TokenClassification)$|PreTrainedModel$|^BitsAndBytesConfig$|^(?:Dynamic|Static|EncoderDecoder|Hybrid)Cache$|^(?:Llama|Qwen|Mistral|Gemma|Phi|Bert|GPT|T5|CLIP|Siglip|Whisper)\w{0,30}$|Tokenizer(?:Fast)?$|ImageProcessor(?:Fast)?$/,
    'transformers',
  ],
  [/^(?:Lora\w{0,20}|Peft\w{0,20})$/, 'peft'],
  [/^(?:Accelerator\w{0,20}|DataLoaderConfiguration)$/, 'accelerate'],
]
export const packageOfClass = (name: string): string | undefined => CLASSES.find(([pattern]) => pattern.test(name))?.[1]
