// What servers of models say while they load weights and size their caches: a state for each request, neighbours on the GPU, tensors without a place.
import type { Piece } from '../../faults/remedies/plan.ts'
import { WHICH_GPU } from '../../faults/remedies/gpu.ts'
import type { Situation } from '../../situation/situation.ts'
import { OF_WEIGHT } from '../kinds/checkpoint-mismatch.ts'
import type { Known } from './message.ts'

const repositoryIn = (text: string): string | undefined =>
  /(?:huggingface\.co\/|models--)([\w.-]{1,96})(?:\/|--)([\w.-]{1,96})(?:\/|\s|$)/.exec(text)?.slice(1).join('/')
const QUANTIZED = /qweight|qzeros|g_idx|scale|zero_point|_packed|absmax|quant_state|nested/
const server = ({ programs }: Situation): string => (programs.has('sglang') ? 'SGLang' : 'vLLM')
/** By the name of the tensor: of which sort it is. */
function otherWeights(tensor: string, situation: Situation): readonly Piece[] {
  return [
    /qweight|qzeros|g_idx/.test(tensor) && {
      text: 'If the model is AWQ or GPTQ and its config.json does not say so at the top: name the quantization.',
      command: '--quantization awq --dtype half',
    },
    /absmax|quant_state|nested/.test(tensor) && {
      text: 'Weights of bitsandbytes must be asked for.',
      command: '--quantization bitsandbytes --load-format bitsandbytes',
    },
    /lora_|modules_to_save|base_model\./.test(tensor) && {
      text: 'These are weights of an adapter: merge it into its model, or serve the model and name the adapter beside it.',
      command: '--enable-lora --lora-modules <NAME>=<FOLDER>',
    },
    /^(?:mm_|vision|visual|audio|image|patch_merger)|whisper|vision_tower|multi_modal/.test(tensor) && {
      text: 'These are weights for images or sound, and a class for text alone was chosen: see "architectures" in config.json; files in the format of Mistral need it named.',
      command: '--tokenizer-mode mistral --config-format mistral --load-format mistral',
    },
    { text: `Update ${server(situation)}: support of architectures and quantizations comes with releases.` },
    QUANTIZED.test(tensor) && {
      text: 'Or take another quantization of the model (FP8, AWQ), or its unquantized weights; of one that you made yourself, leave out the layers that the server keeps whole (gate, lm_head, vision).',
    },
  ]
}
/** RTX 50, RTX PRO and GB10 share the name Blackwell with the B200, and not its instructions. */
const BLACKWELL = 'GPUs of one name may differ: RTX 50, RTX PRO Blackwell and GB10 are 12.x, the B200 is 10.0.'
const why = (tensor: string): string =>
  QUANTIZED.test(tensor)
    ? 'mostly a quantization that this release does not know for the model, or that was not configured'
    : 'the files are of another variant, or newer than the release'

