// Servers and hosts that say themselves what failed: their own table, record, check or configuration line, and what helps there.
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

test.each([
  [
    "a row of Triton's table, with records below it",
    '| ranker | 1       | UNAVAILABLE: Internal: unable to create TensorRT engine |\nI0304 10:00:00.123456 7 server.cc:252] Waiting for in-flight requests to complete.\nerror: creating server: Internal - failed to load all models\n',
    /^config_error\ncritical\nTriton could not read the TensorRT engine of ranker\n[^]*trtexec/,
  ],
  [
    "Triton's last line alone",
    './tritonserver --model-repository=/models\nerror: creating server: Internal - failed to load all models\n',
    /^config_error\ncritical\nTriton did not start[^]*Which one, and why, is not in this text[^]*--log-verbose=1/,
  ],
  [
    'an error that a logger recorded, with advice in brackets',
    '[10:00:00] engine/ERROR  AssertionError: page pool too small: needs 900 B > budget -5 B (raise pool_ratio, or free GPU memory)\n[10:00:00] stderr/INFO  INFO:     Shutting down\n[10:00:01] stderr/INFO  INFO:     Finished server process [7]\n',
    /^python_exception\ncritical\n[^]*logged an error, and ended[^]*what to do: "raise pool_ratio, or free GPU memory"/,
  ],
  [
    'a check of LMDeploy',
    '[TM][FATAL] kernels/some_kernel.cu(7): Check failed: a.first == b.first sizes must agree. \nAborted (core dumped)\n',
    /^aborted\ncritical\n[^]*Update LMDeploy/,
  ],
  [
    'ComfyUI crashes',
    'ComfyUI version: 0.3.0\n/start.bash: line 7:   99 Segmentation fault      python main.py\n',
    /^segfault\ncritical\n[^]*--disable-all-custom-nodes/,
  ],
  [
    "a folder of models with a user's name",
    'Error: 500 Internal Server Error: llama-server process has terminated: exit status 1: error loading model: llama_model_loader: failed to load model from C:\\Users\\Zoë\\.ollama\\models\\blobs\\sha256-00\n',
    /its path has letters outside ASCII[^]*OLLAMA_MODELS/,
  ],
  [
    'Ollama asks for free memory in vain',
    'time=2026-01-01T00:00:00Z level=INFO source=runner.go:1 msg="failure during GPU discovery" error="failed to finish discovery before timeout"\ntime=2026-01-01T00:00:00Z level=WARN source=runner.go:2 msg="unable to refresh free memory, using old values"\n',
    /^gpu_not_visible\nwarning\nOllama could not see in time how much GPU memory is free/,
  ],
  [
    'a rank of SGLang that waited for others',
    '[2026-01-01 00:00:01 TP3] Scheduler hit an exception: Traceback (most recent call last):\n  File "/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py", line 7, in load_model\n    raise ValueError(\nValueError: TP rank 3 could finish the model loading, but there are other ranks that didn\'t finish loading. It is likely due to unexpected failures.\n',
    /SGLang: rank 3 waited in vain[^]*log of the other ranks and nodes/,
  ],
  [
    "a crash of which Python's own handler printed the stack",
    'python -m sglang.launch_server\nFatal Python error: Segmentation fault\n\nCurrent thread 0x00007f0000000000 (most recent call first):\n  File "/opt/venv/lib/python3.11/site-packages/sglang/pynccl_wrapper.py", line 7 in ncclCommInitRank\n  File "/opt/venv/lib/python3.11/site-packages/sglang/pynccl.py", line 8 in __init__\n',
    /^segfault\n[^]*in ncclCommInitRank\(\)[^]*NCCL_DEBUG=INFO/,
  ],
  [
    'shapes in a library that a server calls',
    'Traceback (most recent call last):\n  File "/opt/venv/lib/python3.11/site-packages/infinity_emb/inference/batch_handler.py", line 7, in _core_batch\n    embed = self._model.encode_core(feat)\nRuntimeError: shape \'[2, 8]\' is invalid for input of size 99\n',
    /^shape_mismatch\n[^]*whether the input or infinity-emb is at fault[^]*Update infinity-emb/,
  ],
  [
    'cuBLAS in a server without Python',
    'ghcr.io/huggingface/text-embeddings-inference:turing-1.2\n{"error":"Backend error: Inference error: CublasError(CUBLAS_STATUS_NOT_SUPPORTED)","error_type":"Backend"}\n',
    /^cublas_cudnn_error\n(?![^]*contiguous)[^]*--max-batch-tokens/,
  ],
  [
    'a worker that was killed while the model was loaded',
    '[01-01 00:00:01] sglang: Rank 0 scheduler is dead. Please check if there are relevant logs.\n[01-01 00:00:02] Exit code: -9\nTraceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/sglang/launch_server.py", line 7, in launch_server\n    data = reader.recv()\n  File "/usr/lib/python3.12/multiprocessing/connection.py", line 399, in _recv\n    raise EOFError\nEOFError\n',
    /^worker_died\n[^]*by SIGKILL[^]*when host memory runs out[^]*the weights pass through it/,
  ],
])('a server: %s', (_, text, answer) => {
  expect(said(text)).toMatch(answer)
})

