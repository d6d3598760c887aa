// NCCL (or RCCL) failed: a rank that waits for others, a network or system call, a wrong use.
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { around, cudaErrorCode, known, whole } from './parts/window.ts'

const TIMEOUT: readonly Remedy[] = [
  { text: 'The rank that waits is seldom the one at fault: find the one that stopped, died or printed another error first, and mend that.' },
  { text: 'Let every rank write down which collective it is in.', command: 'TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 torchrun …' },
  {
    text: 'If one step really needs longer (checkpoint, download, compilation): raise the limit.',
    command: 'torch.distributed.init_process_group(…, timeout=datetime.timedelta(minutes=60))',
  },
]
const SYSTEM: readonly Remedy[] = [
  { text: 'Let NCCL say which call failed and on which interface.', command: 'NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET torchrun …' },
  { text: 'Name the network interface that all nodes share.', command: 'NCCL_SOCKET_IFNAME=eth0' },
  { text: 'In a container, give it shared memory and locked memory.', command: 'docker run --shm-size=8g --ulimit memlock=-1 --gpus all …' },
]
const USAGE: readonly Remedy[] = [
  {
    text: 'Give every rank its own GPU: set the device by the local rank before the process group is made.',
    command: 'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))',
  },
  { text: 'Start no more ranks on a node than it shows GPUs.', command: 'nvidia-smi -L' },
]
const CUDA: readonly Remedy[] = [
  { text: 'Something before it broke the GPU work: look for the first error of any rank, and for an Xid.', command: "sudo dmesg -T | grep 'NVRM: Xid' | tail" },
  { text: 'Let NCCL name the CUDA error.', command: 'NCCL_DEBUG=WARN torchrun …' },
]

function facts({ text, at, message }: Seen): Facts {
  const near = around(text, at, 0, 6)
  const raw = around(text, at, 2, 4)
  return known({
    rank: whole(/\bRank (\d{1,6})\b/.exec(message)?.[1] ?? /\[rank ?(\d{1,6})\]/i.exec(raw)?.[1] ?? /\bRank (\d{1,6})\b/.exec(raw)?.[1]),
    timeout_ms: whole(/\bTimeout\(ms\) ?= ?(\d{1,12})/.exec(message)?.[1] ?? /\bTimeout\(ms\) ?= ?(\d{1,12})/.exec(near)?.[1]),
    nccl_version: /\bNCCL version (\d{1,3}(?:\.\d{1,3}){1,3})/.exec(near)?.[1],
    cuda_error_code: cudaErrorCode(message) ?? cudaErrorCode(near),
  })
}
// An illegal access named inside NCCL's text stays one; other CUDA errors that the watchdog only passes on are told by their families.
const elsewhere = ({ message, text, at }: Seen): boolean =>
  /illegal memory access/.test(message) ||
  (/terminated with exception: CUDA error/.test(message) && !/NCCL error/.test(message)) ||
  /\/dev\/shm|No space left/.test(around(text, at, 0, 2))

/** A watchdog's cry names what the rank waited for. */
const waiting = ({ message }: Seen): string => {
  const operation = /OpType ?= ?(\w{2,24})/.exec(message)?.[1]
  return operation ?? 'a collective operation'
}

