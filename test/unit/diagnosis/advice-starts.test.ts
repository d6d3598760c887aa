// What keeps a program from starting on its GPU: advice that follows from what the text itself shows, written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const forked = "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n"
const refused = 'NVRM: The NVIDIA GPU 0000:5e:00.0 (PCI ID: 10de:1234)\nNVRM: installed in this system is not supported by'

test.each<readonly [name: string, text: string, kind: string, says: RegExp, never: RegExp]>([
  [
    'two ranks on one GPU, by name',
    'node3:812:990 [0] init.cc:700 NCCL WARN Duplicate GPU detected : rank 3 and rank 2 both on CUDA device 5e000\n',
    'nccl_error',
    /GPU: rank 3 and rank 2 both on CUDA device 5e000\./,
    /NCCL_DEBUG=WARN/,
  ],
  ["NCCL's own number", 'RuntimeError: NCCL Error 5: invalid usage (run with NCCL_DEBUG=WARN for details)\n', 'nccl_error', /NCCL_DEBUG=WARN/, /CUDA error 5/],
  [
    'a CUDA that cannot start',
    'RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.\n',
    'gpu_not_visible',
    /CUDA cannot start/,
    /CUDA finds no GPU/,
  ],
  ['a fork of Gunicorn', `[INFO] Starting gunicorn 22.0.0\n${forked}`, 'cuda_fork', /without --preload/, /set_start_method/],
  ['a fork of uWSGI', `*** Starting uWSGI 2.0.24 (64bit) ***\n${forked}`, 'cuda_fork', /lazy-apps = true/, /preload/],
  ['a fork of Celery', `celery.worker.job: Task failed\n${forked}`, 'cuda_fork', /--pool=solo/, /DataLoader/],
  ['a fork of a server', `$ python -m sglang.launch_server --model-path acme/m\n${forked}`, 'cuda_fork', /before the server starts/, /DataLoader/],
  [
    'ROCm finds none',
    'RuntimeError: No HIP GPUs are available\nhipErrorNoDevice: no ROCm-capable device is detected\n',
    'gpu_not_visible',
    /ROCm/,
    /CUDA finds/,
  ],
  [
    'the description that the runtime makes',
    'docker: Error response from daemon: could not apply required modification to OCI specification: failed to inject CDI devices: unresolvable CDI devices runtime.nvidia.com/gpu=all: unknown\n',
    'gpu_not_visible',
    /mode=legacy/,
    /gpu=all:|--vendor/,
  ],
  [
    "the operator's description",
    'Error: failed to inject CDI devices: unresolvable CDI devices management.nvidia.com/gpu=all\n',
    'gpu_not_visible',
    /nvidia-container-toolkit/,
    /mode=legacy/,
  ],
  [
    'open modules for an old GPU',
    `${refused} open\nNVRM: nvidia.ko because it does not include the required GPU\n`,
    'driver_not_loaded',
    /GPU at (?:0000:)?5e:00\.0/,
    /legacy branch/,
  ],
  [
    'a release that does not support the GPU',
    `${refused} the\nNVRM: NVIDIA 550.54.14 driver release.\n`,
    'gpu_not_visible',
    /Release 550\.54\.14 .* 0000:5e:00\.0/,
    /lspci -nnk|nouveau/,
  ],
  [
    "the process of Intel's reset",
    'kernel: xe 0000:4d:00.0: [drm] GT0: Engine reset: engine_class=ccs, logical_mask: 0x1, guc_id=4\nkernel: xe 0000:4d:00.0: [drm] GT0: Timedout job: seqno=7, lrc_seqno=7, guc_id=4, flags=0x0 in VLLM::EngineCor [18233]\n',
    'gpu_reset',
    /VLLM::EngineCor/,
    /nvidia-smi/,
  ],
])('%s', (_name, text, kind, says, never) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(says)
  expect(said.all).not.toMatch(never)
})
