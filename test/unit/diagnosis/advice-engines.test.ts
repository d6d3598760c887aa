// Advice for what engines of language models, toolkits and nodes refuse: the text's own figures and names, and nothing that it does not show.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const raised = (where: string, error: string): string =>
  `Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/${where}.py", line 7, in check\n    raise\n${error}\n`

test.each([
  [
    'kernels of another Blackwell',
    raised('vllm/moe', 'RuntimeError: FancyMoE kernel does not support current device sm_120'),
    /compute capability 12\.x[^]*--moe-backend marlin/,
  ],
  [
    'FlashInfer for 10.x only',
    raised('flashinfer/core', 'RuntimeError: No supported CUDA architectures found for major versions [10].'),
    /only for compute capability 10\.x/,
  ],
  ['Transformers 5', raised('vllm/tokenizer', 'AttributeError: FancyTokenizer has no attribute all_special_tokens_extended'), /'transformers<5'/],
  [
    'unbalanced memory',
    raised(
      'sglang/runner',
      'ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=20.25, local_gpu_memory=40.5, x',
    ),
    /20\.3 GiB free and this one 40\.5 GiB/,
  ],
  [
    'options of an older vLLM',
    'usage: vllm serve [options]\nvllm: error: unrecognized arguments: --guided-decoding-backend outlines --disable-log-requests\n',
    /--structured-outputs-config\.backend[^]*Leave it out/,
  ],
  [
    'a batch smaller than an image',
    raised('vllm/config', 'ValueError: Chunked MM input disabled but max_tokens_per_mm_item (12288) is larger than max_num_batched_tokens (4096).'),
    /--max-num-batched-tokens 12288/,
  ],
  [
    'a model that is not mounted',
    raised(
      'huggingface_hub/v',
      "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/weights/tiny-9b'. Use `repo_type` argument if needed.",
    ),
    /ls -l \/weights\/tiny-9b/,
  ],
  [
    'a model that is not mounted, in other words',
    raised('transformers/hub', "OSError: /weights/tiny-9b is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'"),
    /ls -l \/weights\/tiny-9b/,
  ],
  ['unified addresses under WSL2', raised('vllm/offload', 'RuntimeError: UVA is not available'), /offloading to the CPU/],
  ['FlashInfer and an older toolkit', raised('flashinfer/jit', 'RuntimeError: FlashInfer requires GPUs with sm75 or higher'), /CUDA 12\.9 or newer/],
  [
    'the cache of compiled code',
    raised('vllm/worker', 'RuntimeError: Bytes object is corrupted, checksum does not match'),
    /rm -r ~\/\.cache\/vllm\/torch_compile_cache/,
  ],
  [
    'a full cache of SGLang',
    raised('sglang/batch', 'ValueError: Ran out of memory even after retracting all other requests in the decode batch. len(self.reqs)=1') +
      'server_args=ServerArgs(mem_fraction_static=0.83)\n',
    /--mem-fraction-static 0\.87/,
  ],
  ['an argument of llama.cpp', 'error while handling argument "-fa": error: unknown value for --flash-attn: \'--host\'\n', /--flash-attn on/],
  ['a Triton model without a version', '| reader | -       | Not loaded: No model version was found |\n', /no version of reader/],
  [
    "the operator's validator",
    'level=info msg="Error: error validating toolkit installation: exec: \\"nvidia-smi\\": executable file not found in $PATH"\n',
    /containerd config dump/,
  ],
  [
    "NVIDIA's old repository",
    "E: The repository 'https://nvidia.github.io/libnvidia-container/stable/debian99/amd64  Release' does not have a Release file.\n",
    /stable\/deb\/nvidia-container-toolkit\.list/,
  ],
  [
    'a library that CDI names',
    'Error: crun: cannot stat `/usr/lib64/libnvidia-ml.so.999.1`: No such file or directory\n',
    /podman run --device nvidia\.com\/gpu=all/,
  ],
  [
    'the group of the device',
    'RuntimeError: No HIP GPUs are available\ncrw-rw---- 1 root render 235, 0 Apr  2 10:00 /dev/kfd\nuid=1007(k) gid=1007(k) groups=1007(k),27(sudo)\n',
    /usermod -aG render/,
  ],
])('%s', (_, text, advice) => expect(said(text)).toMatch(advice))

test('the number after NvMapMemAllocInternalTagged is a tag and no size', () => {
  const [fault] = explained('NvMapMemAllocInternalTagged: 1075072515 error 12\n')
  expect(fault?.kind).toBe('cuda_oom')
  expect(fault?.facts.requested_bytes).toBeUndefined()
})
test('a full KV cache of llama-server is no smaller batch', () => {
  const text =
    'srv  update_slots: failed to find free space in the KV cache, retrying with smaller batch size, i = 0, n_batch = 4, ret = 1\nsrv    send_error: task id = 3, error: Context size has been exceeded.\n'
  expect(explained(text).map(({ kind }) => kind)).toEqual(['config_error'])
})
test.each([
  'INFO 02-02 10:00:00 [core.py:58] Initializing a V1 LLM engine with config: model=m, pin_memory=True, cuda_graph=True\n',
  'srv  update_slots: all slots are idle\nslot release: id 0 | task 4 | stop processing: n_past = 512, truncated = 0\n',
  'I0705 14:49:54 1 model_lifecycle.cc:472] "loading: reader:1"\n| reader | 1       | READY  |\n',
])('nothing is found in a healthy line: %s', (text) => expect(explained(text)).toEqual([]))
