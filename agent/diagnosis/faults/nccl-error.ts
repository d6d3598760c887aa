// NCCL (or RCCL) failed: a rank that waits for others, a network or system call, a wrong use.
import type { Facts } from '../../model/facts.ts'
import { lessMemory } from './cuda-oom/less/index.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { synchronous, xidsBeside } from './remedies/debug.ts'
import { setVariables } from './remedies/environment.ts'
import { whoHolds } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'
import { around, cudaErrorCode, known, whole } from './parts/window.ts'

const LAGGING = /lagging\/dead\/mismatched ranks[^]{0,80}?\[(\d{1,6})\] finished collective #(\d{1,9}), but didn't join collective #(\d{1,9})/

/** Ranks wait at the same collective; one whose number is lower has not come so far. */
function behind(text: string): { readonly rank: string; readonly at: number; readonly others: number } | undefined {
  const last = new Map<string, number>()
  for (const [, rank, number] of text.matchAll(/\[Rank (\d{1,6})\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d{1,12})/g))
    if (rank !== undefined) last.set(rank, Math.max(last.get(rank) ?? 0, Number(number)))
  const [lowest, ...others] = [...last].sort((a, b) => a[1] - b[1])
  const next = others[0]
  return lowest === undefined || next === undefined || next[1] === lowest[1] ? undefined : { rank: lowest[0], at: lowest[1], others: next[1] }
}

function timeout({ facts, situation }: Matched): readonly Piece[] {
  const at = situation()
  const late = behind(at.text)
  const lagging = LAGGING.exec(at.text)
  const limit = facts.timeout_ms
  const minutes = limit === undefined ? undefined : Math.max(Math.ceil((2 * limit) / 60_000), 10)
  const recorder = /FlightRecorder is disabled|TRACE_BUFFER_SIZE|FR_BUFFER_SIZE/.test(at.text)
  // The older name is still read by PyTorch 2.13 (FlightRecorder.hpp); from 2.11 on it records without it. https://github.com/pytorch/pytorch/pull/152563
  const buffer = at.text.includes('TORCH_FR_BUFFER_SIZE') ? 'TORCH_FR_BUFFER_SIZE' : 'TORCH_NCCL_TRACE_BUFFER_SIZE'
  return [
    late !== undefined && lagging === null
      ? {
          text: `Look at rank ${late.rank} first: it waits in collective ${late.at}, the others are at ${late.others} or further, so it fell behind or took another path.`,
        }
      : lagging === null
        ? {
            text: `Find the rank that stopped, died or printed the first error: ${facts.rank === undefined ? 'the rank that waits' : `rank ${facts.rank}, which waited,`} is seldom the cause.`,
          }
        : { text: `Look at rank ${lagging[1]} first: it finished collective #${lagging[2]} and never joined #${lagging[3]}.` },
    {
      text: `Let every rank record which collective it is in (Flight Recorder${recorder ? ', which is off here' : ''}), then compare the dumps.`,
      command: setVariables(at, { [buffer]: '2000', TORCH_NCCL_DUMP_ON_TIMEOUT: '1' }),
    },
    {
      text:
        limit === undefined
          ? 'If one step really needs longer (checkpoint, download, compilation): raise the timeout of init_process_group.'
          : `If one step really needs longer than ${limit / 1000} s (checkpoint, download, compilation): raise the timeout: init_process_group(…, timeout=timedelta(minutes=${minutes})).`,
    },
  ]
}
const MEMORY = /out of memory/
const PEER_ACCESS = /peer (?:access|mapping)/
const INFINIBAND = /NET\/IB|net_ib|\bmlx\d|ibv_|InfiniBand/
const PEER = /(?:recv|send|Connect|connection)[^\n]{0,40}?\b(?:from|to)\s{1,2}(\S{4,60}?)(?:\s|$)|peer (\d[\d.<>:]{6,40})/