export const ncclError = ruleFamily({
  id: 'nccl-error',
  kind: 'nccl_error',
  literals: [
    'NCCL error',
    'NCCL Error',
    'NCCL failure',
    'RCCL error',
    'NCCL WARN',
    'ncclUnhandledCudaError',
    'ncclSystemError',
    'ncclInternalError',
    'ncclInvalidUsage',
    'ncclInvalidArgument',
    'ncclRemoteError',
    'unhandled system error',
    'unhandled cuda error',
    'Watchdog caught collective',
    'collective operation timeout',
    'eartbeat monitor timed out',
    'NCCL operations have failed',
    'NCCL watchdog thread terminated',
    'watchdog thread terminated with exception',
    'NCCL communicator was aborted',
    '"should dump" flag',
    'Duplicate GPU detected',
    'last enqueued NCCL work',
    'detected by watchdog',
    'DistBackendError',
    'retrieving ncclUniqueId',
    'store based barrier',
    'watchdog got stuck',
    'collective timeout or exception',
    'NCCL timeout',
    'NCCL operation ',
  ],
  facts,
  rules: [
    {
      pattern:
        /Watchdog caught collective\s{1,3}operation timeout|collective operation timeout|last enqueued NCCL work|NCCL timeout\b|Timed out initializing process group in store based barrier/,
      severity: 'critical',
      title: 'A rank waited too long for the others',
      verdict: (seen) =>
        `A rank waited for ${waiting(seen)} until its time was over, so NCCL ended the run: another rank had stopped, died, or was doing something else.`,
      remedies: TIMEOUT,
      unless: elsewhere,
    },
    {
      pattern:
        /[Hh]eartbeat monitor timed out|Some NCCL operations have failed or timed out|"should dump" flag on TCPStore|(?:failure|timeout\)) detected by watchdog|watchdog got stuck|due to collective timeout or exception|NCCL communicator was aborted/,
      severity: 'critical',
      title: 'NCCL ended the run',
      verdict: "NCCL's watchdog ended the process: a rank hung, or the one that held the store was gone first. Look for the first error of any rank.",
      remedies: TIMEOUT,
      unless: elsewhere,
    },
    {
      pattern: /Duplicate GPU detected|ncclInvalidUsage|ncclInvalidArgument|NCCL error[^\n]{0,200}\binvalid (?:usage|argument)/,
      severity: 'critical',
      title: 'NCCL was used wrongly',
      verdict: 'NCCL refused: two ranks are on the same GPU, or the ranks do not call the same things.',
      remedies: USAGE,
    },
    {
      pattern:
        /retrieving ncclUniqueId from|NCCL operation nccl\w{1,40}[^\n]{0,120}?failed|ncclRemoteError|ncclSystemError|unhandled system error|remote process exited or there was a network error/,
      severity: 'critical',
      title: 'NCCL lost a peer or a system call failed',
      verdict: 'A network or system call inside NCCL failed: a peer died, the interface or port is wrong, or shared or locked memory is too small.',
      remedies: SYSTEM,
      unless: elsewhere,
    },
    {
      pattern: /ncclUnhandledCudaError|unhandled cuda error|NCCL WARN (?:\[[^\]]{1,40}\] )?Cuda failure/,
      severity: 'critical',
      title: 'A CUDA call inside NCCL failed',
      verdict: ({ text, at }) => {
        const named = /Cuda failure (?:\d{1,3} )?'([^']{3,80})'/.exec(around(text, at, 2, 5))?.[1]
        return `A CUDA call inside NCCL failed${named === undefined ? '' : ` (${named})`}: the GPU's work was already broken, or there was no memory for NCCL's buffers.`
      },
      remedies: CUDA,
      unless: (seen) => elsewhere(seen) || /illegal memory access/.test(around(seen.text, seen.at, 3, 4)),
    },
    {
      // Most of NCCL's warnings are the error itself; those that only advise lack these words.
      pattern:
        /NCCL WARN [^\n]{0,300}?\b(?:[Ff]ail(?:ed|ure)|[Ee]rror|[Tt]imed? ?out|[Tt]imeout|refused|closed by|reset by|[Ii]nvalid|[Mm]ismatch|[Uu]nreachable|[Cc]orrupt|[Uu]nable to|[Cc]ould not|[Aa]bort)/,
      severity: 'critical',
      title: 'NCCL reports a failure',
      verdict: 'NCCL reports that a connection or call failed; the line says which. A peer that died shows so in all others.',
      remedies: SYSTEM,
      unless: elsewhere,
    },
    {
      pattern: /(?:NCCL|RCCL) (?:[Ee]rror|failure)\b|ncclInternalError|watchdog thread terminated with exception|DistBackendError:/,
      severity: 'critical',
      title: 'NCCL failed',
      verdict: 'A collective operation failed inside NCCL. The first error of any rank tells why.',
      remedies: SYSTEM,
      unless: elsewhere,
    },
  ],
})
