// Advice judged by more than its own line: a limit too short to use, a warning beside the error, another rank's failure, a program's own Python.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const answer = (text: string) => {
  const fault = explainText(logScanner(), text)[0]
  const remedies = fault?.remedies ?? []
  return {
    kind: fault?.kind,
    verdict: fault?.verdict ?? '',
    texts: remedies.map((one) => one.text).join('\n'),
    commands: remedies.map((one) => one.command ?? '').join('\n'),
    first: remedies[0]?.command,
  }
}

test('a limit of requests too short to be of use comes last', () => {
  const cache = (tokens: number) =>
    answer(
      `vllm 0.11.0\nValueError: To serve at least one request with the model's max seq len (200000), (2.5 GiB KV cache is needed, which is larger than the available KV cache memory (0.1 GiB). Based on the available memory, the estimated maximum model length is ${tokens}.`,
    )
  expect(cache(900).first).not.toContain('--max-model-len')
  expect(cache(9_000).first).toBe('--max-model-len 9000')
})

test('a release that estimates no length prints two sizes: what would fit is computed from them', () => {
  const cache = (available: string) =>
    answer(
      `vllm 0.9.1\nValueError: To serve at least one request with the models's max seq len (40960), (8.00 GiB KV cache is needed, which is larger than the available KV cache memory (${available} GiB). Try increasing \`gpu_memory_utilization\` or decreasing \`max_model_len\` when initializing the engine.`,
    )
  expect(cache('4.00').first).toBe('--max-model-len 19456')
  expect(cache('0.20').first).not.toContain('--max-model-len')
})

test('what the model hub says of the request decides: waiting for the authors is no matter of the token', () => {
  const refused = (why: string) =>
    answer(
      `huggingface_hub.errors.GatedRepoError: 403 Client Error.\n\nCannot access gated repo for url https://huggingface.co/org/m/resolve/main/config.json.\n${why}`,
    ).texts
  expect(refused('Access to model org/m is restricted and you are not in the authorized list.')).toContain('Accept the terms of org/m')
  const waiting = refused('Your request to access model org/m is awaiting a review from the repo authors.')
  expect(waiting).toContain('Wait until the authors of org/m grant access')
  expect(waiting).not.toContain('Accept the terms')
})

test('a warning below does not make a failed request of JAX harmless', () => {
  const failed = 'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3221225472 bytes.'
  const warned =
    '2026-05-18 21:59:55.086788: W external/xla/xla/tsl/framework/bfc_allocator.cc:310] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.4GiB with freed_by_count=0. The caller indicates that this is not a failure.'
  expect(answer(`${failed}\n${warned}`).kind).toBe('cuda_oom')
  expect(answer(warned).kind).toBeUndefined()
})

test('NCCL: what another rank failed at, ranks that came twice, CUDA that does not start', () => {
  const closed = 'node7:30:48 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer node8<51159>'
  const memory = "node7:31:52 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'"
  expect(answer(`${closed}\n${memory}`).verdict).toContain('out of memory')
  expect(answer(closed).verdict).toContain('closed by remote peer')
  expect(answer('node7:30:48 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 8 ranks has already checked in').verdict).toContain('same rank')
  expect(answer("node7:30:48 [0] misc/cudawrap.cc:36 NCCL WARN Cuda failure 'initialization error'").commands).not.toContain('LAUNCH_BLOCKING')
})

test('the portable ComfyUI has a Python of its own', () => {
  const { commands } = answer(
    'C:\\ComfyUI_windows_portable>.\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build\nAssertionError: Torch not compiled with CUDA enabled',
  )
  expect(commands).not.toMatch(/^python /m)
})
