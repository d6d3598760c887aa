// What the containers of the log soak print: blocks of ordinary lines, handled tracebacks among them, and real faults with numbers of their own.
import { trainingLog } from '../../bench/lib/training-log.ts'

/** Lines as bytes, and where each ends (after its newline). */
export type Block = { readonly bytes: Buffer; readonly ends: readonly number[] }

/** Programs print these and go on: none is a fault of the GPU. */
const HANDLED = [
  'Traceback (most recent call last):\n  File "/app/loader.py", line 88, in fetch\n    row = self.index[key]\n          ~~~~~~~~~~^^^^^\nKeyError: \'shard-00171\'\nretrying with the next shard',
  'Traceback (most recent call last):\n  File "/app/eval.py", line 31, in <module>\n    score = float(text)\nValueError: could not convert string to float: \'n/a\'\nskipped one answer of 4096',
  '{"time":"2026-11-20T10:17:00Z","level":"error","msg":"request failed","status":503,"url":"http://scheduler/api/next","retry_in_s":2}',
]

/** About 4 MiB of ordinary lines, with a handled traceback every few hundred. */
export function ordinaryBlock(): Block {
  const lines = trainingLog(4 * 1024 ** 2, 0)
    .bytes.toString('utf8')
    .split('\n')
  const mixed: string[] = []
  for (const [n, line] of lines.entries()) {
    if (line === '') continue
    mixed.push(line)
    if (n % 300 === 150) mixed.push(...(HANDLED[Math.floor(n / 300) % HANDLED.length] ?? '').split('\n'))
  }
  const bytes = Buffer.from(`${mixed.join('\n')}\n`)
  const ends: number[] = []
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) ends.push(at + 1)
  return { bytes, ends }
}

const gib = (value: number): string => `${value.toFixed(2)} GiB`

/** Each writes one fault; the number makes its figures differ, and is in it so that a lost one can be named. */
export const FAULTS: Readonly<Record<string, (n: number) => string>> = {
  cuda_oom: (n) =>
    `[step ${n}] evaluation begins\nTraceback (most recent call last):\n  File "/app/train.py", line ${100 + (n % 50)}, in <module>\n    out = model(batch)\n          ^^^^^^^^^^^^\n` +
    `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${gib(1 + (n % 7) / 4)}. GPU ${n % 8} has a total capacity of 79.25 GiB of which ${gib(0.2 + (n % 3) / 10)} is free. ` +
    `Including non-PyTorch memory, this process has 78.95 GiB memory in use. Of the allocated memory ${gib(70 + (n % 8) / 2)} is allocated by PyTorch, and ${gib(1 + (n % 5) / 8)} is reserved by PyTorch but unallocated.`,
  nccl_error: (n) =>
    `[rank${n % 8}]:[E1120 10:17:00.000000000 ProcessGroupNCCL.cpp:632] [Rank ${n % 8}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=${n}, OpType=ALLREDUCE, NumelIn=${1024 * n}, NumelOut=${1024 * n}, Timeout(ms)=600000) ran for ${600_000 + (n % 900)} milliseconds before timing out.`,
  bitsandbytes_setup: (n) =>
    `bitsandbytes library load error: Configured CUDA binary not found at /opt/venv${n}/lib/python3.12/site-packages/bitsandbytes/libbitsandbytes_cuda129.so`,
  illegal_memory_access: (n) => `RuntimeError: CUDA error: an illegal memory access was encountered (at batch ${n})`,
  cublas_cudnn_error: (n) => `RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling \`cublasSgemm( handle, opa, opb, ${n}, 512, 64)\``,
  shm_exhausted: (n) =>
    `RuntimeError: DataLoader worker (pid ${1_000 + n}) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.`,
  hub_rate_limited: (n) =>
    `huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/org/model-${n}`,
}
