// Messages of newer servers, trainers and collectives, as people paste them. All texts are written for this test.
import { expect, test } from 'vitest'
import { unwrapped } from '../../../agent/diagnosis/unwrap/unwrap.ts'
import { answer } from './answer.ts'

const XET = 'RuntimeError: Data processing error: CAS service error : '

const SKIPPED =
  'time=2026-06-25T10:11:12.700+02:00 level=WARN source=cuda_compat.go:88 msg="skipping CUDA device — compute capability not in compiled architectures" device="NVIDIA GeForce GTX 1080" cc=610 archs="[750 800]"'
const NOTHING =
  'fm-start.sh[4756]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]'
const LONGEST =
  "ValueError: To serve at least one request with the models's max seq len (32768), (4.0 GiB KV cache is needed, which is larger than the available KV cache memory (2.1 GiB). Based on the available memory, the estimated maximum model length is 17000. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."

test.each([
  [
    'a rank that waits for the first one',
    "[rank5]: torch.distributed.DistBackendError: [5] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 600000ms, keys: //worker/attempt_0",
    /^Rank 0 did not come to set up NCCL[^]*waited 10 min[^]*log of rank 0/,
    /NCCL_SOCKET_IFNAME/,
  ],
  [
    'NCCL that cannot map the memory of a peer',
    "fit-0:1:32 [0] NCCL INFO MNNVL 1 cliqueId 8000 cliqueSize 2 cliqueRank 0\nfit-0:1:32 [0] p2p.cc:289 NCCL WARN Cuda failure 101 'invalid device ordinal'",
    /memory of a GPU of another process[^]*nvidia-imex/,
    /A GPU number that does not exist/,
  ],
  [
    'a library of NCCL that a variable names',
    '(VllmWorker rank=1 pid=7) INFO 08-20 09:48:31 [utils.py:1045] Found nccl from environment variable VLLM_NCCL_SO_PATH=/opt/n/libnccl.so.2.21.5\n(VllmWorker rank=1 pid=7) ERROR 08-20 09:48:31 [pynccl_wrapper.py:229] Failed to load NCCL library from /opt/n/libnccl.so.2.21.5. It is expected if you are not running on NVIDIA/AMD GPUs.Otherwise, the nccl library might not exist.',
    /^vLLM cannot load NCCL[^]*unset VLLM_NCCL_SO_PATH[^]*ldd \/opt\/n\/libnccl\.so\.2\.21\.5/,
    /pdb/,
  ],
  [
    'a replica of DataParallel',
    'Caught AcceleratorError in replica 1 on device 1.\nOriginal Traceback (most recent call last):\n  File "/v/lib/python3.12/site-packages/torch/nn/parallel/parallel_apply.py", line 99, in _worker\n    output = module(*input, **kwargs)\ntorch.AcceleratorError: CUDA error: an illegal memory access was encountered',
    /nn\.DataParallel splits[^]*accelerate launch/,
    /pdb/,
  ],
  [
    'weights that are tied',
    '[rank3]:   File "/w/fsdp2.py", line 81, in load\n[rank3]:     state[name].size(),\n[rank3]: KeyError: \'lm_head.weight\'',
    /tie_word_embeddings/,
    /_orig_mod/,
  ],
  [
    "a library's own checkout",
    "ImportError: cannot import name 'Attention' from 'vllm.model_executor.layers.attention' (/srv/vllm/vllm/model_executor/layers/attention/__init__.py)",
    /imported from a checkout[^]*git -C \/srv\/vllm/,
    /define Attention/,
  ],
  [
    "what the author wrote below uv's words",
    "> uv pip install 'acme[train]'\n  × Failed to build `flash-attn==2.8.2`\n  ├─▶ The build backend returned an error\n  ╰─▶ Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)\n     [stderr]\n  ModuleNotFoundError: No module named 'torch'\n\nbut it is:\n> uv pip list | grep torch\ntorch                     2.9.1+cu128",
    /Its build said: "ModuleNotFoundError: No module named 'torch'"[^]*--no-build-isolation/,
    /said: "[^"]*2\.9\.1/,
  ],
  [
    'a parser of reasoning for a model without its tokens',
    "python -m sglang.launch_server --model-path acme/chat --reasoning-parser deepseek-v3\nValueError: think_end_token '</think>' must encode to exactly one token for constrained reasoning.",
    /Leave --reasoning-parser deepseek-v3 out/,
    /pdb/,
  ],
  [
    'a scheduler that ended itself: not the OOM killer',
    'RuntimeError: Rank 2 scheduler died during initialization (exit code: -3). If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.',
    /rank 2 ended while it started[^]*SIGQUIT[^]*TP2\] Scheduler hit an exception/,
    /message itself says|killed process/,
  ],
  [
    'a scheduler that was killed',
    'RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.',
    /host memory was full[^]*oom-kill/,
    /SIGQUIT/,
  ],
  [
    'a package that must be newer',
    'Exception: flashinfer_python with minimum required version 0.2.5 is not installed. Please uninstall the old version and reinstall the latest version.',
    /pip install --upgrade 'flashinfer-python>=0\.2\.5'/,
    /<PACKAGE>/,
  ],
  [
    'a vLLM without its compiled part',
    "WARNING 10-25 00:26:20 _custom_ops.py:19] Failed to import from vllm._C with ModuleNotFoundError(\"No module named 'vllm._C'\")\nValueError: Model architectures ['LlamaForCausalLM'] are not supported for now.",
    /could not load its own code for LlamaForCausalLM[^]*import vllm\._C/,
    /Update vLLM: a model that is newer/,
  ],
  [
    "the allocator of vLLM's sleep mode",
    'CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:56\nCUDA Error: invalid argument at /workspace/csrc/cumem_allocator.cpp:57',
    /^[^]*vLLM could not allocate memory[^]*when vLLM wakes up/,
    /Cause unknown/,
  ],
  [
    'vLLM that goes to sleep: its weights go into locked host memory',
    '  File "/v/lib/python3.12/site-packages/vllm/device_allocator/cumem.py", line 180, in sleep\n    cpu_backup_tensor = torch.empty(\nRuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call.',
    /pinned memory/,
    /--gpu-memory-utilization/,
  ],
  ['Xet behind a firewall', `${XET}ReqwestMiddleware Error: Request failed after 5 retries`, /HF_HUB_DISABLE_XET=1/, /pdb|rm -rf/],
  [
    'a damaged piece in the cache of Xet',
    `${XET}Error : result term data length 6357 did not match expected value 6708`,
    /rm -rf ~\/\.cache\/huggingface\/xet/,
    /pdb/,
  ],
  [
    'an Unsloth that does not know a model',
    'NotImplementedError: Unsloth: acme/new-7b-bnb-4bit is not supported in your current Unsloth version! Please update Unsloth via:\n\npip uninstall unsloth unsloth_zoo -y',
    /pip install --upgrade unsloth unsloth_zoo/,
    /message itself says/,
  ],
  [
    'a template that cannot begin an answer',
    'RuntimeError: Unsloth: The tokenizer `acme/tiny-3b`\ndoes not have a {% if add_generation_prompt %} for generation purposes.\nPlease file a bug report immediately - thanks!',
    /chat template of acme\/tiny-3b[^]*get_chat_template/,
    /pdb/,
  ],
  [
    'a file that Ollama cannot load',
    '$ ollama run hf.co/acme/new-9b-GGUF:Q8_0\nError: 500 Internal Server Error: unable to load model: /usr/share/ollama/.ollama/models/blobs/sha256-0123456789abcdef0123456789abcdef',
    /architecture that this release does not know[^]*journalctl -u ollama/,
    /OLLAMA_FLASH_ATTENTION/,
  ],
  [
    'a GPU that its driver finds started already',
    'NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP\nNVRM: _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)\nNVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:1941)',
    /by a reset, or where that is refused by a power cycle[^]*--gpu-reset -i 0000:01:00\.0/,
    /pdb/,
  ],
  [
    'a library of CUDA 13 in Ollama, and a V100',
    'Mar 18 17:35:36 box ollama[611]:   Device 0: Tesla V100-PCIE-32GB, compute capability 7.0, VMM: yes\nMar 18 17:35:37 box ollama[611]: //ml/backend/ggml/ggml/src/ggml-cuda/ggml-cuda.cu:78: ggml was not compiled with any CUDA arch <= 700',
    /compute capability 7\.0[^]*install\.sh[^]*OLLAMA_LLM_LIBRARY=cuda_v12/,
    /-DCMAKE/,
  ],
  [
    'a build of llama.cpp for the newest GPU alone',
    '  Device 0: NVIDIA GeForce RTX 5070 Ti, compute capability 12.0, VMM: yes\n/home/u/llama.cpp/ggml/src/ggml-cuda/common.cuh:212: ggml was not compiled with any CUDA arch <= 750\nAborted (core dumped)',
    /-DCMAKE_CUDA_ARCHITECTURES="75;120"/,
    /ollama|compile with a toolkit of CUDA 12/,
  ],
  [
    'a GPU that no library of Ollama knows',
    `${SKIPPED}\ntime=2026-06-25T10:11:13.100+02:00 level=INFO source=types.go:60 msg="inference compute" id=cpu library=cpu compute="" name=cpu`,
    /code for NVIDIA GeForce GTX 1080 \(compute capability 6\.1\)/,
    /--gpus all/,
  ],
  [
    'a driver that is too old for Ollama and an old GPU',
    'time=2026-07-22T08:00:01.1Z level=WARN source=cuda_compat.go:39 msg="NVIDIA driver too old" device="Tesla P40" compute=6.1 driver=535 required_driver="570 or newer"\ntime=2026-07-22T08:00:01.3Z level=INFO source=types.go:60 msg="inference compute" id=cpu library=cpu compute=""',
    /to 570 or newer[^]*Tesla P40 with the present one \(535\)/,
    /--gpus all/,
  ],
  [
    'a folder of another pipeline',
    "ValueError: Pipeline <class 'diffusers.pipelines.wan.pipeline_wan_i2v.WanImageToVideoPipeline'> expected {'text_encoder', 'image_encoder', 'image_processor', 'tokenizer', 'vae'}, but only {'text_encoder', 'image_encoder', 'tokenizer', 'vae'} were passed.",
    /lacks parts of WanImageToVideoPipeline: image_processor\n[^]*from_pretrained\(…, image_processor=…\)/,
    /one of those that the message lists/,
  ],
  [
    'a diffusers that is older than the code',
    '  File "/home/u/acme/models.py", line 12, in <module>\n    from diffusers.models.attention_dispatch import dispatch_attention_fn\nModuleNotFoundError: No module named \'diffusers.models.attention_dispatch\'',
    /'diffusers>=0\.35'/,
    /<VERSION>/,
  ],
  [
    'a Fabric Manager that needs the subnet manager',
    `fm-start.sh[4753]: Detected NVL5+ system\n${NOTHING}`,
    /NVLink Subnet Manager[^]*mlx5_ib[^]*install -y nvlsm/,
    /disable --now/,
  ],
  ['a Fabric Manager on a host without switches', `fm-start.sh[4753]: Detected Pre-NVL5 system\n${NOTHING}`, /disable --now/, /nvlsm/],
  [
    'a Fabric Manager without its kernel module',
    'fm-start.sh[3]: Kernel module "ib_umad" has not been loaded, fabric manager cannot start',
    /modprobe -a mlx5_ib ib_umad/,
    /install -y nvlsm/,
  ],
  [
    'a B200 that is not ready',
    'GPU 0: NVIDIA B200 (UUID: GPU-1)\nRuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized',
    /start the Fabric Manager[^]*NVLink Subnet Manager/,
    /pdb/,
  ],
  [
    'a longest request in the words of verl',
    `(WorkerDict pid=9)   File "/w/verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py", line 121, in __init__\n(WorkerDict pid=9) ${LONGEST}`,
    /rollout\.max_model_len=17000[^]*rollout\.gpu_memory_utilization=<SHARE>[^]*\+actor_rollout_ref\.rollout\.engine_kwargs\.vllm\.kv_cache_dtype=fp8/,
    /LLM\(|--max-model-len|0\.95/,
  ],
  [
    'a share that the training needs too',
    "(WorkerDict pid=9) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\nError executing job with overrides: ['actor_rollout_ref.rollout.gpu_memory_utilization=0.3']",
    /now 0\.30\): the training has the rest[^]*utilization=0\.45/,
    /nothing else runs/,
  ],
  [
    'a longest request in the words of TRL',
    `[rank1]:   File "/v/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py", line 590, in __init__\n[rank1]: ${LONGEST}`,
    /vllm_max_model_length=17000[^]*vllm_gpu_memory_utilization=<SHARE>/,
    /--[a-z]/,
  ],
  [
    'heads that cannot be split, in the words of verl',
    'python -m verl.trainer.main_ppo actor_rollout_ref.rollout.tensor_model_parallel_size=3\nValueError: Total number of attention heads (32) must be divisible by tensor parallel size (3).',
    /rollout\.tensor_model_parallel_size=2/,
    /--tensor-parallel-size/,
  ],
  [
    'a step that is shorter than a request',
    'ValueError: max_num_batched_tokens (2048) is smaller than max_model_len (4096). This effectively limits the maximum sequence length to max_num_batched_tokens and makes vLLM reject longer sequences.',
    /--max-num-batched-tokens 4096[^]*--max-model-len 2048/,
    /message itself says/,
  ],
  [
    'a rank that MPI does not have',
    "terminate called after throwing an instance of 'tensorrt_llm::common::TllmException'\n  what():  [TensorRT-LLM][ERROR] Assertion failed: Failed: MPI error /src/mpiUtils.cpp:211 '6' (/src/mpiUtils.cpp:211)\n[host1:1234] Signal: Aborted (6)",
    /error 6 is an invalid rank[^]*mpirun -n <GPUS>/,
    /pip check/,
  ],
  [
    'a V100 under a driver of CUDA 13, from Julia',
    '┌ Error: Your Tesla V100-SXM2-16GB GPU (compute capability 7.0) is not supported on CUDA 13+.\n└ @ CUDA ~/.julia/packages/CUDA/Il00B/lib/cudadrv/state.jl:224\nERROR: CUDA error: unknown error (code 999, ERROR_UNKNOWN)',
    /^CUDA\.jl chose[^]*from 6\.2 on[^]*set_runtime_version!\(v"12\.9"\)/,
    /rmmod/,
  ],
  [
    'the same in the words of an older CUDA.jl',
    'julia> f = CUDA.zeros(4)\nERROR: Compute capability 7.0.0 is not supported by CUDA 13.0.0\nStacktrace:\n  [1] error(s::String)',
    /set_runtime_version!/,
    /small input/,
  ],
  [
    'a dictionary from the chat template',
    '  File "/home/u/chat.py", line 9, in <module>\n    ids = tok.apply_chat_template(msgs, return_tensors="pt").shape\nAttributeError: \'BatchEncoding\' object has no attribute \'shape\'',
    /model\.generate\(\*\*inputs\)[^]*\["input_ids"\]/,
    /--upgrade|renamed/,
  ],
  [
    'a dictionary, and an exception without words',
    'Traceback (most recent call last):\n  File "/home/u/chat.py", line 14, in <module>\n    out = model.generate(ids)\n  File "/v/lib/python3.12/site-packages/transformers/tokenization_utils_base.py", line 283, in __getattr__\n    raise AttributeError\nAttributeError',
    /model\.generate\(\*\*inputs\)/,
    /search its issues/,
  ],
  [
    'a call of the tokenizer that Transformers 5 removed',
    "AttributeError: BertTokenizer has no attribute batch_encode_plus. Did you mean: '_encode_plus'?",
    /call the tokenizer itself[^]*'transformers<5'/,
    /_encode_plus\(/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

test('a library that lacks the code is no fault where another one has it', () => {
  const used = 'time=2026-06-25T10:11:13.1+02:00 level=INFO source=types.go:60 msg="inference compute" id=GPU-1 library=CUDA compute=6.1 driver=12.8'
  expect(answer(`${SKIPPED}\n${used}`).kind).toBeUndefined()
})

test('only lines that a terminal broke inside a word are put together, and each keeps its number', () => {
  const broken = [
    '(EngineCore pid=7) ValueError: the model asks for more than the card can gi',
    've, and the longest request of this model needs far more than that, so decr',
    'ease it',
  ]
  expect(unwrapped(['first', ...broken, 'last'])).toEqual(['first', broken.join(''), '', '', 'last'])
  const table = [
    '| 0  NVIDIA H100 80GB HBM3          On  | 00000000:18:00.0 Off |           0 |',
    '| 1  NVIDIA H100 80GB HBM3          On  | 00000000:2A:00.0 Off |           0 |',
  ]
  expect(unwrapped(table)).toEqual(table)
  const records = [
    '2026-01-02 03:04:05 INFO loading the shards of the model from disk, part a',
    '2026-01-02 03:04:06 INFO loading the shards of the model from disk, part b',
  ]
  expect(unwrapped(records)).toEqual(records)
})
