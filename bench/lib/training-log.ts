// A realistic training log, rewritten: progress bars, loss lines, NCCL and vLLM chatter, tracebacks; a few faults among millions of lines.
import { createRandom } from './random.ts'

const FAULTS = [
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of 79.25 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process has 78.18 GiB memory in use. Of the allocated memory 70.11 GiB is allocated by PyTorch, and 6.90 GiB is reserved by PyTorch but unallocated.',
  "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
  '[ 8123.456789] Memory cgroup out of memory: Killed process 31337 (python3) total-vm:98765432kB, anon-rss:33554432kB, file-rss:128kB, shmem-rss:0kB, UID:1000 pgtables:70000kB oom_score_adj:0',
]

function lineOf(step: number, random: () => number): string {
  const loss = (10 / Math.sqrt(step + 1) + random() / 10).toFixed(4)
  switch (Math.floor(random() * 10)) {
    case 0:
      return `2026-11-20 10:${String(step % 60).padStart(2, '0')}:17,${String(step % 1000).padStart(3, '0')} INFO [trainer.py:412] step=${step} loss=${loss} lr=3.00e-04 grad_norm=${(random() * 2).toFixed(3)} tokens/s=${Math.round(random() * 90_000)} mem=71.3GiB`
    case 1:
      return `gpu-node-7:${1_000 + (step % 8)}:${2_000 + (step % 99)} [${step % 8}] NCCL INFO Channel ${String(step % 32).padStart(2, '0')}/0 : ${step % 8}[${step % 8}] -> ${(step + 1) % 8}[${(step + 1) % 8}] via P2P/CUMEM/read`
    case 2:
      return `Epoch ${step % 90}:  ${step % 100}%|${'█'.repeat(step % 20)}| ${step % 5_000}/5000 [12:${String(step % 60).padStart(2, '0')}<34:56,  3.21it/s, loss=${loss}, v_num=4]`
    case 3:
      return `(EngineCore_DP0 pid=${300 + (step % 9)}) INFO 11-20 10:17:${String(step % 60).padStart(2, '0')} [loggers.py:118] Engine 000: Avg prompt throughput: ${(random() * 9_000).toFixed(1)} tokens/s, Running: ${step % 256} reqs, Waiting: ${step % 12} reqs, GPU KV cache usage: ${(random() * 100).toFixed(1)}%, Prefix cache hit rate: 41.0%`
    case 4:
      return `[rank${step % 8}]:   File "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line ${1_700 + (step % 100)}, in _call_impl`
    case 5:
      return `{"time":"2026-11-20T10:17:00Z","level":"info","msg":"checkpoint shard saved","path":"/mnt/ckpt/step_${step}/shard_${step % 64}.safetensors","bytes":${Math.round(random() * 2e9)}}`
    default:
      return `[rank${step % 8}]: iteration ${step} | consumed samples: ${step * 512} | elapsed time per iteration (ms): ${(random() * 900).toFixed(1)} | learning rate: 2.9E-04 | global batch size: 512 | lm loss: ${loss}E+00 | loss scale: 1.0 | number of skipped iterations: 0 |`
  }
}

/** Bytes of about `size`, the same on every run; `faults` of them spread over it. */
export function trainingLog(size: number, faults: number): { readonly bytes: Buffer; readonly lines: number } {
  const random = createRandom(42)
  const block: string[] = []
  let length = 0
  for (let step = 0; length < 4 * 2 ** 20; step += 1) {
    const line = lineOf(step, random)
    block.push(line)
    length += Buffer.byteLength(line) + 1
  }
  const one = Buffer.from(`${block.join('\n')}\n`)
  const copies = Math.max(1, Math.round(size / one.length))
  const parts: Buffer[] = []
  for (let copy = 0; copy < copies; copy += 1) {
    parts.push(one)
    if (copy < faults) parts.push(Buffer.from(`${FAULTS[copy % FAULTS.length] ?? ''}\n`))
  }
  return { bytes: Buffer.concat(parts), lines: copies * block.length + Math.min(copies, faults) }
}
