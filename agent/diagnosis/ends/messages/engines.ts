// What engines of language models refuse while they start: kernels that do not fit the GPU, libraries of other versions, options that were renamed.
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { WHICH_GPU } from '../../faults/remedies/gpu.ts'
import { WRONG_RANKS, WRONG_RANKS_TITLE, wrongRanksRemedies, wrongRanksSays } from '../../faults/remedies/tensorrt-llm-ranks.ts'
import type { Known } from './message.ts'

const update = ({ programs }: Situation): Piece => ({
  text: `Update ${programs.has('sglang') ? 'SGLang' : programs.has('vllm') ? 'vLLM' : 'the server'} and FlashInfer together: support of a GPU comes with releases.`,
})
/** GeForce, RTX PRO and GB10 share the name Blackwell with the B200 (10.x), and not its instructions. */
const DESKTOP = 'GPUs of compute capability 12.x (RTX 50, RTX PRO Blackwell, GB10) do not run kernels written for 10.x (B200, GB200).'

/** Options of vLLM that its releases took out, with what took their place (vllm-project/vllm #22772, #21739; its CLI reference). */
const RENAMED: readonly (readonly [option: string, change: string, command?: string])[] = [
  ['guided-decoding-backend', 'It was renamed.', '--structured-outputs-config.backend xgrammar'],
  ['disable-log-requests', 'Leave it out: requests are no longer logged unless --enable-log-requests asks for it.'],
  ['enable-reasoning', 'Leave it out: --reasoning-parser alone switches it on.'],
  ['num-scheduler-steps', 'Leave it out: the V1 engine has no such setting.'],
  ['use-v2-block-manager', 'Leave it out: there is only one block manager now.'],
  ['speculative-model', 'It is part of one setting now.', `--speculative-config '{"model": "<MODEL>", "num_speculative_tokens": 3}'`],
  ['num-speculative-tokens', 'It is part of --speculative-config now.'],
]
const renamed = (words: string): readonly Piece[] =>
  RENAMED.flatMap(([option, text, command]) =>
    words.includes(`--${option} `) || words.endsWith(`--${option}`) || words.includes(`--${option}=`)
      ? [{ text: `--${option}: ${text}`, ...(command === undefined ? {} : { command }) }]
      : [],
  )

/** Up to what SGLang leaves for activations and CUDA graphs at its largest default (0.9). */
function moreForCache({ text }: Situation): Piece {
  const now = /mem[-_]fraction[-_]static[=: ]{1,2}(0\.\d{1,4})/.exec(text)?.[1]
  if (now === undefined)
    return { text: 'Give the KV cache more of the card than now (see mem_fraction_static in its start).', command: '--mem-fraction-static <FRACTION>' }
  const more = Math.min(Number(now) + 0.04, 0.9)
  return (
    more > Number(now) && { text: `Give the KV cache a larger share of the GPU memory: it is ${now} now.`, command: `--mem-fraction-static ${more.toFixed(2)}` }
  )
}

/** Their all-reduce opens buffers of the other ranks over CUDA IPC. */
const CUSTOM_REDUCE = /custom_all_reduce|register_graph_buffers|custom_ar\b/
const withoutCustomReduce = ({ text }: Situation): Piece =>
  CUSTOM_REDUCE.test(text) &&
  !text.includes('--disable-custom-all-reduce') && {
    text: 'It failed in the custom all-reduce, which shares buffers between the GPUs: do without it (NCCL takes over).',
    command: '--disable-custom-all-reduce',
  }