export const LOADING: readonly Known[] = [
  {
    // huggingface_hub, file_download.py: what came has another length than the hub announced.
    pattern: /Consistency check failed: file should be of size (\d{1,14}) but has size (\d{1,14}) \(([^)\n]{1,120})\)/,
    title: ([, , , file]) => `The download of ${/^[\w./-]+$/.test(file ?? '') ? file : 'a file'} is not complete`,
    says: ([, whole, got]) =>
      Number(whole) > Number(got)
        ? `${Math.floor((Number(got) / Number(whole)) * 100)} % of the file came: the connection was cut, a proxy or mirror gave a part of it, or the disk is full.`
        : 'More came than the hub announced: a proxy or a mirror answered in its place.',
    remedies: (_, { situation }) => [
      { text: 'Fetch it again: what is there is replaced.', command: `hf download ${repositoryIn(situation.text) ?? '<REPOSITORY>'} --force-download` },
      ...(situation.system === 'windows'
        ? []
        : [{ text: 'See that the disk has space for it.', command: 'df -h ~/.cache/huggingface; printenv HF_ENDPOINT HTTPS_PROXY' }]),
      { text: 'If it is cut each time: another network, or without the mirror or proxy in between.' },
    ],
  },
  {
    pattern: /Unrecognized model in (\S{1,200}?)\.? Should have a `model_type` key in its config\.json/,
    title: ([, where]) => `${where} is no model that Transformers knows by its config.json`,
    says: 'Its config.json is missing, names no model_type, or belongs to something else.',
    remedies: ([, where = '']) => [
      {
        text: 'See what the folder holds: adapter_config.json is a LoRA adapter (load its base model, then the adapter by PEFT), *.gguf is for llama.cpp and Ollama, model_index.json is of diffusers.',
        command: /^[\w./~-]*\/[\w./~-]*$/.test(where)
          ? `ls -l ${where}; head -c 600 ${where}/config.json`
          : 'ls -l <MODEL_FOLDER>; head -c 600 <MODEL_FOLDER>/config.json',
      },
      { text: 'A model that is newer than the library: update it.', command: 'python -m pip install --upgrade transformers' },
    ],
  },
  {
    // vLLM, config/compilation.py: hybrid models (Qwen3.5, Nemotron-H, Kimi Linear) keep a state for each running request.
    pattern: /max_num_seqs \((\d{1,6})\) exceeds available Mamba cache blocks \((\d{1,6})\)/,
    title: ([, asked, blocks]) => `The cache holds ${blocks} requests of this model, and ${asked} were allowed`,
    says: 'A hybrid model keeps a state of fixed size for each running request, and what is left of the GPU memory holds fewer of them.',
    remedies: ([, , blocks]) => [
      { text: 'Let no more requests run at once.', command: `--max-num-seqs ${blocks}` },
      { text: 'For more: a shorter --max-model-len, a larger --gpu-memory-utilization, or more GPUs.' },
    ],
  },
  {
    pattern: /In Mamba cache align mode, block_size \((\d{1,7})\) must be <= max_num_batched_tokens \((\d{1,7})\)/,
    title: ([, block, batch]) => `A block of the cache (${block} tokens) is larger than a batch (${batch})`,
    says: 'With prefix caching, a hybrid model is computed in whole blocks of its cache.',
    remedies: ([, block]) => [
      { text: 'Let a batch hold at least one block.', command: `--max-num-batched-tokens ${Math.max(4096, Math.ceil(Number(block) / 1024) * 1024)}` },
      { text: 'Or leave prefix caching off.', command: '--no-enable-prefix-caching' },
    ],
  },
  {
    // SGLang, arg_groups: what its kernels for linear attention run on grew with releases.
    pattern: /extra_buffer needs ([\w/]{3,60}) \(FLA\)/,
    title: 'SGLang cannot cache prefixes of a hybrid model this way on this GPU',
    says: ([, where]) => `The chosen strategy (extra_buffer) runs on ${where?.replaceAll('/', ', ')} only in this release.`,
    remedies: () => [
      {
        text: 'Take the other strategy (in releases before June 2026 the option is --mamba-scheduler-strategy).',
        command: '--mamba-radix-cache-strategy no_buffer --disable-overlap-schedule',
      },
      { text: 'Or cache no prefixes.', command: '--disable-radix-cache' },
      { text: 'Or update SGLang: newer releases run it on GPUs of AMD and Intel too.' },
    ],
  },
  {
    // TensorRT-LLM, batch_manager
    pattern: /(Do not|Must) set crossKvCacheFraction for (decoder-only|encoder-decoder) model/,
    title: ([, must]) => `TensorRT-LLM ${must === 'Must' ? 'lacks' : 'was given'} a share of the KV cache for an encoder`,
    says: ([, must, sort]) =>
      must === 'Must'
        ? `The engine is an ${sort} model, which divides its KV cache between its own tokens and those of the encoder.`
        : `The engine is a ${sort} model, which has no encoder.`,
    remedies: ([, must]) => [
      must === 'Must'
        ? { text: 'Set the parameter cross_kv_cache_fraction in config.pbtxt (Triton), or cross_kv_cache_fraction of the KV cache configuration: 0.5 is half.' }
        : { text: 'Take the parameter cross_kv_cache_fraction out of config.pbtxt (Triton) or out of the KV cache configuration.' },
    ],
  },
  {
    pattern:
      /maxTokensInPagedKvCache \((\d{1,9})\) must be large enough[^\n]{0,140}?beam_width \((\d{1,3})\) \* tokensPerBlock \((\d{1,5})\) \* maxBlocksPerSeq \((\d{1,7})\)/,
    title: 'The KV cache holds not even one sequence',
    says: ([, has, beams, block, blocks]) =>
      `It has ${has} tokens, and one sequence of the longest length takes ${Number(beams) * Number(block) * Number(blocks)}.`,
    remedies: ([, , beams, block, blocks]) => [
      {
        text: `Let the cache hold at least ${Number(beams) * Number(block) * Number(blocks)} tokens: raise its limit (max_tokens_in_paged_kv_cache, max_tokens), or leave that out and give it a share of the GPU (kv_cache_free_gpu_mem_fraction).`,
      },
      { text: 'If the GPU has no more memory: a shorter longest sequence (max_seq_len), or a quantized model.', command: 'nvidia-smi' },
    ],
  },
  {
    pattern: /([\w][\w .-]{2,40}?) (?:is|are) only supported on SM ?(\d{2,3}[a-z]?(?:(?:, |\/| and | or )SM ?\d{2,3}[a-z]?){0,4})/,
    title: ([, kernel]) => `${kernel} does not run on this GPU`,
    says: ([, , list = '']) =>
      `It is written for compute capability ${[...list.matchAll(/(\d{1,2})(\d)[a-z]?(?!\d)/g)].map(([, major, minor]) => `${major}.${minor}`).join(', ')} alone. ${BLACKWELL}`,
    remedies: (_, { situation }) => [
      situation.programs.has('sglang') && { text: 'Choose other kernels.', command: '--attention-backend triton' },
      situation.programs.has('vllm') && { text: 'Take out what chooses them: vLLM then takes kernels by the GPU.', command: 'env | grep VLLM_' },
      { text: `Update ${server(situation)}: kernels for more GPUs come with releases; or serve another quantization of the model.` },
      WHICH_GPU,
    ],
  },
  {
    pattern: /name '(deep_gemm)' is not defined/,
    title: 'DeepGEMM is not here, and a kernel needs it',
    says: 'The server chose kernels that call DeepGEMM, which could not be imported or does not support this GPU (it is made for compute capability 9.0 and 10.0).',
    remedies: (_, { situation }) => [
      situation.programs.has('sglang') && { text: 'Choose other kernels for attention.', command: '--attention-backend triton' },
      { text: `Update ${server(situation)}, or use its image, which brings what fits.` },
      { text: 'See why it cannot be imported.', command: 'python -c "import deep_gemm"' },
    ],
  },
  {
    // vLLM, v1/engine/utils.py and core_client.py
    pattern: /(?:Waited (\d{2,6}) ?s[^\n]{0,60})?VLLM_ENGINE_READY_TIMEOUT_S/,
    title: ([, seconds]) => `vLLM's engine was not ready${seconds === undefined ? ' in time' : ` within ${seconds} s`}`,
    says: 'Its server waited for the weights, the compilation and the CUDA graphs. Either they take that long, or a worker hangs.',
    remedies: ([, seconds]) => [
      { text: 'Give the start more time.', command: `export VLLM_ENGINE_READY_TIMEOUT_S=${seconds === undefined ? 1800 : Number(seconds) * 3}` },
      {
        text: 'See how far the start got: read the last line of (EngineCore …) or (Worker …). Weights from a network file system or the hub are slow at the first start; keep them, and ~/.cache/vllm, on a local disk.',
      },
    ],
  },
  {
    // vLLM, v1/worker/gpu_worker.py
    pattern: /Error in memory profiling\. Initial free memory ([\d.]{1,16}) ?(GiB|GB)?, current free memory ([\d.]{1,16})/,
    title: 'Memory of the GPU became free while vLLM measured what it needs',
    says: ([, before, , after]) => {
      const gib = (figure = ''): string => (Number(figure) > 1e6 ? Number(figure) / 2 ** 30 : Number(figure)).toFixed(1)
      return `${gib(before)} GiB were free before and ${gib(after)} GiB after: another process on that GPU released memory (an earlier server that was still ending, a server that starts beside it). vLLM does not run out of memory here.`
    },
    remedies: (_, { situation }) => [
      {
        text: 'See which other processes use the GPU, and start vLLM when they have ended or settled; start several servers on one GPU one after the other.',
        command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv',
      },
      /GB10|Spark|Jetson|Orin|Thor/.test(situation.text) && {
        text: 'On a GPU that shares the memory of the host any program, and the page cache, changes it: start it again on a quiet host.',
      },
    ],
  },
  {
    // vLLM, model_executor/models/utils.py
    pattern: /There is no module or parameter named '([\w.]{1,200})' in (\w{1,80})/,
    title: ([, tensor, model]) => `${model} has no place for ${tensor}`,
    says: ([, tensor = '', model]) => `The files hold this tensor, and the server's code for ${model} does not: ${why(tensor)}.`,
    remedies: ([, tensor = ''], { situation }) => otherWeights(tensor, situation),
  },
  {
    pattern: OF_WEIGHT,
    when: ({ error, situation }) => error?.name === 'KeyError' && (situation.programs.has('vllm') || situation.programs.has('sglang')),
    title: 'The model has a weight that the server does not recognize',
    says: ([tensor]) => `The files hold ${tensor.replaceAll("'", '')} and the code for this architecture has no such parameter: ${why(tensor)}.`,
    remedies: ([tensor], { situation }) => otherWeights(tensor, situation),
  },
]
