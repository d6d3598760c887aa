// Names that a release of a package removed or brought: which release, and what takes their place. Looked up in release notes and migration guides.
import type { Piece } from '../faults/remedies/plan.ts'

type Moved = readonly [name: RegExp, release: string, now?: string]
/** The first release without it. */
const GONE: Readonly<Record<string, readonly Moved[]>> = {
  // https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md
  transformers: [
    [/^AutoModelForVision2Seq$/, '5', 'AutoModelForImageTextToText'],
    [/^(?:TF|Flax)[A-Z]\w|^(?:load_tf_|modeling_(?:tf|flax))/, '5', 'nothing: version 5 is for PyTorch only'],
    [/^(?:Disjunctive|Phrasal)?Constraint$|^(?:Constrained)?Beam(?:Search)?Scorer$|^ConstrainedBeamSearchScorer$/, '5'],
    [/^(?:GreedySearch|Sample|BeamSearch|BeamSample|ContrastiveSearch)(?:Decoder|EncoderDecoder)\w{0,6}Output$/, '5', 'GenerateDecoderOnlyOutput and its like'],
    [
      /^(?:find_pruneable_heads_and_indices|prune_\w{1,20}_?layer|HybridCache|SinkCache|Offloaded(?:Static)?Cache|QuantoQuantizedCache|is_torch_fx\w{0,12}|is_(?:tf|flax|safetensors|torch_sdpa|ipex|auto_awq|auto_gptq|offline_mode|remote_url)(?:_available)?|isin_mps_friendly|TRANSFORMERS_CACHE|AutoModelWithLMHead|EvaluationStrategy|get_full_repo_name|SpecialTokensMixin|onnx|deepspeed)$/,
      '5',
    ],
    [
      /^(?:CLIP|ViT|DPT|DETR|Detr|YOLOS|Yolos|SegFormer|Segformer|MaskFormer|OwlViT|BEiT|Beit|GLPN|Donut|ConvNext|DeiT)FeatureExtractor$/,
      '5',
      'its ImageProcessor',
    ],
    [/^LossKwargs$/, '4.54', 'TransformersKwargs'],
    // It was still in 4.56.2: https://github.com/hiyouga/LlamaFactory/issues/9247
    [/^PytorchGELUTanh$/, '4.57', 'GELUTanh'],
    [/^(?:\w{2,20}FlashAttention2|\w{2,20}SdpaAttention|[A-Z]\w{1,20}_ATTENTION_CLASSES)$/, '4.48', 'its one attention class'],
    [/^shard_checkpoint$/, '4.47', 'split_torch_state_dict_into_shards of huggingface_hub'],
    [/^top_k_top_p_filtering$/, '4.39'],
  ],
  'huggingface-hub': [
    [/^HfFolder$/, '1.0', 'get_token, login'],
    [/^(?:Repository|InferenceApi)$/, '1.0'],
    [/^cached_download$/, '0.26', 'hf_hub_download'],
    [/^(?:ModelFilter|DatasetFilter)$/, '0.24'],
  ],
  numpy: [
    [
      /^(?:float_|complex_|unicode_|string_|Inf|Infinity|NaN|infty|PINF|NINF|product|cumproduct|sometrue|alltrue|round_|asfarray|find_common_type|cast|mat|msort|bool8|obj2sctype)$/,
      '2',
      'its plain name',
    ],
    [/^(?:float|int|bool|object|str|complex|long|unicode)$/, '1.24', 'the plain type of Python'],
    [/^typeDict$/, '1.23', 'sctypeDict'],
  ],
  // https://github.com/huggingface/trl/issues/4223, https://github.com/huggingface/trl/pull/7020, https://github.com/unslothai/unsloth/issues/3057
  trl: [
    [/^PPO(?:v2)?(?:Trainer|Config)$/, '0.29', 'in trl.experimental.ppo, and in those from autumn 2026 on removed (GRPOTrainer and RLOOTrainer are left)'],
    [/^AutoModelFor(?:CausalLM|Seq2SeqLM)WithValueHead$/, '0.29', 'in trl.experimental.ppo, and in those from autumn 2026 on removed'],
    [/^ORPO(?:Trainer|Config)$/, '0.29', 'in trl.experimental.orpo'],
    [/^CPO(?:Trainer|Config)$/, '0.29', 'in trl.experimental.cpo'],
    [/^(?:BCO|GKD|XPO|NashMD|OnlineDPO|PRM)(?:Trainer|Config)$/, '0.29', 'in trl.experimental'],
    [/^(?:DataCollatorForCompletionOnlyLM|ConstantLengthDataset)$/, '0.20', 'completion_only_loss and packing of SFTConfig'],
  ],
  setuptools: [[/^pkg_resources$/, '82']],
  datasets: [[/^load_metric$/, '3', 'load of the package evaluate']],
  pillow: [[/^ANTIALIAS$/, '10', 'Image.Resampling.LANCZOS']],
  torchvision: [[/^functional_tensor$/, '0.17', 'torchvision.transforms.functional']],
}
/** The first release with it. */
const CAME: Readonly<Record<string, readonly Moved[]>> = {
  torch: [
    [/^(?:compile|_dynamo|_inductor|scaled_dot_product_attention|vmap|func)$/, '2.0'],
    [/^float8_e4m3fn$|^float8_e5m2$/, '2.1'],
    [/^(?:register_pytree_node|device_mesh|init_device_mesh)$/, '2.2'],
    [/^(?:uint16|uint32|uint64|get_default_device)$/, '2.3'],
    [/^(?:RMSNorm|custom_op|register_fake|custom_fwd|custom_bwd)$/, '2.4'],
    [/^flex_attention$/, '2.5'],
    [/^(?:accelerator|wrap_triton|triton_op|fully_shard|FSDPModule)$/, '2.6'],
    [/^float8_e8m0fnu$/, '2.7'],
    [/^float4_e2m1fn_x2$/, '2.8'],
  ],
  transformers: [
    [/^(?:Cache|DynamicCache)$/, '4.36'],
    [/^EncoderDecoderCache$/, '4.43'],
    [/^AutoModelForImageTextToText$/, '4.46'],
    [/^(?:ALL_ATTENTION_FUNCTIONS)$/, '4.48'],
    [/^(?:GenericForSequenceClassification|GradientCheckpointingLayer)$/, '4.53'],
    [/^TransformersKwargs$/, '4.54'],
  ],
  peft: [[/^(?:EvaConfig|BoneConfig)$/, '0.14']],
  // https://github.com/huggingface/diffusers/issues/12149
  diffusers: [[/^(?:attention_dispatch|dispatch_attention_fn|QwenImage(?:Edit)?Pipeline|QwenImageTransformer2DModel)$/, '0.35']],
  accelerate: [[/^(?:DataLoaderConfiguration)$/, '0.28']],
}

