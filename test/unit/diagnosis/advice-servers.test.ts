// Servers of models: requests that are too long, files and adapters that do not fit, drivers and platforms, each with its own title, figures and advice.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faults = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  faults(text)
    .map(({ kind, severity, title, verdict, remedies }) =>
      [kind, severity, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'),
    )
    .join('\n')
const raised = (error: string, file = 'vllm/engine/core.py'): string =>
  `Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/${file}", line 7, in run\n    call()\n${error}\n`

test.each([
  [
    'vLLM refuses a request, and goes on',
    "ERROR 01-02 10:00:00 [serving_chat.py:88] ValueError: This model's maximum context length is 4000 tokens. However, you requested 4100 tokens (3600 in the messages, 500 in the completion). Please reduce the length.\n",
    /warning\n.*4100 of 4000 tokens[^]*at most 400 tokens \(max_tokens\)[^]*--max-model-len 5120/,
  ],
  [
    'the newer wording',
    `{"error":{"message":"This model's maximum context length is 1000 tokens. However, your request has 900 input tokens plus 300 'max_tokens'.","code":400}}\n`,
    /1200 of 1000 tokens[^]*at most 100 tokens/,
  ],
  [
    'a script of vLLM ends',
    raised('ValueError: The decoder prompt (length 700) is longer than the maximum model length of 512.'),
    /critical\n.*700 of 512[^]*by at least 189 tokens/,
  ],
  [
    'the client ends',
    raised("openai.BadRequestError: Error code: 400 - {'message': 'max_tokens must be at least 1, got -12.', 'code': 400}", 'openai/_base_client.py'),
    /by 12 tokens[^]*the program that asked ended/,
  ],
  [
    'SGLang',
    "[2026-01-01 00:00:01] ValueError: The input (5000 tokens) is longer than the model's context length (4096 tokens). sglang\n",
    /5000 of 4096[^]*--context-length 6144/,
  ],
  [
    'TGI',
    '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1000. Given: 900 `inputs` tokens and 200 `max_new_tokens`"}\n',
    /at most 100 tokens[^]*--max-total-tokens/,
  ],
  [
    'llama-server',
    'srv  send_error: task id = 1, error: request (600 tokens) exceeds the available context size (512 tokens), try increasing it\n',
    /600 of 512[^]*--ctx-size 2048/,
  ],
  [
    'Ollama cuts a prompt',
    'time=2026-01-01T00:00:00Z level=WARN source=runner.go:1 msg="truncating input prompt" limit=2048 prompt=5000 keep=4 new=2048\n',
    /Ollama cut a prompt[^]*OLLAMA_CONTEXT_LENGTH=6144/,
  ],
])('too long: %s', (_, text, answer) => {
  expect(said(text)).toMatch(answer)
})

test.each([
  [
    'the watchdog of SGLang',
    '[2026-01-01 00:00:01 TP1] Scheduler watchdog timeout (self.watchdog_timeout=200, self.soft=False)\nReceived sigquit from a child proces. It usually means the child failed.\nKilled\n',
    /^worker_died\ncritical\nSGLang's scheduler finished no batch for 200 s[^]*--watchdog-timeout 800/,
  ],
  [
    'TEI on Turing',
    'docker run ghcr.io/huggingface/text-embeddings-inference:1.7 --model-id m\nError: Could not start backend: Runtime compute cap 75 is not compatible with compile time compute cap 80\n',
    /text-embeddings-inference:turing-1\.7/,
  ],
  [
    'TEI on Volta',
    'Error: Could not start backend: Runtime compute cap 70 is not compatible with compile time compute cap 80\n',
    /No image runs on compute capability 7\.0[^]*:cpu-/,
  ],
  [
    'another architecture',
    "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'newarch9'\n",
    /This llama\.cpp does not know the architecture newarch9/,
  ],
  [
    'other tensors',
    '[GIN] 2026/01/01 - 00:00:00 | 500 | 1s | 10.0.0.1 | POST "/api/generate"\nllama_model_load: error loading model: done_getting_tensors: wrong number of tensors; expected 20, got 19\n',
    /This Ollama does not fit the model file/,
  ],
  [
    'no GGUF',
    'gguf_init_from_file: invalid magic number 00000011\nerror loading model: llama_model_loader: failed to load model from m.bin\n',
    /convert_hf_to_gguf/,
  ],
  ['a quantized cache of values', 'llama_init_from_model: V cache quantization requires flash_attn\nerror: failed to create context\n', /--flash-attn on/],
  [
    'a status of Windows',
    'time=2026-01-01T00:00:00Z level=ERROR source=sched.go:1 msg="error loading llama server" error="llama runner process has terminated: exit status 0xc0000135"\n',
    /lacks a DLL[^]*server\.log/,
  ],
  [
    'no AVX',
    'time=2026-01-01T00:00:00Z level=WARN source=gpu.go:1 msg="CPU does not have AVX or AVX2, disabling GPU support."\n',
    /warning\nOllama does not use the GPU/,
  ],
  ['the GPU is gone', 'cuda driver library failed to get device context 800\n', /lost its access to the GPU[^]*cgroupfs/],
  ['the driver does not start', 'cuInit err: 803\n', /error 803[^]*different versions/],
  [
    'an old driver',
    'msg="unable to load cuda driver library" library=/usr/lib64/libcuda.so.450.80.02 error="symbol lookup for cuCtxCreate_v3 failed"\n',
    /driver \(450\.80\.02\) is too old/,
  ],
  [
    'an adapter',
    raised("ValueError: While loading /a, expected target modules in {'q_proj'} but received ['lm_head']. Please verify"),
    /holds weights for lm_head[^]*Merge the adapter/,
  ],
  ['no adapter', raised('ValueError: Loading lora x failed: No adapter found for /data/adapters/x'), /ls -l \/data\/adapters\/x/],
  ['a weight that is not known', raised("KeyError: 'layers.3.mlp.up_proj.qweight'"), /has a weight that the server does not recognize/],
  [
    'an ONNX file that is not there',
    "onnxruntime.capi.onnxruntime_pybind11_state.NoSuchFile: [ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from nets/a.onnx failed:Load model nets/a.onnx failed. File doesn't exist\n",
    /does not find nets\/a\.onnx/,
  ],
  [
    'an input of another shape',
    'onnxruntime INVALID_ARGUMENT : Got invalid dimensions for input: images for the following indices\n index: 2 Got: 320 Expected: 640\n',
    /Dimension 2 of images is 320/,
  ],
  [
    'the folder of a version',
    "E0101 00:00:00.000000 1 model_repository_manager.cc:1] Poll failed for model directory '3': unexpected platform type for 3\n",
    /one level too deep/,
  ],
  [
    'a Python model of Triton',
    "E0101 00:00:00.000000 1 model_lifecycle.cc:1] failed to load 'prep' version 1: Internal: Failed to initialize stub, stub process exited unexpectedly: prep_0_0\n",
    /Python model prep ended[^]*--shm-size=1g/,
  ],
  [
    'a table of Triton',
    '| nets     | 1       | UNAVAILABLE: Invalid argument: model input NHWC is of two dimensions          |\n',
    /Triton did not load nets[^]*two dimensions/,
  ],
  [
    'an image of ComfyUI',
    'Prompt outputs failed validation:\nLoadImage:\n    - Custom validation failed for node: image - Invalid image file: dog.png\n',
    /does not find the image dog\.png/,
  ],
  [
    'a runner that stopped',
    '{"error":"model runner has unexpectedly stopped, this may be due to resource limitations"}\n',
    /Ollama's runner ended while it computed/,
  ],
  ['a model that Ollama lacks', 'ollama._types.ResponseError: model "tiny:9b" not found, try pulling it first (status code: 404)\n', /ollama pull tiny:9b/],
  [
    'a model for a newer Ollama',
    'Error: pull model manifest: 412:\n\nThe model you are attempting to pull requires a newer version of Ollama.\n',
    /asks for a newer Ollama/,
  ],
  ['an exit code of LM Studio', '(Exit code: 134). Please check settings and try loading the model again.\n', /exit code 134: it aborted itself/],
  [
    'a gated model of TEI',
    'Caused by:\n    0: request error: HTTP status client error (401 Unauthorized) for url (https://huggingface.co/lab/net/resolve/main/config.json)\n',
    /No access to lab\/net[^]*HF_TOKEN/,
  ],
  ['a model type of TEI', 'unknown variant `netx`, expected one of `bert`, `camembert` at line 2 column 3\n', /does not know models of type netx/],
  [
    'Xinference without a slot',
    raised('RuntimeError: Failed to launch model, detail: No available slot found for the model', 'xinference/client.py'),
    /no free GPU for the model[^]*--gpu-idx/,
  ],
  [
    'a lost Vulkan device',
    "terminate called after throwing an instance of 'vk::DeviceLostError'\n  what():  vk::Queue::submit: ErrorDeviceLost\n",
    /^gpu_reset[^]*amdgpu\|i915/,
  ],
  ['shared memory of Python', "OSError: [Errno 28] No space left on device: '/psm_0a1b2c3d'\n", /^shm_exhausted[^]*--shm-size/],
  [
    'a GGUF in the wrong loader',
    raised("ValueError: Unexpected architecture type in GGUF file: 'gemma3'", 'ComfyUI-GGUF/loader.py'),
    /belongs into the loader for CLIP/,
  ],
  ['a checkpoint without CLIP', raised('RuntimeError: ERROR: clip input is invalid: None', 'comfy/nodes.py'), /holds no text encoder/],
  ['a transfer of the KV cache', raised('nixl._bindings.nixlBackendError: NIXL_ERR_BACKEND', 'nixl/_api.py'), /NIXL: BACKEND[^]*ucx_info/],
  [
    'a picture too many',
    'ERROR 01-01 [serving_chat.py:1] ValueError: At most 2 image(s) may be provided in one prompt.\n',
    /warning\nA request holds more than 2 images/,
  ],
  [
    'another name',
    '{"object":"error","message":"The model `other` does not exist.","type":"NotFoundError","code":404}\n',
    /warning\nThe server serves no model named other/,
  ],
  ['KServe without a GPU', 'kserve ERROR [__main__.py:1] Failed to start model server: integer division or modulo by zero\n', /KServe finds no GPU/],
  [
    'no threads left',
    'runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f m=5 sigcode=18446744073709551610\n',
    /A thread could not be started[^]*ulimit -u/,
  ],
  [
    'an engine that is gone',
    '(APIServer pid=9) ERROR 01-01 00:00:00 [core_client.py:1] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.\n',
    /engine process ended without a word/,
  ],
  [
    'more GPUs than there are',
    '(APIServer pid=9) ValueError: Tensor parallel size (4) exceeds available GPUs (2).\n',
    /to use 4 GPUs, and 2 are there[^]*--tensor-parallel-size 2/,
  ],
  [
    'TGI without flash attention',
    raised('NotImplementedError: Sharded Falcon requires Flash Attention enabled models.', 'text_generation_server/models/__init__.py'),
    /--num-shard 1/,
  ],
  [
    'nvcc is not on PATH',
    'Traceback (most recent call last):\n  File "/usr/lib/python3.12/subprocess.py", line 5, in _execute_child\n    raise error\nFileNotFoundError: [Errno 2] No such file or directory: \'nvcc\'\n',
    /^missing_dependency[^]*CUDA toolkit/,
  ],
  [
    'Ollama beside a container',
    'aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host ollama.lan:11434 ssl:default [Connect call failed]\n',
    /Ollama cannot be reached[^]*OLLAMA_HOST=0\.0\.0\.0/,
  ],
])('%s', (_, text, answer) => {
  expect(said(text)).toMatch(answer)
  expect(said(text)).not.toMatch(/undefined|Uncaught exception/)
})

test.each([
  [
    'smaller buffers fitted',
    '0.01.000.077 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.00 MiB on device 0: cudaMalloc failed: out of memory\n0.01.000.080 E graph_reserve: failed to allocate compute buffers\n0.01.000.090 W sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism\n0.02.000.000 I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 4096\n',
  ],
  [
    'a server at work',
    'srv  log_server_r: request: POST /v1/chat/completions 10.0.0.3 200\nslot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 8192, n_prompt_tokens = 12\n',
  ],
  [
    'workers that compile',
    'INFO 01-01 00:00:00 [shm_broadcast.py:1] No available shared memory broadcast block found in 60 second.\nINFO:     Application startup complete.\n',
  ],
])('silent: %s', (_, text) => {
  expect(faults(text)).toEqual([])
})
