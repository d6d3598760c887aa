// Advice that follows what is beside the message: hidden processes, ranks, settings in force, the language of the program, earlier Xids.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const answer = (text: string, at = 0) => {
  const fault = explainText(logScanner(), text)[at]
  const remedies = fault?.remedies ?? []
  return {
    kind: fault?.kind,
    verdict: fault?.verdict ?? '',
    texts: remedies.map((one) => one.text).join('\n'),
    commands: remedies.map((one) => one.command ?? '').join('\n'),
  }
}

describe('out of GPU memory', () => {
  test('processes of 0 bytes hide what others hold', () => {
    const { verdict, texts } = answer(
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 40.00 GiB of which 8.00 MiB is free. Process 501 has 0 bytes memory in use. Process 502 has 0 bytes memory in use. Process 503 has 0 bytes memory in use. Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory 9.00 GiB is allocated by PyTorch, and 64.00 MiB is reserved by PyTorch but unallocated.',
    )
    expect(verdict).toContain('501, 502, 503')
    expect(texts).toContain('LOCAL_RANK')
  })
  test('a batch of one and offloading are not advised again', () => {
    const { texts } = answer(
      "RuntimeError: CUDA error: out of memory\n['python', 'tune.py', '--per_device_train_batch_size', '1', '--deepspeed', 'zero3_offload.json']",
    )
    expect(texts).toContain('The batch size is 1 already')
    expect(texts).not.toContain('offload_optimizer')
  })
  test('a fifth GPU shows that the model is split: no smaller split is named', () => {
    const { commands } = answer(
      '(EngineCore pid=9) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 30.00 MiB. GPU 4 has a total capacity of 24.00 GiB of which 10.00 MiB is free. Including non-PyTorch memory, this process has 23.98 GiB memory in use. Of the allocated memory 22.00 GiB is allocated by PyTorch, and 60.00 MiB is reserved by PyTorch but unallocated.',
    )
    expect(commands).not.toContain('--tensor-parallel-size')
  })
  test("XLA's paths are JAX's", () => {
    const { verdict, commands } = answer(
      '2025-01-01 10:00:00.1: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00TiB',
    )
    expect(verdict).toContain('JAX could not allocate 2.00 TiB')
    expect(commands).not.toContain('TF_FORCE')
  })
})

test('no pip for a program in Java', () => {
  const { commands } = answer(
    'ai.onnxruntime.OrtException: FAIL : Failed to load library libonnxruntime_providers_cuda.so with error: libcublas.so.12: cannot open shared object file: No such file or directory\n\tat acme.Model.load(Model.java:12)',
  )
  expect(commands).not.toContain('pip')
})

test('an Xid 45 names the Xid before it on the same GPU, and not that of another', () => {
  const lines = (gpu: string) => `NVRM: Xid (PCI:0000:${gpu}:00): 62, pid=7, 1 2 3\nNVRM: Xid (PCI:0000:0b:00): 45, pid=7, Ch 00000008`
  expect(answer(lines('0b'), 1).verdict).toContain('Xid 62')
  expect(answer(lines('0c'), 1).verdict).not.toContain('Xid 62')
})

test('a pod that is run by Docker gets kubectl', () => {
  const { commands } = answer(
    'kernel: oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/kubepods.slice/kubepods-pod11111111_2222_3333_4444_555555555555.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope,task=python3,pid=99\nkernel: Memory cgroup out of memory: Killed process 99 (python3) total-vm:900000kB, anon-rss:800000kB, file-rss:0kB, shmem-rss:0kB',
  )
  expect(commands).toContain('11111111-2222-3333-4444-555555555555')
  expect(commands).not.toContain('docker update')
})
