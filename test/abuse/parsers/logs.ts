// Readers of log text: the scanner with all fault families, log lines as they come, the joiner, the formats of log files, secrets and names in text.
import { explainChunks, explainText } from '../../../agent/diagnosis/explain.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { createScrubber } from '../../../agent/doctor/bundle/scrub.ts'
import { inputLine } from '../../../agent/cli/explain/input.ts'
import { UsageError } from '../../../agent/cli/command.ts'
import { redact } from '../../../agent/lib/redact.ts'
import { createFrameReader, FrameError } from '../../../agent/sources/container-logs/frames.ts'
import { createResume } from '../../../agent/sources/container-logs/resume.ts'
import { compareStamps, stampMs, stampSince } from '../../../agent/sources/container-logs/stamp.ts'
import { parseEntry } from '../../../agent/sources/journald/entry.ts'
import { parseRecord } from '../../../agent/sources/kernel-log/record.ts'
import { containerOfPath } from '../../../agent/sources/log-files/container-path.ts'
import { parseCursor } from '../../../agent/sources/log-files/fingerprint.ts'
import { createAssembler, parseCriLine, parseJsonLine, sniff } from '../../../agent/sources/log-files/format.ts'
import { createJoiner } from '../../../agent/sources/logs/joiner.ts'
import { MAX_LINE_BYTES } from '../../../agent/sources/logs/line-buffer.ts'
import { json, parserOf, sharedSeeds, textParser } from './parser.ts'

const ID = 'ab12'.repeat(16)
/** One line for most families, written for this suite. */
const LINES = [
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 47.50 GiB of which 812.00 MiB is free. Process 77 has 46.70 GiB memory in use. Of the allocated memory 40.10 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated.',
  'Traceback (most recent call last):\n  File "/srv/train.py", line 12, in <module>\n    main()\nRuntimeError: CUDA error: an illegal memory access was encountered\nKilled\n',
  'NVRM: Xid (PCI:0000:41:00): 79, pid=4242, name=python3, GPU has fallen off the bus.',
  'NVRM: Xid (PCI:0000:41:00): 94, pid=4242, name=my trainer, Contained: SM (0x1). RST: No, D-RST: No',
  'python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\nmemory: usage 2097152kB, limit 2097152kB, failcnt 70\noom-kill:constraint=CONSTRAINT_MEMCG,task=python3,pid=6001,uid=0\nMemory cgroup out of memory: Killed process 6001 (python3) total-vm:9000kB, anon-rss:2000kB',
  '[rank3]:[E ProcessGroupNCCL.cpp:600] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600050 milliseconds before timing out.',
  "W tensorflow/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory",
  "OSError: [Errno 28] No space left on device: '/dev/shm/torch_99'\nDataLoader worker (pid 12) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
  "ls: cannot access '/dev/nvidia0': No such file or directory\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
  'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90',
  'huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hub.example/models (Request ID: x) Retry-After: 30',
  "PermissionError: [Errno 13] Permission denied: '/data/.cache/huggingface/hub/models--a--b'",
  'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.',
  'trainer-1  | 2031-02-03T04:05:06Z stdout F ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected',
  '<p>CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 5.20 GiB already allocated; 10.19 MiB free; 5.45 GiB reserved in total by PyTorch)</p>',
]
const SECRETS =
  'curl -H "Authorization: Bearer abcdefgh12345678" https://me:pw@host.example/x?token=abcdef&sig=12345678 --api-key zzz password="a b" hf_aaaaaaaaaaaaaaaaaaaa /home/ann/x 10.1.2.3 fe80::1 aa:bb:cc:dd:ee:ff ann@corp.example'

const scanner = logScanner()
const judge = createLogJudge(scanner)
const scrub = createScrubber({ hosts: ['gpu-host-7', 'gpu-host-7.corp.example'], users: ['ann'] })
const frame = (part: number, text: string): Buffer => {
  const head = Buffer.alloc(8)
  head[0] = part
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}
const STAMP = '2031-02-03T04:05:06.123456789Z'
const stamped = LINES.map((line) => `${STAMP} ${line}\n`)
const CORPUS = sharedSeeds('fixtures/inference/vllm-0.23-worker-oom-engine-fails.log', 'fixtures/inference/vllm-0.20-nccl-hang-serve.log')

