// Checks that libraries make themselves, as people paste them: DDP and FSDP, Ray beside vLLM, ggml, JAX, DeepSpeed.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const said = (text: string): string =>
  explainText(logScanner(), text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} $ ${one.command ?? ''}`)].join('\n'))
    .join('\n\n')

const UNUSED =
  'RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss. '

describe('checks of libraries', () => {
  test.each([
    [
      'DDP is to look for unused parameters',
      `${UNUSED}You can enable unused parameter detection\n`,
      /Let DDP look for them[^]*TORCH_DISTRIBUTED_DEBUG/,
      /times 0/,
    ],
    [
      'DDP looks for them already',
      `${UNUSED}Since \`find_unused_parameters=True\` is enabled, this likely means that not all \`forward\` outputs participate in computing loss.\n`,
      /looks for them already[^]*times 0/,
      /Let DDP look/,
    ],
    [
      'DDP counts the parameters',
      `${UNUSED}You can enable unused parameter detection\nParameter indices which did not receive grad for rank 1: 4 7\nIn addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG\n`,
      /for i in \(4, 7,\)/,
      /export TORCH_DISTRIBUTED_DEBUG/,
    ],
    ['FSDP on one GPU', 'RuntimeError: ``local_state_dict`` can only be used when parameters are flatten and sharded.\n', /FULL_STATE_DICT/, /pdb/],
    ['FSDP over frozen and trained weights', 'ValueError: `FlatParameter` requires uniform `requires_grad`\n', /use_orig_params=True/, /until that holds/],
    [
      'a bundle of several GPUs',
      'ValueError: Placement group bundle cannot have more than 1 GPU.\n',
      /\[\{"CPU": 1\}\] \+ \[\{"GPU": 1\}\] \* <GPUS>/,
      /default settings/,
    ],
    [
      'no GPU where the engine starts',
      'ValueError: Ray does not allocate any GPUs on the driver node. Consider adjusting the Ray placement group or running the driver on a GPU node.\n',
      /STRICT_PACK/,
      /default settings/,
    ],
    [
      'a barrier of the start of JAX',
      'jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out task names:\n/job:jax_worker/replica:0/task:1\n',
      /initialization_timeout/,
      /timeout_in_ms/,
    ],
    [
      'a barrier of the program itself',
      'jaxlib._jax.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: share_config0. Timed out task names:\n/job:jax_worker/replica:0/task:3\n',
      /this barrier \(share_config0\)[^]*timeout_in_ms/,
      /initialization_timeout/,
    ],
    ['ggml got no memory', 'GGML_ASSERT: /src/ggml.c:4000: ctx->mem_buffer != NULL\nAborted\n', /ggml got no host memory[^]*free -h/, /layers on the GPU\. If/],
    [
      'a check of llama-cpp-python',
      'GGML_ASSERT: D:\\b\\llama-cpp-python\\vendor\\llama.cpp\\ggml-cuda.cu:727: tensor->view_src == nullptr\n',
      /\$ n_gpu_layers=0/,
      /--n-gpu-layers/,
    ],
    ['a check of LLamaSharp', 'GGML_ASSERT: D:\\b\\LLamaSharp\\llama.cpp:745: data\n', /\$ GpuLayerCount = 0/, /--n-gpu-layers/],
    [
      'an assertion on Windows',
      'llama_new_context_with_model: n_ctx      = 512\nAssertion failed: a || !view->buffer, file C:\\src\\llama.cpp\\ggml-alloc.c, line 389\n',
      /^aborted[^]*Assertion failed: a \|\| !view->buffer"/,
      /python_exception/,
    ],
    [
      'an assertion on macOS',
      'Assertion failed: (view->buffer), function alloc_view, file ggml-alloc.c, line 389.\n',
      /^aborted[^]*Assertion failed: \(view->buffer\)"/,
      /python_exception/,
    ],
    [
      'CUDA of two versions that do not fit',
      'Exception: Installed CUDA version 11.0 does not match the version torch was compiled with 10.1, unable to compile cuda/cpp extensions without a matching cuda version.\n',
      /^cuda_version_mismatch/,
      /compile_error/,
    ],
    [
      'DeepSpeed accepts the two versions, and headers are missing',
      'Installed CUDA version 12.1 does not match the version torch was compiled with 12.4 but since the APIs are compatible, accepting this combination\n/srv/torch/csrc/python_headers.h:12:10: fatal error: Python.h: No such file or directory\ncompilation terminated.\n',
      /^compile_error[^]*python3-dev/,
      /cuda_version_mismatch/,
    ],
    [
      'a stand-in of AutoAWQ',
      "  File \"/srv/autoawq/venv/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 88, in __getattr__\n    raise AttributeError(name)\nAttributeError: 'Catcher' object has no attribute 'self_attn'\n",
      /Transformers reads self_attn[^]*transformers==4\.51\.3/,
      /version of torch/,
    ],
    ['an expert without tokens', 'RuntimeError: Invalid MNK = [0, 512, 1024]\n', /given no rows[^]*BACKEND\.TRITON/, /pdb/],
    [
      'kernels of AutoAWQ',
      'AssertionError: Marlin kernels are not installed. Please install AWQ compatible Marlin kernels from AutoAWQ_kernels.\n',
      /pip install autoawq-kernels/,
      /<PACKAGE>/,
    ],
    ['sizes that Marlin does not take', 'ValueError: `infeatures` must be divisible by 128 and `outfeatures` by 256.\n', /use_marlin/, /message names/],
    [
      'a type that Marlin does not take',
      '(EngineCore_DP0 pid=9) RuntimeError: gpt_marlin_gemm only supports bfloat16 and float16\n',
      /--dtype float16/,
      /default settings/,
    ],
    [
      'a request that only the largest cards hold',
      'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 107374182400 bytes.\n',
      /only on a card with 105\.3 GiB/,
      /nothing else runs on it\./,
    ],
    [
      'workers of Ultralytics',
      'Ultralytics YOLOv8.0.1 Python-3.9 torch-2.0.1+cu118 CUDA:0\nRuntimeError: DataLoader worker (pid(s) 90, 92) exited unexpectedly\n',
      /with workers=0/,
      /num_workers/,
    ],
    [
      'a worker that was told to end',
      'torch\nRuntimeError: DataLoader worker (pid 90) is killed by signal: Terminated. \n',
      /who ended it[^]*first error of the others/,
      /num_workers/,
    ],
    [
      'the workers of nnU-Net go with the error of the main process',
      'Traceback (most recent call last):\n  File "/srv/x.py", line 9, in results_loop\n    raise e\nRuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message\nTraceback (most recent call last):\n  File "/srv/lib/python3.9/site-packages/torch/nn/modules/conv.py", line 605, in _conv_forward\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n',
      /^cublas_cudnn_error/,
      /worker_died|prepares the data/,
    ],
    ['nnU-Net alone', 'RuntimeError: One or more background workers are no longer alive. Exiting.\n', /A worker that prepares the data died/, /num_workers/],
    [
      'two cuDNN in one process',
      'Could not load library libcudnn_cnn_infer.so.8. Error: /usr/lib/libcudnn_cnn_infer.so.8: undefined symbol: _ZN5cudnn1aE, version libcudnn_ops_infer.so.8\n',
      /built against another version[^]*second cuDNN/,
      /was not found where/,
    ],
    [
      'a server that a trainer imports',
      '==((====))==  Unsloth 2025.6.12: Fast Qwen3 patching. vLLM: 0.9.2.\nTraceback (most recent call last):\n  File "/srv/t.py", line 7, in <module>\n  File "/srv/.venv/lib/python3.12/site-packages/transformers/trainer.py", line 22, in train\n    return inner_training_loop(\nRuntimeError: CUDA error: invalid argument\n',
      /Run it again/,
      /Run vLLM/,
    ],
    [
      'Accelerate starts the agent of torchrun',
      'W06 torch/distributed/run.py:749] master_addr is only used for static rdzv_backend and when rdzv_endpoint is not specified.\nTraceback (most recent call last):\n  File "/srv/env/bin/accelerate", line 8, in <module>\n    sys.exit(main())\ntorch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n',
      /accelerate launch --num_machines <HOSTS>[^]*--rdzv_backend static/,
      /\$ torchrun/,
    ],
    [
      'a file in another encoding is no fault of sd-scripts',
      "Traceback (most recent call last):\n  File \"D:\\AI\\kohya_ss\\sd-scripts\\flux_train.py\", line 850, in <module>\n    train(args)\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 16: invalid continuation byte\n",
      /save it as UTF-8/,
      /Update kohya/,
    ],
    [
      'xFormers without a GPU',
      "ValueError: torch.cuda.is_available() should be True but is False. xformers' memory efficient attention is only available for GPU\n",
      /^gpu_not_visible\nPyTorch sees no GPU/,
      /only CPUs|python_exception/,
    ],
    [
      'a model file on Windows that was cut',
      "OSError: Unable to load weights from pytorch checkpoint file for 'C:\\Users\\w\\.cache\\huggingface\\hub\\models--org--net-v1\\snapshots\\39\\pytorch_model.bin' at 'C:\\Users\\w\\.cache\\huggingface\\hub\\models--org--net-v1\\snapshots\\39\\pytorch_model.bin'. If you tried to load a PyTorch model from a TF 2.0 checkpoint, please set from_tf=True.\n",
      /hf download org\/net-v1/,
      /ls -lL/,
    ],
    [
      'frames whose angles a mail escaped',
      'Traceback (most recent call last):\n  File "C:\\Program Files\\Python\\Python311\\Lib\\importlib\\__init__.py", line 126, in import_module\n    return _bootstrap._gcd_import(name[level:], package, level)\n  File "\\<frozen importlib._bootstrap\\>", line 1204, in _gcd_import\nModuleNotFoundError: No module named \'triton.ops\'\n',
      /has no ops\n/,
      />:1204/,
    ],
    [
      'kernels for Hopper elsewhere',
      "CUDA error (C:/a/xformers/third_party/flash-attention/hopper\\flash_fwd_launch_template.h:188): invalid argument\nTraceback (most recent call last):\n  File \"M:\\Data\\Assets\\Python\\cpython-3.10.18-windows-x86_64-none\\lib\\runpy.py\", line 196, in _run_module_as_main\n    return _run_code(code, main_globals, None,\nsubprocess.CalledProcessError: Command '['M:\\\\venv\\\\python.exe', 'M:/sd-scripts/sdxl_train_network.py']' returned non-zero exit status 1.\n",
      /A kernel for Hopper[^]*--sdpa/,
      /runpy/,
    ],
    [
      'bf16 that no device has',
      'ValueError: bf16 mixed precision requires PyTorch >= 1.10 and a supported device.\n',
      /is_bf16_supported[^]*--mixed_precision fp16/,
      /Install PyTorch/,
    ],
    [
      'vLLM, wrapped by the terminal in its words',
      "(EngineCore pid=3) ValueError: To serve at least one request with the model's max seq len (100000), (4.26 GiB KV cach\ne is needed, which is larger than the available KV cache memory (4.25 GiB). Based on the avai\nlable memory, the estimated maximum model length is 99712. Try increasing `gpu_memory_utilization`\n",
      /^cuda_oom[^]*4\.26 GiB needed, 4\.25 GiB available[^]*--max-model-len 99712/,
      /python_exception/,
    ],
    [
      'links of VS Code around the frames',
      "AttributeError                            Traceback (most recent call last)\nCell In[37], [line 1](vscode-notebook-cell:?execution_count=37&line=1)\n----> [1](vscode-notebook-cell:?execution_count=37&line=1) stats = trainer.train()\n\nFile [~/.local/lib/python3.10/site-packages/trl/trainer/sft_trainer.py:323](https://file+.vscode-resource.vscode-cdn.net/home/u/sft_trainer.py:323), in SFTTrainer.train(self)\n--> [323](https://file+.vscode-resource.vscode-cdn.net/home/u/sft_trainer.py:323) output = super().train()\n\nAttributeError: 'NoneType' object has no attribute 'device'\n",
      /<ipython-input-37>:1[^]*stats = trainer\.train\(\)/,
      /vscode/,
    ],
  ])('%s', (_, text, says, not) => {
    const answer = said(text)
    expect(answer).toMatch(says)
    expect(answer).not.toMatch(not)
  })
  test('DeepSpeed accepts the two versions', () =>
    expect(
      said(
        'Installed CUDA version 12.1 does not match the version torch was compiled with 12.4 but since the APIs are compatible, accepting this combination\n',
      ),
    ).toBe(''))
})
