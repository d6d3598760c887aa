// Advice that reads what the text rules out: who runs the program, what was tried, how large the batch is, which release speaks.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const said = (text: string): string =>
  explainText(logScanner(), text)
    .flatMap(({ verdict, remedies }) => [verdict, ...remedies.flatMap((one) => [one.text, one.command ?? ''])])
    .join('\n')

const NOUVEAU = 'NVRM: The NVIDIA probe routine was not called for 2 device(s).\nNVRM: nouveau, rivafb, nvidiafb or rivatv'

describe('the host', () => {
  test.each([
    ['Rocky Linux 9', 'sudo dracut --force', 'update-initramfs'],
    ['CachyOS', 'sudo mkinitcpio -P', 'update-initramfs'],
    ['Ubuntu 24.04', 'update-initramfs -u', 'mkinitcpio'],
  ])('%s: the initramfs is rebuilt with its own tool', (host, own, other) => {
    expect(said(`host: ${host}\n${NOUVEAU}`)).toContain(own)
    expect(said(`host: ${host}\n${NOUVEAU}`)).not.toContain(other)
  })
  test('the driver of a notebook service cannot be updated, and an old CUDA has a last PyTorch', () => {
    const old = 'RuntimeError: The NVIDIA driver on your system is too old (found version 10010).'
    expect(said(`!pip install torch\n${old}`)).not.toContain('Update the NVIDIA driver')
    expect(said(`import torch\n${old}`)).toContain('torch==1.8.1+cu101')
  })
  test('a layer of an image fills the disk of the engine, not that of its path', () => {
    const layer = 'ApplyLayer exit status 1 stdout:  stderr: write /srv/lib/libbig.so: no space left on device'
    expect(said(layer)).toContain('docker system df')
    expect(said(layer)).not.toContain('df -h /srv')
  })
  test("Docker Desktop's disk is a virtual one", () => {
    expect(said('[+] Building 12.0s (3/9)   docker:desktop-linux\nOSError: [Errno 28] No space left on device')).toContain('virtual disk')
  })
})

describe('the program', () => {
  test('one neighbour on the GPU is no rank of the same job', () => {
    const oom = (others: string): string =>
      `[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a total capacity of 40.00 GiB of which 20.00 MiB is free. ${others} Including non-PyTorch memory, this process has 20.00 GiB memory in use. Of the allocated memory 19.00 GiB is allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated.`
    expect(said(oom('Process 4100 has 19.90 GiB memory in use.'))).not.toContain('LOCAL_RANK')
    expect(said(oom('Process 4100 has 9.90 GiB memory in use. Process 4101 has 10.00 GiB memory in use.'))).toContain('LOCAL_RANK')
  })
  test('a batch of 1 is not made smaller', () => {
    expect(said('tensorflow: ResourceExhaustedError: OOM when allocating tensor with shape[1,4000,3000,3]')).toContain('tiles')
    expect(said('tensorflow: ResourceExhaustedError: OOM when allocating tensor with shape[64,4000,3000,3]')).toContain('smaller batch')
  })
  test("TGI's own print of its options is read", () => {
    const failed = 'Not enough memory to handle 12000 total tokens with 2048 prefill tokens. You need to decrease `--max-batch-total-tokens`'
    const text = said(`text-generation-launcher: Args { num_shard: Some(8), max_total_tokens: 4096, max_batch_prefill_tokens: 2048 }\n${failed}`)
    expect(text).toContain('--max-batch-total-tokens 6000')
    expect(text).not.toContain('--num-shard')
  })
  test('vLLM below compute capability 7.0 is not helped by float16 alone', () => {
    const bf16 = 'Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla P40 GPU has compute capability 6.1.'
    expect(said(`vllm\n${bf16}`)).toContain('vLLM needs compute capability 7.0')
    expect(said(`vllm\n${bf16}`)).toContain('capability 8.0; the Tesla P40')
  })
  test('an image without a tag is the first word of docker run that is no option', () => {
    const bus = 'RuntimeError: DataLoader worker (pid 41) is killed by signal: Bus error.'
    expect(said(`docker run --rm -it -v $(pwd):/w -w /w --name vision acme-vision python train.py\n${bus}`)).toContain(
      '--shm-size=8g --rm -it -v $(pwd):/w -w /w --name vision acme-vision python train.py',
    )
  })
  test('a queue pair that fails on RoCE is no matter of a time-out', () => {
    const text = said('node1:10:20 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error No such device')
    expect(text).toContain('NCCL_IB_GID_INDEX')
    expect(text).not.toContain('NCCL_IB_TIMEOUT')
  })
})