export const explain = textParser(
  'explain',
  'a pasted log, by all fault families',
  [...LINES, LINES.join('\n'), ...CORPUS],
  (text) => void explainText(scanner, text),
  {
    inputs: 100_000,
  },
)
export const explainBytes = parserOf(
  'explain-bytes',
  'a long log as chunks of bytes',
  [LINES.join('\n')],
  (input) => void explainChunks(scanner, [input.subarray(0, input.length >> 1), input.subarray(input.length >> 1)]),
  {
    inputs: 50_000,
  },
)
export const explainInput = textParser('explain-jsonl', 'a line of explain --jsonl', [json({ id: 'a', text: LINES[0] })], (text) => void inputLine(text, 1), {
  refuses: (error) => error instanceof UsageError,
})
export const liveLines = textParser(
  'live-lines',
  'lines as a source hands them on: joined to messages, judged with the memory of those before',
  [LINES.join('\n'), ...LINES],
  (text) => {
    const emit = (joined: { readonly text: string }): void =>
      void judge.judge({ type: 'log', t: 1, stream: 'container', origin: { container_id: ID }, text: joined.text })
    const joined = createJoiner<number>({ emit, prefer: Math.max })
    for (const [at, line] of text.split('\n').entries()) joined.push({ t: at, text: line, part: 1, mark: at }, at)
    joined.flush()
  },
  { inputs: 100_000 },
)
export const frames = parserOf(
  'engine-frames',
  "the engine's framed log stream",
  [
    Buffer.concat([frame(1, `${STAMP} begun\n`), frame(2, `${STAMP} part`), frame(2, `${STAMP} ial\n`)]),
    Buffer.concat(stamped.map((line) => frame(1, line))),
    stamped.join(''),
  ],
  (input) => {
    // Chunks end anywhere: two sizes, so that heads are torn too.
    for (const size of [7, 4_096]) {
      const resume = createResume(`${STAMP} a,b,c`)
      const reader = createFrameReader({ onBatch: resume.sift, onCut: () => {} })
      for (let at = 0; at < input.length; at += size) reader.push(Buffer.from(input.subarray(at, at + size)))
      reader.end()
    }
  },
  { inputs: 200_000, refuses: (error) => error instanceof FrameError },
)
export const logFiles = textParser(
  'log-file-lines',
  "Docker's json-file and CRI log files",
  [
    ...LINES.map((line) => json({ log: `${line}\n`, stream: 'stderr', time: STAMP })),
    ...LINES.map((line) => `${STAMP} stdout P ${line}`),
    `${STAMP} stderr F:tag end`,
  ],
  (text) => {
    const assembler = createAssembler(
      () => {},
      () => {},
    )
    for (const line of text.split('\n')) {
      const printed = { json: parseJsonLine, cri: parseCriLine, plain: () => undefined }[sniff(line)](line)
      if (printed !== undefined) assembler.lines(printed)
    }
  },
  { mostBytes: MAX_LINE_BYTES },
)
export const cursors = textParser(
  'log-cursors',
  'cursors and times that are kept on disk, paths of log files',
  [`1:2:300:256:99`, `${STAMP} a,b`, `/var/log/containers/p_ns_c-${ID}.log`],
  (text) => {
    parseCursor(text)
    createResume(text).stamp()
    stampMs(text)
    stampSince(text)
    compareStamps(text, STAMP)
    containerOfPath(text)
  },
)
export const kernelRecords = textParser(
  'kernel-records',
  'records of /dev/kmsg and what they tell',
  [
    ...LINES.map((line) => `6,1234,5678901,-;${line.replaceAll('\n', '\\x0a')}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:41:00.0`),
    '4,1,2,c;fragment',
    '4,1,2,+;goes on \\xc3\\xa9',
  ],
  (text) => {
    const record = parseRecord(text)
    if (record !== undefined) judge.judge({ type: 'log', t: 1, stream: 'kernel', origin: {}, text: record.text })
  },
  // A record of /dev/kmsg has at most 8 KiB (CONSOLE_EXT_LOG_MAX, kernel/printk/printk.c).
  { mostBytes: 8_192, inputs: 200_000 },
)
export const journal = textParser(
  'journal-entries',
  'entries of journalctl -o json',
  [
    json({ __CURSOR: 's=1', __REALTIME_TIMESTAMP: '1763600000000000', MESSAGE: LINES[0], _SYSTEMD_UNIT: 'a.service' }),
    json({ __CURSOR: 's=1', __REALTIME_TIMESTAMP: '1', MESSAGE: [104, 105], SYSLOG_IDENTIFIER: 'x' }),
    json({ __CURSOR: 's', __REALTIME_TIMESTAMP: '1', MESSAGE: ['a', ['b', [99]]] }),
  ],
  (text) => void parseEntry(text),
)
export const redaction = textParser(
  'redact',
  'secrets in any text that is kept or shown',
  [SECRETS, ...LINES, '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----'],
  (text) => void redact(text),
  {
    inputs: 300_000,
  },
)
export const scrubbing = textParser('scrub', "names of machines and people in doctor's bundle", [SECRETS, ...LINES], (text) => void scrub(text), {
  inputs: 100_000,
})
