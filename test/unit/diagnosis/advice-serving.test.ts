// Advice for servers of models, containers, clusters and hosts: the message's own figures and names, and what belongs to the program that speaks.
import { expect, test } from 'vitest'
import { answerText } from '../../../agent/cli/explain/answer.ts'
import { explainChunks, explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const raised = (error: string): string =>
  `Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/vllm/config.py", line 7, in check\n    raise\n${error}\n`

test.each([
  ['an adapter of rank 48', raised('ValueError: LoRA rank 48 is greater than max_lora_rank 16.'), /--max-lora-rank 64/],
  [
    'another quantization',
    raised(
      'ValueError: Quantization method specified in the model config (fp8) does not match the quantization method specified in the `quantization` argument (gptq).',
    ),
    /the model itself says fp8/,
  ],
  [
    'swap space',
    raised('ValueError: Too large swap space. 96.00 GiB out of the 90.10 GiB total CPU memory is allocated for the swap space.'),
    /--swap-space 4/,
  ],
  [
    'a chat without template',
    raised('ValueError: As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template.'),
    /--chat-template <FILE>/,
  ],
  [
    'a placement group',
    raised("ValueError: Cannot provide a placement group of placement_group_specs=[{'GPU': 1.0}, {'GPU': 1.0}] within 900 seconds."),
    /the 2 GPUs that are asked for/,
  ],
  [
    'a kernel for another GPU',
    raised('RuntimeError: No compiled cutlass_moe_mm for a compute capability less than CUDA device capability: 120'),
    /no cutlass_moe_mm for compute capability 12\.0/,
  ],
  [
    'an attention backend',
    raised("ValueError: Selected backend AttentionBackendEnum.FLASHINFER is not valid for this configuration. Reason: ['kv_cache_dtype not supported']"),
    /take FLASHINFER out[^]*--kv-cache-dtype auto/,
  ],
  ['no tag of that name', 'Error: pull model manifest: file does not exist\n', /no model of that name and tag/],
  [
    'ComfyUI without the file',
    "Failed to validate prompt for output 4:\n  - Value not in list: vae_name: 'ae.safetensors' not in ['other.safetensors']\n",
    /models\/vae/,
  ],
  ['ComfyUI without the node', "Cannot execute because node FancySampler does not exist.: Node ID '#3'\n", /no node FancySampler/],
  ['LM Studio', 'Failed to load model "big-70b": Model loading aborted due to insufficient system resources.\n', /big-70b does not fit/],
  ['a newer projector', "clip_init: failed to load model '/m/mmproj.gguf': load_hparams: unknown projector type: nova9\n", /of type nova9/],
])('%s', (_, text, advice) => {
  const answer = said(text)
  expect(answer).toMatch(advice)
  expect(answer).not.toMatch(/Search the issues|Reproduce it with one process|Correct the setting/)
})

test('a logger that stamps each line of a record: what stands under the exception belongs to it', () => {
  const stamp = '(EngineCore_0 pid=12) ERROR 02-03 04:05:06 [core.py:77] '
  const lines = ['Traceback (most recent call last):', '  File "/x/site-packages/vllm/a.py", line 1, in f', '    f()']
  const text = [
    ...lines,
    'pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig',
    '  Value error, torch.bfloat16 is not supported for quantization method gptq. Supported dtypes: [torch.float16] [type=value_error]',
  ]
  const answer = said(text.map((line) => stamp + line).join('\n'))
  expect(answer).toContain('torch.bfloat16 is not supported for quantization method gptq')
  expect(answer).toContain('--dtype float16')
  expect(
    said([...text.slice(0, 4), '(EngineCore_0 pid=12) INFO 02-03 04:05:09 [core.py:80] Value error, of another record [type=x]'].join('\n')),
  ).not.toContain('of another record')
})

test('the share of a card that SGLang needs is computed from what its weights left', () => {
  const start = (left: string, held: string): string =>
    `[2026-02-03 04:05:06 TP0] Load weight end. avail mem=${left} GB, mem usage=${held} GB.\nRuntimeError: Not enough memory. Please try to increase --mem-fraction-static. mem_fraction_static=0.6`
  expect(said(start('14.00', '64.00'))).toContain('--mem-fraction-static 0.88')
  expect(said(start('7.80', '70.20'))).toContain('--mem-fraction-static 0.93')
  expect(said(start('2.00', '76.00'))).not.toContain('--mem-fraction-static 0')
  expect(said(start('2.00', '76.00'))).toContain('the weights take 76.00 of 78.0 GB')
})

test('TGI that fails while it loads weights is not told to prefill less', () => {
  const text = `text_generation_launcher: Error when initializing model\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 90.00 MiB is free. Process 7 has 23.54 GiB memory in use.\n`
  expect(said(text)).not.toContain('prefill')
  expect(said(text)).toContain('--num-shard 2')
})

test('koboldcpp gets its own options', () => {
  const text =
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\ngpttype_load_model: error: failed to load model\nLoad Text Model OK: False\n'
  expect(said(text)).toMatch(/--contextsize[^]*--quantkv 1/)
  expect(said(text)).not.toContain('--ctx-size')
})

const PULL =
  'Failed to pull image "reg.acme.org/ml/run:v3": failed to pull and unpack image "reg.acme.org/ml/run:v3": failed to resolve reference "reg.acme.org/ml/run:v3"'
test.each([
  [
    'a pod that may not pull',
    `Warning  Failed  3s  kubelet  ${PULL}: unexpected status from HEAD request to https://reg.acme.org/v2/ml/run/manifests/v3: 403 Forbidden\n`,
    'permission_denied',
    /--docker-server=reg\.acme\.org/,
  ],
  [
    'an image that is not there',
    `Warning  Failed  3s  kubelet  ${PULL}: reg.acme.org/ml/run:v3: not found\n`,
    'file_missing',
    /no image reg\.acme\.org\/ml\/run:v3/,
  ],
  [
    'Slurm with pyxis',
    'slurmstepd: error: pyxis:     [ERROR] URL https://nvcr.io/proxy_auth returned error code: 401 Unauthorized\nslurmstepd: error: pyxis: failed to import docker image\nslurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\nsrun: error: n4: task 0: Exited with exit code 1\n',
    'permission_denied',
    /nvcr\.io in ~\/\.config\/enroot/,
  ],
  [
    'claims',
    'Warning  FailedScheduling  4s  default-scheduler  0/3 nodes are available: 3 cannot allocate all claims.\n',
    'gpu_unschedulable',
    /kubectl get resourceslices/,
  ],
  ['a probe', 'Normal  Killing  2m  kubelet  Container llm failed startup probe, will be restarted\n', 'job_killed', /failureThreshold/],
  ['a full emptyDir', 'Warning  Evicted  8s  kubelet  Usage of EmptyDir volume "shm" exceeds the limit "1Gi".\n', 'job_killed', /now 1Gi/],
  [
    'a driver pod',
    'gpu-operator   nvidia-driver-daemonset-ab1cd   0/1   CrashLoopBackOff   6   14m\n',
    'driver_not_loaded',
    /logs -n gpu-operator nvidia-driver-daemonset-ab1cd/,
  ],
  ['a node with fewer GPUs', 'slurmd: error: gres/gpu count reported lower than configured (3 < 4)\n', 'gpu_lost', /has 3 GPUs, and not the 4/],
  [
    'a process that does not end',
    'slurmstepd: error: *** STEP 77.0 STEPD TERMINATED ON node-b2 AT 2026-02-03T04:05:06 DUE TO JOB NOT ENDING WITH SIGNALS ***\n',
    'job_killed',
    /nodename=node-b2 state=resume/,
  ],
  [
    'a compose file',
    "validating /srv/compose.yml: services.llm.deploy.resources.reservations.devices.0 missing property 'capabilities'\n",
    'config_error',
    /service llm/,
  ],
  [
    'a table of containers',
    'NAME        IMAGE     COMMAND   SERVICE   CREATED         STATUS                       PORTS\napp-llm-1   acme/llm  "serve"   llm       3 minutes ago   Exited (137) 2 minutes ago\n',
    'job_killed',
    /docker logs --tail 100 app-llm-1/,
  ],
  [
    'a hook of podman',
    'Error: OCI runtime error: crun: error executing hook `/usr/bin/nvidia-container-runtime-hook` (exit code: 1)\n',
    'gpu_not_visible',
    /cdi generate/,
  ],
  [
    'a Jetson',
    "stderr: Auto-detected mode as 'csv'\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported.\n",
    'gpu_not_visible',
    /--runtime=nvidia/,
  ],
  [
    'a rootless engine',
    'nvidia-container-cli: mount error: failed to add device rules: unable to find any existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown\n',
    'gpu_not_visible',
    /no-cgroups/,
  ],
  [
    'an image with a driver in it',
    'nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/1/merged/usr/lib/libcuda.so.1: file exists: unknown\n',
    'gpu_not_visible',
    /The image brings a file of the driver/,
  ],
])('%s', (_, text, kind, advice) => {
  expect(explained(text)[0]?.kind).toBe(kind)
  expect(said(text)).toMatch(advice)
})

test.each([
  ['a container stopped long ago', 'app-llm-1   acme/llm  "serve"   llm   3 weeks ago   Exited (137) 2 weeks ago\n'],
  ['a driver pod that runs', 'gpu-operator   nvidia-driver-daemonset-ab1cd   1/1   Running   0   14m\n'],
  ['a page that is forbidden', 'GET https://example.org/v2/things 403 Forbidden\n'],
])('quiet: %s', (_, text) => {
  expect(explained(text)).toEqual([])
})

test("an LXC container's libraries must be of the host's version", () => {
  const text =
    'root@ct9:~# nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124\n# cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Fri Jan 1\n# uname -r\n6.8.12-8-pve\n'
  expect(explained(text)[0]?.remedies[0]?.command).toBe('sudo sh NVIDIA-Linux-x86_64-570.86.15.run --no-kernel-module')
})

const OOM = (n: number): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${n + 100}.00 MiB. GPU ${n % 8} has a total capacity of 79.11 GiB of which ${(n * 7) % 90}.00 MiB is free. Process ${5000 + n} has 78.00 GiB memory in use.`
function endless(last: string): string {
  const lines = Array.from({ length: 20_000 }, (_, at) => (at % 100 === 99 ? OOM(Math.floor(at / 100)) : `INFO step ${at} loss 2.${at % 10}`))
  return `${[...lines, last].join('\n')}\n`
}

test('of hundreds of OOMs the newest is kept, and the answer stays one page', () => {
  const faults = explainChunks(logScanner(), [new TextEncoder().encode(endless('train-1 exited with code 1'))])
  const lines = faults.filter(({ kind }) => kind === 'cuda_oom').map(({ evidence }) => evidence[0]?.line)
  expect(lines.length).toBeLessThan(100)
  expect(lines.at(-1)).toBe(20_000)
  const page = answerText(faults, false)
  expect(page.split('\n').length).toBeLessThan(40)
  expect(page).toMatch(/\d+ more of cuda_oom, the last in line 20000/)
})

test.each([
  ['heads of SGLang', raised('AssertionError: self.num_heads=20 must be divisible by tp_size=8'), /Split the model over 4 GPUs/],
  [
    'nodes with one address',
    raised("RuntimeError: Every node should have a unique IP address. Got 3 nodes with node ids ['a', 'b', 'c'] and 1 unique IP addresses {'10.0.0.9'}."),
    /VLLM_HOST_IP=<ADDRESS_OF_THIS_NODE>/,
  ],
  [
    'code of the model',
    raised('ValueError: The repository for acme/tiny contains custom code which must be executed to correctly load the model.'),
    /--trust-remote-code/,
  ],
  [
    'blocks of a quantization',
    raised("ValueError: The output_size of gate's and up's weight = 96 is not divisible by weight quantization block_n = 128."),
    /Split it over fewer GPUs/,
  ],
  ['tools', 'ERROR: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set\n', /--tool-call-parser <PARSER>/],
  ["TGI's limits", 'text_generation_launcher\nError: `max_input_tokens` must be < `max_total_tokens`. Given: 6000 and 4096\n', /--max-total-tokens 7024/],
  [
    'a slow load',
    'level=ERROR source=sched.go:456 msg="error loading llama server" error="timed out waiting for llama runner to start - progress 0.25 - "\n',
    /25 % done[^]*OLLAMA_LOAD_TIMEOUT/,
  ],
  ['a port', "main: couldn't bind HTTP server socket, hostname: 0.0.0.0, port: 8081\n", /--port 8082/],
  ["Ollama's disk", 'Error: max retries exceeded: write /root/.ollama/models/blobs/sha256-ab-partial: no space left on device\n', /OLLAMA_MODELS/],
  ['a model without qweight', 'Error: weight model.layers.0.q_proj.qweight does not exist\n', /Leave --quantize out/],
])('%s', (_, text, advice) => {
  expect(said(text)).toMatch(advice)
  expect(said(text)).not.toContain('HF_HOME')
})

test("an old driver's libcuda is not called missing", () => {
  const kinds = explained('symbol lookup for cuCtxCreate_v9 failed: /usr/lib/x86_64-linux-gnu/libcuda.so.470.1: undefined symbol: cuCtxCreate_v9\n').map(
    ({ kind }) => kind,
  )
  expect(kinds).toContain('cuda_version_mismatch')
  expect(kinds).not.toContain('cuda_library_missing')
})