const withoutGraphs = ({ text, programs }: Situation): Piece =>
  programs.has('sglang')
    ? !/--disable-cuda-graph(?! ?\.? ?\(Not)/.test(text.replace(/by (?:not using )?--disable-cuda-graph/g, '')) && {
        text: 'Start without CUDA graphs, to see whether the rest works (generation is slower).',
        command: '--disable-cuda-graph',
      }
    : { text: 'Start without CUDA graphs, to see whether the rest works (generation is slower).', command: '--enforce-eager' }

export const ENGINES: readonly Known[] = [
  {
    // ggml.c, ggml_init: its block of host memory could not be had.
    pattern: /GGML_ASSERT\b.{0,240}\bmem_buffer != NULL/,
    title: 'ggml got no host memory',
    says: 'ggml, on which llama.cpp, Ollama and whisper.cpp are built, asked for a block of host memory and got none.',
    remedies: (_, { situation: { system } }) => [
      {
        text: 'See how much is free: all layers that are not on a GPU, and the context, must fit into it.',
        ...(system === 'windows' ? {} : { command: 'free -h; ulimit -v' }),
      },
      { text: 'Use a smaller model or quantization, or a shorter context; a container or job may have a limit of its own.' },
    ],
  },
  {
    // A connection that was closed is another rank that ended.
    pattern: /Capture cuda graph failed: (?![^\n]{0,80}(?:out of memory|gloo\/transport))([^\n]{3,160})|^invalid (?:argument|resource handle)$/im,
    when: ({ situation }) => /[Cc]apture cuda graph failed|register_graph_buffers/.test(situation.text),
    title: 'CUDA graphs could not be captured',
    says: 'The server captures CUDA graphs when it starts, and a call failed in that.',
    remedies: (_, { situation }) => [withoutCustomReduce(situation), withoutGraphs(situation), update(situation)],
  },
  {
    pattern: /Ran out of memory even after retracting all other requests in the decode batch/,
    title: 'One request filled the whole KV cache of SGLang',
    says: 'SGLang had put all other requests back into its queue, and the last one still found no space in the KV cache for its next token.',
    remedies: (_, { situation }) => [
      moreForCache(situation),
      { text: 'Or hold it in half the memory, where the GPU has FP8 (compute capability 8.9 and newer).', command: '--kv-cache-dtype fp8_e5m2' },
      { text: 'Or allow no request longer than the cache: see max_total_num_tokens in its start.', command: '--context-length <TOKENS>' },
    ],
  },
  {
    // torch.compile's cache on disk, vllm-project/vllm: the files of ~/.cache/vllm/torch_compile_cache.
    pattern: /Bytes object is corrupted, checksum does not match/,
    title: 'The cache of compiled code is damaged',
    says: 'A file in the cache of torch.compile was cut off or written by two processes at once. It is no file of the model.',
    remedies: (_, { situation }) => [
      {
        text: 'Remove the cache: it is filled again at the next start, which takes longer once.',
        command: situation.programs.has('vllm') ? 'rm -r ~/.cache/vllm/torch_compile_cache' : 'rm -r "/tmp/torchinductor_$USER"',
      },
      { text: 'See that its disk is not full, and give each server a cache of its own (VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR).', command: 'df -h ~ /tmp' },
    ],
  },
  {
    // vllm-project/vllm #47387: pinned memory by unified addresses, which vLLM takes as absent under WSL2.
    pattern: /UVA is not available/,
    title: 'vLLM needs pinned memory, which is not available here',
    says: 'It shares host memory with the GPU by unified addresses (UVA), and does not do so under WSL2.',
    remedies: () => [
      { text: 'Run it on Linux itself, or take a release for which the issue of that message names a fix.' },
      { text: 'Leave offloading to the CPU out, if it is on (--cpu-offload-gb).' },
    ],
  },
  {
    pattern: /unrecognized arguments: ([^\n]{3,300})/,
    when: ({ error, situation }) => situation.programs.has('vllm') && renamed((error?.message ?? '').trim()).length > 0,
    title: 'vLLM no longer has these options',
    says: 'This release took them out: the command was written for an older one.',
    remedies: ([match]) => [...renamed(match.trim()), { text: 'See which options this release takes.', command: 'vllm serve --help=all' }],
  },
  {
    pattern:
      /(\S{3,40}?)(?:-CUTLASS)? (?:MoE )?(?:kernel|backend)\b[^\n]{0,120}?does not support (?:the deployment configuration since kernel does not support )?current device (sm_1[02]\d|cuda|rocm)?/,
    title: 'The chosen kernels do not run on this GPU',
    says: (_, { situation }) => (/sm_12\d|GB10|RTX (?:PRO|50\d\d)/.test(situation.text) ? DESKTOP : undefined),
    remedies: (_, { situation }) => [
      update(situation),
      situation.programs.has('vllm') && { text: 'Or choose kernels that run on most GPUs for the experts (recent releases).', command: '--moe-backend marlin' },
      { text: 'Or serve another quantization of the model (FP8, AWQ).' },
      WHICH_GPU,
    ],
  },
  {
    // flashinfer/compilation_context.py: the generations that a kernel is written for, and none of them is here.
    pattern: /No supported CUDA architectures found for major versions \[([\d, ]{1,20})\]/,
    title: 'FlashInfer has no such kernel for this GPU',
    says: ([, majors]) =>
      `The kernel exists only for compute capability ${majors
        ?.split(/, ?/)
        .map((one) => `${one}.x`)
        .join(', ')}.${majors?.trim() === '10' ? ` ${DESKTOP}` : ''}`,
    remedies: (_, { situation }) => [
      situation.programs.has('vllm') && {
        text: 'Take out what asks for it (VLLM_USE_FLASHINFER_… variables, --attention-backend, --moe-backend): vLLM then chooses kernels by the GPU.',
        command: 'env | grep VLLM_',
      },
      situation.programs.has('sglang') && { text: 'Choose other kernels.', command: '--attention-backend triton --moe-runner-backend triton' },
      update(situation),
      WHICH_GPU,
    ],
  },
  {
    // vllm-project/vllm #50705: below toolkit 12.9 FlashInfer drops 12.x from its list, and says this.
    pattern: /FlashInfer requires GPUs with sm75 or higher/,
    title: 'FlashInfer compiles nothing for this GPU',
    says: 'The GPU is older than Turing (7.5), or newer than the CUDA toolkit here: for 12.x (RTX 50, RTX PRO, GB10) FlashInfer needs nvcc 12.9 or newer.',
    remedies: (_, { situation }) => [
      {
        text: 'Compare the GPU with the toolkit, and install CUDA 12.9 or newer for a GPU of 12.x.',
        command: 'nvidia-smi --query-gpu=name,compute_cap --format=csv; nvcc --version',
      },
      situation.programs.has('vllm') && { text: 'Or let vLLM sample without it.', command: 'export VLLM_USE_FLASHINFER_SAMPLER=0' },
      situation.programs.has('sglang') && { text: 'Or run without it.', command: '--attention-backend triton --sampling-backend pytorch' },
      situation.jetson && { text: 'On an Orin, name its architecture.', command: 'export FLASHINFER_CUDA_ARCH_LIST=8.7' },
    ],
  },
  {
    // Removed in Transformers 5 (huggingface/transformers #40936), and from vLLM in #29686.
    pattern: /has no attribute '?all_special_tokens_extended/,
    title: 'This vLLM does not work with Transformers 5',
    says: 'It uses a property of tokenizers that Transformers 5 no longer has.',
    remedies: () => [
      { text: 'Install Transformers 4 beside it.', command: "pip install 'transformers<5'" },
      { text: 'Or update vLLM to a release that works with Transformers 5.' },
    ],
  },
  {
    pattern: /memory capacity is unbalanced[^\n]{0,80}?(?:pre_model_load_memory|min_per_gpu_memory)=([\d.]{1,20}), local_gpu_memory=([\d.]{1,20})/,
    title: 'One GPU has much less free memory than the others',
    says: ([, least, here]) =>
      `Before the model was loaded, the fullest GPU of the group had ${Number(least).toFixed(1)} GiB free and this one ${Number(here).toFixed(1)} GiB; SGLang stops where they differ by more than 10 %.`,
    remedies: () => [
      {
        text: 'See who holds memory on the fullest GPU, and end what is not needed (an earlier server too).',
        command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv',
      },
      { text: 'Or leave that GPU out.', command: 'export CUDA_VISIBLE_DEVICES=<GPUS>' },
      {
        text: 'GPUs of different sizes: switch the check off (its name differs by release; here are the two newest, SGL_DISABLE_… is the oldest). The fullest GPU then sets the size of the KV cache for all.',
        command: 'export SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0 SGLANG_DISABLE_TP_MEMORY_INBALANCE_CHECK=1',
      },
    ],
  },
  {
    pattern: /Could not load any common_ops library[^]*?(?:ImportError|OSError): (lib[\w.+-]{1,60}\.so[\w.]{0,12}): cannot open shared object/,
    title: ([, library]) => `sgl_kernel lacks ${library}`,
    says: ([, library]) => `sgl_kernel is installed, and a library that it loads is not: ${library}.`,
    remedies: ([, library = '']) =>
      library.startsWith('libnuma')
        ? [{ text: 'Install it. On Debian and Ubuntu:', command: 'sudo apt-get install -y libnuma1' }]
        : /^lib(?:cu|nv)/.test(library)
          ? [
              {
                text: 'Install the SGLang whose kernels were built for the CUDA of this PyTorch, or use its image.',
                command: 'python -c "import torch; print(torch.version.cuda)"; pip list | grep -i sgl',
              },
            ]
          : [{ text: `Install the package of the system that brings ${library}.`, command: `apt-file search ${library}` }],
  },
  {
    pattern: /Could not load any common_ops library/,
    title: 'The kernels of SGLang do not load',
    says: 'The installed sgl_kernel was built for another PyTorch, CUDA, CPU or GPU than there is.',
    remedies: () => [
      { text: 'Install SGLang again with what belongs to it, in a clean environment.', command: 'pip install --upgrade --force-reinstall sglang' },
      { text: 'Or use its image (lmsysorg/sglang), whose parts fit together; on ARM and for the newest GPUs its tags differ.' },
    ],
  },
  {
    pattern: /assert cuda_home is not None/,
    title: 'DeepGEMM finds no CUDA toolkit',
    says: 'DeepGEMM compiles its kernels at run time, and neither CUDA_HOME nor nvcc leads to a toolkit.',
    remedies: (_, { situation }) => [
      { text: 'Install the CUDA toolkit of the version that PyTorch was built with, and name its folder.', command: 'export CUDA_HOME=/usr/local/cuda' },
      situation.programs.has('sglang') && { text: 'Or run without DeepGEMM (slower in FP8).', command: 'export SGLANG_ENABLE_JIT_DEEPGEMM=0' },
      situation.programs.has('vllm') && { text: 'Or run without DeepGEMM (slower in FP8).', command: 'export VLLM_USE_DEEP_GEMM=0' },
      { text: "Or use the server's own image, which has the toolkit." },
    ],
  },
  {
    pattern: /No model architectures are specified/,
    title: 'The config.json names no architecture',
    says: 'What was named is no model that vLLM can load: an adapter (LoRA), a tokenizer or a part of a pipeline (diffusers, speech), or its config.json lacks "architectures".',
    remedies: () => [
      {
        text: 'Look at its config.json, and name the folder or repository of the model itself.',
        command: "python -c \"import json; print(json.load(open('<MODEL>/config.json')).get('architectures'))\"",
      },
      { text: 'If only the entry is missing: give it.', command: `--hf-overrides '{"architectures": ["<ARCHITECTURE>"]}'` },
    ],
  },
  {
    pattern: /max_tokens_per_mm_item \((\d{1,7})\) is larger than max_num_batched_tokens/,
    title: ([, tokens]) => `One image or video of this model may take ${tokens} tokens, more than a batch`,
    remedies: ([, tokens]) => [
      { text: 'Let a batch hold one; it takes more GPU memory.', command: `--max-num-batched-tokens ${tokens}` },
      { text: 'Or limit what is sent: smaller images or fewer frames (--mm-processor-kwargs, its keys are those of the model).' },
    ],
  },
  {
    pattern: WRONG_RANKS,
    title: WRONG_RANKS_TITLE,
    says: (_, { situation }) => wrongRanksSays(situation),
    remedies: (_, { situation }) => wrongRanksRemedies(situation),
  },
  {
    // MPI_ERR_RANK of Open MPI and MPICH. https://github.com/NVIDIA/TensorRT-LLM/issues/1826
    pattern: /Failed: MPI error \S{1,200} '6'/,
    title: 'TensorRT-LLM asked MPI for a rank that does not exist',
    says: "MPI's error 6 is an invalid rank: mostly fewer processes were started than the engine has ranks, or each was started by itself.",
    remedies: (_, { situation }) => wrongRanksRemedies(situation),
  },
  {
    pattern: /cannot find tensor ((?:\w{1,30}\.){1,4}\w{1,30})/,
    when: ({ situation }) => situation.programs.has('tei'),
    title: 'Text Embeddings Inference does not know this model file',
    says: ([, tensor]) =>
      `It looks for ${tensor}, which the file does not have: the model is a variant (other names of its layers) that this release does not support.`,
    remedies: () => [
      { text: 'Take the newest image: models and their variants come with releases.' },
      { text: 'Or a repository with a version for it: see the supported models in its README; rerankers and classifiers need files of that kind.' },
    ],
  },
  {
    pattern: /^(?:[^\n]{0,40})?((?:s3|gs|az):\/\/[^\s'"]{3,160}?)['"]? is not a (?:local folder|valid)/m,
    title: 'The server does not read models from object storage this way',
    says: 'It took the address for a repository of Hugging Face.',
    remedies: ([, address = ''], { situation }) => [
      (situation.programs.has('vllm') || situation.programs.has('sglang')) && {
        text: 'Stream it: install the package of the streamer, and choose its loader.',
        command: '--load-format runai_streamer',
      },
      /^s3:[\w./-]+$/.test(address)
        ? { text: 'Or copy it into a folder first, and name that.', command: `aws s3 sync ${address} <FOLDER>` }
        : { text: 'Or copy it into a folder first, and name that.' },
    ],
  },
]
