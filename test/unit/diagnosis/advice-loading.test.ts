// Advice for what servers of models say while they load weights and size their caches, and when a process of theirs ends.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const ENGINE = '(EngineCore pid=71) ERROR 03-04 05:06:07 [core.py:901] '
const WRAPPER = '(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n'
const MAMBA =
  'max_num_seqs (512) exceeds available Mamba cache blocks (77). Each decode sequence requires one Mamba cache block, so CUDA graph capture cannot proceed. Please lower max_num_seqs to at most 77 or increase gpu_memory_utilization.'
const raised = (where: string, error: string): string =>
  `Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/${where}.py", line 7, in check\n    raise\n${error}\n`

test.each([
  [
    "a folder whose config.json is none of Transformers'",
    'ValueError: Unrecognized model in /models/embed. Should have a `model_type` key in its config.json, or contain one of the following strings in its name: albert\n',
    /^config_error\n\/models\/embed is no model[^]*adapter_config\.json[^]*ls -l \/models\/embed/,
  ],
  [
    'a kernel of a notebook, as Jupyter tells it',
    'The kernel appears to have died. It will restart automatically.\n',
    /^worker_died\nThe notebook's kernel died\n[^]*nbconvert --to script/,
  ],
  [
    'a kernel of a notebook, as VS Code tells it',
    'The Kernel crashed while executing code in the current cell or a previous cell.\n',
    /^worker_died\nThe notebook's kernel died\n/,
  ],
  [
    'libcuda under WSL, which no Linux driver brings',
    'Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory\nola@pc:/mnt/c/Users/ola/whisper$\n',
    /^cuda_library_missing\n(?![^]*On the host)[^]*\/usr\/lib\/wsl\/lib[^]*driver of Windows/,
  ],
  [
    'libcuda without its link',
    'Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory\n',
    /^cuda_library_missing\n[^]*ln -s libcuda\.so\.1/,
  ],
  ['a state for each request', `${ENGINE}ValueError: ${MAMBA}\n${WRAPPER}`, /^config_error\n[^]*--max-num-seqs 77/],
  [
    'the same, quoted from a worker',
    `(EngineCore pid=71) RuntimeError: Worker failed with error '${MAMBA}', please check the stack trace above for the root cause\n`,
    /^config_error\n[^]*--max-num-seqs 77/,
  ],
  [
    'a block larger than a batch',
    raised('vllm/config', 'AssertionError: In Mamba cache align mode, block_size (3312) must be <= max_num_batched_tokens (2048).'),
    /^config_error\n[^]*--max-num-batched-tokens 4096/,
  ],
  [
    'a strategy for other GPUs',
    raised('sglang/srt/server_args', 'AssertionError: extra_buffer needs CUDA/MUSA/NPU (FLA).'),
    /^config_error\n[^]*--mamba-radix-cache-strategy no_buffer/,
  ],
  [
    'memory that became free',
    raised(
      'vllm/v1/worker/gpu_worker',
      'AssertionError: Error in memory profiling. Initial free memory 20.15 GiB, current free memory 31.75 GiB. This happens when other processes release memory.',
    ),
    /20\.1 GiB were free before and 31\.8 GiB after/,
  ],
  [
    'a scale that the model has no place for',
    raised('vllm/model_executor/models/utils', "ValueError: There is no module or parameter named 'layers.3.mlp.up_proj.weight_scale' in NovaModel"),
    /^checkpoint_mismatch\nNovaModel has no place for layers\.3\.mlp\.up_proj\.weight_scale[^]*Update vLLM/,
  ],
  [
    'weights of an adapter',
    raised('vllm/model_executor/models/utils', "ValueError: There is no module or parameter named 'base_model.model.layers' in NovaForCausalLM"),
    /--enable-lora/,
  ],
  [
    'a weight as a key',
    raised('vllm/model_executor/models/nova', "KeyError: 'layers.0.mlp.experts.w13_bias'"),
    /^checkpoint_mismatch\n[^]*layers\.0\.mlp\.experts\.w13_bias/,
  ],
  [
    'a worker that ended without a word',
    `(EngineCore pid=71) ERROR 03-04 05:06:07 [multiproc_executor.py:250] Worker proc VllmWorker-3 died unexpectedly, shutting down executor.\n${ENGINE}RuntimeError: cancelled\n`,
    /^worker_died\n[^]*VllmWorker-3/,
  ],
  [
    'a vocabulary that is downloaded',
    raised('openai_harmony/x', 'openai_harmony.HarmonyError: error downloading or loading vocab file: failed to download or load vocab file'),
    /^network_error\n[^]*TIKTOKEN_ENCODINGS_BASE/,
  ],
  [
    'a deployment of Ray Serve',
    "Failed to update the deployments ['Chat:nova-9b'].\nThe deployment failed to start 3 times in a row. This may be due to a problem with its constructor or initial health check failing.\n",
    /^worker_died\nRay Serve could not start Chat:nova-9b/,
  ],
  ["the newest Ollama's words", 'Error: 500 Internal Server Error: llama-server process has terminated: exit status 2\n', /^worker_died\n/],
  [
    'a GGUF file that is not there',
    "gguf_init_from_file: failed to open GGUF file '/models/nova-9b.gguf' (No such file or directory)\nllama_model_load: error loading model: llama_model_loader: failed to load model\n",
    /^file_missing\n[^]*ls -lL \/models\/nova-9b\.gguf/,
  ],
  [
    'a check of the runner while the server goes on',
    '/src/ggml-cuda.cu:99: GGML_ASSERT(rows > 0) failed\n[GIN] 2026/01/02 - 03:04:05 | 200 |  1.5s |  127.0.0.1 | POST     "/api/chat"\ntime=2026-01-02T03:04:06.000Z level=ERROR source=server.go:400 msg="llama runner terminated" error="exit status 2"\n',
    /^worker_died\n[^]*GGML_ASSERT\(rows > 0\) failed in ggml-cuda\.cu/,
  ],
  [
    'an ONNX file of Triton that is cut off',
    '| voice     | 1       | UNAVAILABLE: Internal: onnx runtime error 7: Load model from /models/voice/1/model.onnx failed:Protobuf parsing failed. |\n',
    /^checkpoint_mismatch\n[^]*ls -l \/models\/voice\/1\/model\.onnx/,
  ],
  [
    'kernels for other GPUs',
    raised('flashinfer/mla', 'ValueError: fancy-gen MLA is only supported on SM100/SM103'),
    /^config_error\nfancy-gen MLA does not run on this GPU\n[^]*compute capability 10\.0, 10\.3 alone/,
  ],
  [
    'a share of the cache for an encoder',
    '[TensorRT-LLM][ERROR] Assertion failed: Do not set crossKvCacheFraction for decoder-only model (/src/batch_manager/model.cpp:12)\n',
    /^config_error\n[^]*cross_kv_cache_fraction out of config\.pbtxt/,
  ],
  [
    'a paged cache that is too small',
    '[TensorRT-LLM][ERROR] Assertion failed: maxTokensInPagedKvCache (256) must be large enough to process at least 1 sequence to completion (i.e. must be larger than beam_width (1) * tokensPerBlock (64) * maxBlocksPerSeq (32))\n',
    /^config_error\n[^]*has 256 tokens, and one sequence of the longest length takes 2048/,
  ],
  [
    'an engine that was not ready in time',
    raised(
      'vllm/v1/engine/utils',
      'TimeoutError: Timed out waiting for engine core processes to start. Waited 900s (configured by VLLM_ENGINE_READY_TIMEOUT_S).',
    ),
    /not ready within 900 s[^]*VLLM_ENGINE_READY_TIMEOUT_S=/,
  ],
  [
    'DeepGEMM for another GPU',
    `[2026-01-02 03:04:05 TP1] Scheduler hit an exception: ${raised('sglang/srt/layers/attention/indexer', "NameError: name 'deep_gemm' is not defined")}\n[2026-01-02 03:04:05] Received sigquit from a child process. It usually means the child failed.\n`,
    /DeepGEMM is not here[^]*--attention-backend triton/,
  ],
  [
    "an actor's own pid",
    '(EngineCore pid=71) ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n(EngineCore pid=71) \tclass_name: RayWorkerWrapper\n(EngineCore pid=71) \tpid: 4711\n(EngineCore pid=71) \tip: 192.0.2.7\n(EngineCore pid=71) The actor is dead because its worker process has died.\n',
    /^worker_died\nA worker process \(pid 4711\) died/,
  ],
  [
    'a runner that Windows denies access',
    'time=2026-01-02T03:04:05.000Z level=ERROR source=sched.go:400 msg="error loading llama server" error="llama-server process has terminated: exit status 0xc0000022"\n',
    /^worker_died\nOllama's runner was denied access/,
  ],
])('%s', (_, text, wanted) => {
  expect(said(text)).toMatch(wanted)
  expect(explained(text)).toHaveLength(1)
})

test('a module that is only tried', () => {
  expect(
    explained(
      "[2026-01-02 03:04:05] Ignore import error when loading sglang.srt.models.nova: No module named 'transformers.models.nova_moe'\n[2026-01-02 03:04:25] The server is fired up and ready to roll!\n",
    ),
  ).toEqual([])
})
test('an exception that another part of vLLM logs is no end', () => {
  expect(explained('(APIServer pid=7) ERROR 03-04 05:06:07 [serving_chat.py:300] ValueError: max_tokens must be at least 1, got 0.\n')).toEqual([])
})
