// Messages of newer servers, trainers and collectives, as people paste them. All texts are written for this test.
import { expect, test } from 'vitest'
import { unwrapped } from '../../../agent/diagnosis/unwrap/unwrap.ts'
import { answer } from './answer.ts'

const XET = 'RuntimeError: Data processing error: CAS service error : '

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
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
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
