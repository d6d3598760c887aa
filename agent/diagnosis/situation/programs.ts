// Which programs speak in a text. Each pattern is a name, a path or a message that only this program prints.

const PATTERNS = {
  // Unsloth's banner lists what is installed.
  vllm: /(?<!Transformers: [\w.]{3,16} )\bvllm\b|\bmodel_runner(?:_base)?\.py:\d|\bllm_engine\.py:\d|\bVllmWorker|\((?:EngineCore|APIServer|VllmWorker)|Engine core initialization failed|gpu_memory_utilization|\bcumem_allocator\.cpp|raise_if_cache_size|desired GPU memory utilization|No available memory for the cache blocks|(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[\w/.]{1,60}\.py:\d|KV cache is needed, which/i,
  sglang:
    /\bsglang\b|\[gpu_id=\d{1,3}\] |\bModelTpServer\b|mem[-_]fraction[-_]static|alloc_req_slots|^\[\d{4}-\d\d-\d\d [\d:]{8}(?: (?:DP|PP)\d{1,3})* TP\d{1,3}[ \]]/im,
  tgi: /text[-_]generation[-_](?:inference|launcher|router|server|client)|max[-_]batch[-_]prefill[-_]tokens|shard-manager/i,
  tei: /text[-_]embeddings[-_](?:inference|router|backend)|Could not create backend|Model backend is not healthy/i,
  tensorrt_llm: /tensorrt[-_]?llm|trt-?llm/i,
  tensorrt: /\bTensorRT\b|libnvinfer|\[TRT\]/i,
  lmdeploy: /lmdeploy|turbomind|\[TM\]\[/i,
  ollama:
    /\bollama\b|\bPROCESSOR {1,12}(?:CONTEXT {1,12})?UNTIL\b|\bsource=(?:gpu|routes|server|sched|types|images|runner|llama_server|ggml)\.go:\d|\bllama runner process|\bllama-server process (?:has|no) |\[GIN\] [^\n]{0,160}"\/api\/(?:generate|chat|embed|tags|show|pull)/i,
  llamacpp:
    /\bggml|\b(?:ik_)?llama[-_.](?:cpp|server|cli|bench|model_load|init|new_context|context)|\bllama-cpp-python\b|libllama|koboldcpp|gpttype_load_model|^(?:srv|slot) {1,12}\w{3,40}: /im,
  comfyui:
    /ComfyUI|Got an OOM, unloading all loaded models|^ERROR lora \S{3,200} |CheckpointLoaderSimple|!!! Exception during processing|\bKSampler\b|^got prompt$|Prompt executed in \d|loaded (?:partially|completely)\b|Device: cuda:\d{1,2} [^\n]{3,60} : (?:cudaMallocAsync|native)/im,
  sd_webui:
    /NansException|Torch active\/reserved: |use lower resolution|--opt-split-attention|--no-half\b|\[GPU Setting\]|stable[-_ ]diffusion[-_ ]webui|webui-user|--medvram|\bSys: [\d.]{1,8}\/[\d.]{1,8} GB \(|\bmodules[/\\](?:txt2img|img2img|call_queue|sd_models|sd_hijack)\w{0,24}\.py|\bwebui\.(?:sh|bat)\b|\bsd-?next\b|sd-webui/i,
  jax: /\bjax(?:lib|line)?\b|\bcolabfold\b|No GPU\/TPU found, falling back|[/\\]external\/(?:xla|org_tensorflow)\/|\b[EWIF] external\/(?:xla|org_tensorflow)\/|XlaRuntimeError|executable_name='jit_|hlo_rematerialization|\bpjrt_|^(?![^]*(?:tensorflow|keras))[^]*RESOURCE_EXHAUSTED: Failed to (?:allocate request for|load in-memory)/i,
  tensorflow: /\btensorflow\b|ResourceExhaustedError(?!:?\s{1,6}Out of memory error on GPU)|TF_FORCE_GPU|tf_device|\bkeras\b/i,
  onnxruntime: /onnxruntime|BFCArena|CUDAExecutionProvider/i,
  rapids: /\brmm\b|\bcudf\b|\bcuml\b|\bcugraph\b|rapids/i,
  cupy: /\bcupy\b/i,
  mxnet: /\bmxnet\.base|MXNetError|MXNET_ENGINE_TYPE|libmxnet|pooled_storage_manager|mshadow/i,
  caffe: /\bcaffe::|\bcaffe\.(?:cpp|bin)|syncedmem\.cpp/,
  numba: /numba[/\\.]cuda|CudaAPIError/,
  paddle: /paddle(?:paddle)?\b|Out of memory error on GPU \d{1,3}\. Cannot allocate/i,
  julia: /CUDA\.jl|\bjulia\b/i,
  exllama: /exllama|tabbyapi|\bexl[23]\b/i,
  ctranslate2: /ctranslate2|faster[-_]whisper|whisperx/i,
  ffmpeg: /\bffmpeg\b|cuvid|h264_|hevc_nv|nvenc|Failed to open decoder/i,
  // Data sets of PyTorch's programs have the name too.
  blender: /\bBlender \d\.\d{1,2}|\bblender (?:-b|--background)\b|\bintern[\\/]cycles\b|\bFra:\d{1,7} Mem:|System is out of GPU and shared/i,
  // Scenes from photographs: 3D Gaussian splatting, and NeRFs.
  splatting: /gaussian[-_ ]?splatting|diff_gaussian|diff_surfel|\bgsplat\b|\bsplatfacto|\bnerfstudio\b|\bns-train\b|\binstant-ngp\b/i,
  openmm: /\bopenmm\b|OpenMMException/i,
  esmfold: /pLDDT|esmfold|openfold|alphafold|colabfold/i,
  diffusers:
    /\bdiffusers\b|\bflux-(?:dev|schnell|webui)\b|\bpipe\.to\(|FLUX\.[12]\b|\bFlux\w{0,12}Pipeline|StableDiffusion|AutoencoderKL|CLIPTextModel|\b[A-Z]\w{2,40}Pipeline\.from_pretrained|CogVideo|HunyuanVideo|\bWan2\.\d|\bWan(?:2GP|GP)\b/,
  bitsandbytes: /bitsandbytes|\bbnb_/i,
  deepspeed: /deepspeed|"zero_optimization"/i,
  accelerate: /\baccelerate\b/i,
  lightning: /lightning/i,
  transformers: /\btransformers\b/i,
  ultralytics: /ultralytics|\bYOLO|\bAutoBatch: |TaskAlignedAssigner/i,
  ray: /\(raylet|\braylet\b|\bray::|\bray\.(?:exceptions|_private|train|tune|data|serve|util)\b|\b(?:Serve|Train)Controller\b|\bRay(?:TrainWorker)?\b/,
  pytorch: /\btorch\b|pytorch|PYTORCH_|\bc10::|CUDACachingAllocator|(?:CUDA|HIP) out of memory\. Tried/i,
  matlab: /\bMATLAB\b/,
  docker:
    /\bdocker\b|\broot@[0-9a-f]{12}[: ]|\bhost(?: \(|: )[0-9a-f]{12}\b|\bhostname=[0-9a-f]{12} ;|\bdockerd\b|\bmoby\b|"OOMKilled"|\bcontainer (?:start|kill|die|oom) [0-9a-f]{12,64} \(/i,
  compose: /docker[- ]compose|^[a-z][\w.-]{1,40}[-_]\d{1,3} {1,10}\| /im,
  podman: /\bpodman\b/i,
  apptainer: /\b(?:singularity|apptainer)\b|\.s(?:if|img)\b/i,
  containerd: /\bcontainerd\b/i,
  kubernetes:
    /\bkube(?:let|ctl|rnetes|pods?)|\bk8s\b|nvidia\.com\/gpu(?!=)|Last State: |Restart Count: |CrashLoopBackOff|ErrImagePull|"restartCount":|Failed to pull image \\?"|\[pod\/|\bk3s\b|device[- ]plugin|gpu-operator|\bResourceClaim\b|\bDRA driver\b|^\s*Reason: {1,20}OOMKilled| \d{1,2}\/\d{1,2} {1,20}(?:OOMKilled|CrashLoopBackOff|ImagePullBackOff|Init:)|node was low on resource|Need to kill Pod/im,
  slurm: /\bslurm|\b(?:sacct|sinfo|squeue|scontrol)\b|\bsrun\b|\bsbatch\b|\bSLURM_|\b_slurm_rpc_|\b_job_complete: JobId=/i,
  systemd: /\bsystemd\b|\.service\b/,
  apt: /\bapt(?:-get)?\b|\bdpkg\b/,
  wsl: /\bWSL2?\b|microsoft-standard|\/usr\/lib\/wsl|\bdxg/i,
  kernel: /\bNVRM\b|\bkernel: |oom-kill|pcieport|\bamdgpu 0000:/,
} as const

export type Program = keyof typeof PATTERNS
const ALL = Object.keys(PATTERNS).filter((name): name is Program => name in PATTERNS)
export const PROGRAM_NAMES: Readonly<Partial<Record<Program, string>>> = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  tgi: 'Text Generation Inference',
  tensorrt_llm: 'TensorRT-LLM',
  tensorrt: 'TensorRT',
  lmdeploy: 'LMDeploy',
  ollama: 'Ollama',
  llamacpp: 'llama.cpp',
  comfyui: 'ComfyUI',
  sd_webui: 'Stable Diffusion web UI',
  jax: 'JAX',
  tensorflow: 'TensorFlow',
  onnxruntime: 'ONNX Runtime',
  rapids: 'RAPIDS',
  cupy: 'CuPy',
  mxnet: 'MXNet',
  caffe: 'Caffe',
  numba: 'Numba',
  paddle: 'PaddlePaddle',
  julia: 'CUDA.jl',
  ctranslate2: 'CTranslate2',
  exllama: 'ExLlama',
  tei: 'Text Embeddings Inference',
  ffmpeg: 'FFmpeg',
  blender: 'Blender',
  openmm: 'OpenMM',
  pytorch: 'PyTorch',
}

/** `tf-allocator-allocation-error` and the shared BFC allocator are XLA's own: they are no sign of TensorFlow. */
const NOT_TENSORFLOW = /tf-allocator-allocation-error/g

/** The Torch of Lua, which PyTorch has its name from. */
const LUA_TORCH = /\bluajit: |\/torch\/install\/|\/torch\/extra\/c[un]/
/** Each program is looked for when it is first asked for. */
export type Programs = { readonly has: (program: Program) => boolean; readonly size: number }
export function programs(text: string): Programs {
  const known = new Map<Program, boolean>()
  let plain: string | undefined
  const has = (program: Program): boolean => {
    let found = known.get(program)
    if (found === undefined)
      known.set(program, (found = PATTERNS[program].test((plain ??= text.replace(NOT_TENSORFLOW, ''))) && !(program === 'pytorch' && LUA_TORCH.test(text))))
    return found
  }
  return {
    has,
    get size() {
      return ALL.filter(has).length
    },
  }
}
/** The first of those that have a name of their own for people. */
export const speaker = (all: Programs, except?: Program): string | undefined =>
  ALL.map((one) => (one !== except && PROGRAM_NAMES[one] !== undefined && all.has(one) ? PROGRAM_NAMES[one] : undefined)).find((name) => name !== undefined)

/** Programs that only run models: nothing is trained where one of them speaks. */
export const INFERENCE: readonly Program[] = [
  'vllm',
  'sglang',
  'tgi',
  'tei',
  'exllama',
  'tensorrt_llm',
  'tensorrt',
  'lmdeploy',
  'ollama',
  'llamacpp',
  'comfyui',
  'sd_webui',
  'onnxruntime',
  'ctranslate2',
  'ffmpeg',
  'esmfold',
]