test.each([
  [
    'a Podman without CDI',
    '$ podman version\nVersion:      3.4.4\n$ podman run --device=nvidia.com/gpu=0 ubuntu nvidia-smi\nError: stat nvidia.com/gpu=0: no such file or directory\n',
    /The engine does not know CDI\n[^]*from 4\.1 on, and this is 3\.4/,
  ],
  [
    'a node with fewer MIG instances',
    'slurmctld: error: Setting node gpu7 state to INVAL with reason:gres/gpu count reported lower than configured (2 < 7)\n',
    /2 GPUs, and not the 7[^]*If 2 is right[^]*Gres=[^]*nodename=gpu7/,
  ],
  [
    'a file of the Fabric Manager',
    'fabric manager config file item: SOME_FOLDER has an invalid value\n',
    /^fabric_manager\ncritical\nFabric Manager rejects its configuration\n.*SOME_FOLDER/,
  ],
  [
    'GPUs that are not reset',
    'The following GPUs could not be reset:\n  GPU 00000000:01:00.0: In use by another client\n  GPU 00000000:02:00.0: In use by another client\n',
    /01:00\.0 and another GPU are in use[^]*End those[^]*\nOr reboot/,
  ],
  [
    'NCCL that refuses, in a server',
    "[TRT-LLM] [RANK 0] [E] Failed to initialize executor on rank 0: [TensorRT-LLM][ERROR] Assertion failed: Failed, NCCL error a.cpp:9 'invalid usage (run with NCCL_DEBUG=WARN for details)'\n",
    /^nccl_error\n[^]*NCCL_DEBUG=WARN[^]*than it sees/,
  ],
  [
    'headers without Module.symvers',
    'The Module.symvers file is missing, or does not contain any\nsymbols exported from the kernel.\nmake[2]: *** [/var/lib/dkms/nvidia/550.1/build/Kbuild:1: module_symvers_sanity_check] Error 1\n',
    /^driver_not_loaded\ncritical\nThe kernel's headers are incomplete\n(?![^]*older than the kernel)/,
  ],
  [
    'a GPU too old for the device plugin',
    'Warning: GPU with UUID GPU-00 is too old to support healtchecking with error: %!s(MISSING). Marking it unhealthy\n0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n',
    /^gpu_unschedulable\ncritical\nThe device plugin took a GPU out of use\n.*GPU-00.*too old for its health check/,
  ],
])('a host: %s', (_, text, answer) => {
  expect(said(text)).toMatch(answer)
})

test('the start script of the Fabric Manager is no job', () => {
  const text =
    'x nvidia-fabricmanager-start.sh[9]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\nx nvidia-fabricmanager-start.sh[9]: "/usr/bin/nv-fabricmanager -c /a.cfg" failed! Exit code: 1\n'
  expect(faults(text).map(({ kind }) => kind)).toEqual(['fabric_manager'])
})

test('an error that a logger recorded, after which the program goes on', () => {
  const text =
    '[10:00:00] pool/ERROR  ValueError: the request has no field messages (add the field messages)\n[10:00:01] http/INFO  served 3 requests in 2 s\n[10:00:02] http/INFO  served 9 requests in 2 s\n'
  expect(faults(text)).toEqual([])
})