/** `gone`: removed in `release`; else it came with it. */
export type Move = { readonly owner: string; readonly gone: boolean; readonly release: string; readonly now: string | undefined }
const rowOf = (rows: readonly Moved[] | undefined, name: string): Moved | undefined => rows?.find(([pattern]) => pattern.test(name))
/** What is known of a name that `owner` lacks. `built`: the release of `owner`, where the text has it, tells which of both it is. */
export function moved(name: string, owner: string): Move | undefined {
  const gone = rowOf(Object.hasOwn(GONE, owner) ? GONE[owner] : undefined, name)
  const row = gone ?? rowOf(Object.hasOwn(CAME, owner) ? CAME[owner] : undefined, name)
  return row === undefined ? undefined : { owner, gone: gone !== undefined, release: row[1], now: row[2] }
}
/** Who uses the name, where that is another package. */
export function moves(name: string, { owner, gone, release, now }: Move, from: string | undefined, windows: boolean): readonly Piece[] {
  if (!gone && owner === 'torch' && from !== undefined)
    return [
      {
        text: `${from} uses ${name}, which came with PyTorch ${release}: install the release of ${from} that was made for this PyTorch.`,
        command: `python -m pip install '${from}==<VERSION>'`,
      },
      { text: `Or update PyTorch, with all that was built for it.` },
    ]
  if (!gone)
    return owner === 'torch'
      ? [
          {
            text: `${name} came with PyTorch ${release}: update PyTorch with all that was built for it.`,
            // PyPI has it for Windows without CUDA only.
            command: `python -m pip install --upgrade torch torchvision torchaudio${windows ? ' --index-url https://download.pytorch.org/whl/<CUDA>' : ''}`,
          },
        ]
      : [{ text: `${name} came with ${owner} ${release}: update it.`, command: `python -m pip install --upgrade '${owner}>=${release}'` }]
  return [
    from !== undefined && {
      text: `Update ${from}: its newer releases may do without ${name}.`,
      command: `python -m pip install --upgrade ${from}`,
    },
    {
      text: `${from === undefined ? 'Install' : 'Or install'} ${owner} before ${release}, for which it was written.`,
      command: `python -m pip install '${owner}<${release}'`,
    },
    from === undefined &&
      now !== undefined && {
        text: now.startsWith('nothing: ')
          ? `Nothing takes its place in newer releases: ${now.slice(9)}.`
          : `In newer releases ${name} is ${now}: change it in the program.`,
      },
  ]
}