/** The path that failed decides (variables: docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; without `=` a name is a prefix): InfiniBand, a peer's socket, or NCCL's own set-up. */
function system({ text, at, message, situation }: Matched): readonly Piece[] {
  const near = `${message}\n${around(text, at, 2, 4)}`
  const now = situation()
  const debug: Piece = {
    text: 'Let NCCL say which call failed, and on which interface.',
    command: setVariables(now, { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT,NET' }),
  }
  if (MEMORY.test(near)) return cuda({ text, at, message, situation })
  if (INFINIBAND.test(near)) {
    const port = /\b(mlx\d{1,2}_\d{1,3})(?::(\d))?/.exec(near)
    return [
      {
        text: `Check the InfiniBand or RoCE port${port === null ? '' : ` ${port[1]}`}: its state, cable, switch port and error counters.`,
        command: `ibstat ${port?.[1] ?? ''}`.trim() + '; ibv_devinfo',
      },
      port === null
        ? {
            text: 'If the link is sound but slow to recover, raise the time-out of NCCL.',
            // 4.096 us x 2^22 = 17 s for each of 7 tries; the default is 20 (18 before NCCL 2.23).
            command: setVariables(now, { NCCL_IB_TIMEOUT: '22' }),
          }
        : { text: 'Until it is repaired, leave that port out.', command: setVariables(now, { NCCL_IB_HCA: `^=${port[1]}` }) },
      debug,
    ]
  }
  const peer = PEER.exec(near)
  const unreachable = /No route to host|[Nn]etwork is unreachable/.exec(near)?.[0]
  if (unreachable !== undefined) {
    const to = /\b(?:[Cc]onnect(?:ing)?|[Cc]onnection) to (\d[\d.]{6,14}\d)/.exec(near)?.[1]
    return [
      {
        text: `See by which interface this host would reach ${to ?? 'the peer'}: ${unreachable === 'No route to host' ? 'nothing answers there, or a firewall rejects it' : 'it has no route there'}.`,
        command: to === undefined ? 'ip -brief address; ip route' : `ip route get ${to}; ip -brief address`,
      },
      {
        text: 'Let NCCL use the interface by which the nodes reach each other; by default it takes the first that is not docker or lo.',
        command: setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' }),
      },
      { text: 'Open the firewall between the nodes: NCCL listens on ports that the system chooses.' },
      debug,
    ]
  }
  if (/Call to bind failed|bind failed/.test(near))
    return [
      {
        text: 'Remove NCCL_COMM_ID and a fixed NCCL port from the environment, if they are set: with them every communicator wants the same port. Without them the system chooses a free one.',
        command: 'env | grep NCCL',
      },
      { text: 'See how many sockets are open: an exhausted range of ports fails the same way.', command: 'ss -s; sysctl net.ipv4.ip_local_port_range' },
      debug,
    ]
  if (/refused|reset by peer|closed by|remote process|Connect to|ncclRemoteError/i.test(near))
    return [
      {
        text: `Look at the log of the peer${peer === null ? '' : ` (${(peer[1] ?? peer[2] ?? '').replace(/[.,;]$/, '')})`}: it ended or refused the connection first, and its error is the cause.`,
      },
      {
        text: 'If no rank died: see that the ranks use an interface by which they reach each other, and that no firewall blocks the ports.',
        command: 'ip -brief address',
      },
      debug,
    ]
  if (/real path of \/sys|pci_bus|topo/i.test(near))
    return [
      {
        text: 'NCCL could not read the PCI topology: mount /sys into the container, or in a virtual machine give NCCL a topology file of the provider.',
        command: setVariables(now, { NCCL_TOPO_FILE: '<FILE>' }),
      },
      { text: 'See which topology the host shows.', command: 'nvidia-smi topo -m' },
      debug,
    ]
  return [
    debug,
    /socket|connect|bootstrap|interface|\bnet\b|recv|send|unhandled system error|ncclSystem|ncclRemote|ncclUniqueId|timed? ?out/i.test(near) && {
      text: 'If the log then shows the wrong interface, name the one that all nodes share.',
      command: setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' }),
    },
    /shm|shared memory|unhandled system error/i.test(near) &&
      (now.programs.has('docker') || now.programs.has('compose')) && {
        text: 'In a container, give NCCL shared and locked memory.',
        command: `docker run --shm-size=8g --ulimit memlock=-1 ${now.subject.image ?? '<IMAGE>'}`,
      },
  ]
}
function usage({ text, at, situation }: Matched): readonly Piece[] {
  const pair = /rank (\d{1,6}) and rank (\d{1,6}) both on CUDA device (\w{1,12})/.exec(around(text, at, 4, 4))
  return [
    {
      text: `Give every rank its own GPU${pair === null ? '' : ` (ranks ${pair[2]} and ${pair[1]} share device ${pair[3]})`}: call torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before init_process_group.`,
    },
    { text: 'Start no more ranks on a node than it has GPUs.', command: 'nvidia-smi -L' },
    { text: 'See what else NCCL objects to.', command: setVariables(situation(), { NCCL_DEBUG: 'WARN' }) },
  ]
}
function cuda({ text, at, message, situation }: Pick<Matched, 'text' | 'at' | 'message' | 'situation'>): readonly Piece[] {
  const now = situation()
  const near = `${message}\n${around(text, at, 3, 5)}`
  if (MEMORY.test(near))
    return [
      { text: 'Free GPU memory for NCCL: its buffers are allocated beside the framework, which holds nearly all of it.' },
      lessMemory(now, {}).slice(0, 2),
      whoHolds(now),
    ]
  if (PEER_ACCESS.test(near))
    return [
      {
        text: 'Let NCCL do without direct access between the GPUs (slower).',
        command: setVariables(now, { NCCL_P2P_DISABLE: '1' }),
      },
      {
        text: 'See which GPUs can reach each other; with IOMMU or ACS switched on, and in virtual machines, they often cannot.',
        command: 'nvidia-smi topo -m',
      },
    ]
  return [{ text: 'Look for the first error of any rank: an earlier failure on the GPU shows up in the next NCCL call.' }, synchronous(now), xidsBeside]
}

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
// An illegal access named inside NCCL's text stays one; other CUDA errors that the watchdog only passes on are found by their families.
const elsewhere = ({ message, text, at }: Seen): boolean =>
  /illegal memory access/.test(message) ||
  (/terminated with exception: CUDA error/.test(message) && !/NCCL error/.test(message)) ||
  /\/dev\/shm|nccl-shm-|No space left/.test(around(text, at, 0, 2))

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
      title: 'A rank waited too long for another one',
      verdict: (seen) =>
        `${seen.facts.rank === undefined ? 'A rank' : `Rank ${seen.facts.rank}`} waited in ${waiting(seen)}${seen.facts.timeout_ms === undefined ? '' : ` for ${seen.facts.timeout_ms / 1000} s`} until the timeout, so NCCL ended the run. Likely another rank stopped, died, or took another path.`,
      remedies: timeout,
      unless: elsewhere,
    },
    {
      pattern:
        /[Hh]eartbeat monitor timed out|Some NCCL operations have failed or timed out|"should dump" flag on TCPStore|(?:failure|timeout\)) detected by watchdog|watchdog got stuck|due to collective timeout or exception|NCCL communicator was aborted/,
      severity: 'critical',
      title: 'NCCL ended the run',
      verdict: "NCCL's watchdog ended the process: a rank hung, or the one that held the store was gone first. Look for the first error of any rank.",
      remedies: timeout,
      unless: elsewhere,
    },
    {
      pattern: /Duplicate GPU detected|ncclInvalidUsage|ncclInvalidArgument|NCCL error[^\n]{0,200}\binvalid (?:usage|argument)/,
      severity: 'critical',
      title: 'NCCL was used wrongly',
      verdict: 'NCCL refused: two ranks are on the same GPU, or the ranks do not call the same things.',
      remedies: usage,
    },
    {
      pattern:
        /retrieving ncclUniqueId from|NCCL operation nccl\w{1,40}[^\n]{0,120}?failed|ncclRemoteError|ncclSystemError|unhandled system error|remote process exited or there was a network error/,
      severity: 'critical',
      title: 'NCCL lost a peer or a system call failed',
      verdict: ({ text, at }) => {
        // What NCCL says last names the call.
        const last =
          /(?:socketStartConnect: |NCCL WARN (?:\[[^\]]{1,40}\] )?|Last error:\s{1,3})((?:Connect to|Call to|socket\w{0,24}:?|Net\w{0,10} ?:?)[^\n]{4,140})/.exec(
            around(text, at, 3, 5),
          )?.[1]
        return last === undefined
          ? 'A network or system call inside NCCL failed: a peer died, the interface or port is wrong, or shared or locked memory is too small.'
          : `A network or system call inside NCCL failed: "${last.trim()}".`
      },
      remedies: system,
      unless: elsewhere,
    },
    {
      pattern: /ncclUnhandledCudaError|unhandled cuda error|NCCL WARN (?:\[[^\]]{1,40}\] )?Cuda failure/,
      severity: 'critical',
      title: 'A CUDA call inside NCCL failed',
      verdict: ({ text, at }) => {
        const named = /Cuda failure (?:\d{1,3} )?'([^']{3,80})'/.exec(around(text, at, 2, 5))?.[1]
        if (named === undefined) return 'A CUDA call inside NCCL failed; the lines do not name its error.'
        return MEMORY.test(named)
          ? `NCCL could not allocate its buffers: '${named}'.`
          : PEER_ACCESS.test(named)
            ? `A CUDA call inside NCCL failed with '${named}': the GPUs cannot reach each other's memory.`
            : `A CUDA call inside NCCL failed with '${named}'. Likely an earlier error on the GPU that shows up here.`
      },
      remedies: cuda,
      unless: (seen) => elsewhere(seen) || /illegal memory access/.test(around(seen.text, seen.at, 3, 4)),
    },
    {
      // Most of NCCL's warnings are the error itself; those that only advise lack these words.
      pattern:
        /NCCL WARN [^\n]{0,300}?\b(?:[Ff]ail(?:ed|ure)|[Ee]rror|[Tt]imed? ?out|[Tt]imeout|refused|closed by|reset by|[Ii]nvalid|[Mm]ismatch|[Uu]nreachable|[Cc]orrupt|[Uu]nable to|[Cc]ould not|[Aa]bort|completion from peer [^\n]{0,80}?with (?:status=|error )[1-9])/,
      severity: 'critical',
      title: 'NCCL reports a failure',
      verdict: ({ message, match }) => {
        const said = message
          .slice(match.index)
          .replace(/^NCCL WARN /, '')
          // What another writer, or NCCL itself, printed on the next line is not part of it.
          .replace(/\s\S{1,80}:\d{1,10}:\d{1,10} \[\d{1,4}\] .*$/s, '')
          .replace(/\s(?:\d{4}-\d\d-\d\d|ERROR|WARNING|INFO)\s.*$/s, '')
          .replace(/\s(?:torch\.|Traceback |\[rank|RuntimeError|ncclRemote|ncclSystem).*$/s, '')
          .slice(0, 160)
          .trim()
        return INFINIBAND.test(message) ? `NCCL reports a failure of the InfiniBand path: "${said}".` : `NCCL reports: "${said}".`
      },
      remedies: system,
      unless: elsewhere,
    },
    {
      pattern: /(?:NCCL|RCCL) (?:[Ee]rror|failure)\b|ncclInternalError|watchdog thread terminated with exception|DistBackendError:/,
      severity: 'critical',
      title: 'NCCL failed',
      verdict: 'A collective operation failed inside NCCL. The first error of any rank tells why.',
      remedies: system,
      unless: elsewhere,
    },
  ],
})
