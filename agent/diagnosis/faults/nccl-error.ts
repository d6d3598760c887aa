// NCCL (or RCCL) failed: a rank that waits for others, a network or system call, a wrong use.
import { gibAsPrinted as gib } from '../../text/bytes.ts'
import type { Facts } from '../../model/facts.ts'
import { twoUnitSpan } from '../../text/span.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { stripPrefix } from '../../text/line-prefix.ts'
import { plain } from '../joining.ts'
import { around, cudaErrorCode, known, whole } from './parts/window.ts'
import { warning } from './remedies/nccl-warnings.ts'
import { cuda, INFINIBAND, INTERNAL_OF_218, MEMORY, NO_KERNELS, NVLS, PEER_ACCESS, SHARED, system, usage } from './remedies/nccl.ts'
import { mismatch, timeout } from './remedies/nccl-timeout.ts'

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
const NO_SEGMENT = /creating shared memory segment|failed to extend \/dev\/shm|posix_fallocate failed|shm_open failed/
// An illegal access named inside NCCL's text stays one; other CUDA errors that the watchdog only passes on are found by their families.
const elsewhere = ({ message, text, at }: Seen): boolean =>
  // The line of source that raises it, in a traceback.
  /^\s*raise \w/.test(plain(stripPrefix(text[at] ?? ''))) ||
  /illegal memory access/.test(message) ||
  (/terminated with exception: CUDA error/.test(message) && !/NCCL error/.test(message)) ||
  (/\/dev\/shm|nccl-shm-|No space left/.test(around(text, at, 0, 4)) && !/attaching to shared memory/.test(around(text, at, 0, 4))) ||
  // PyTorch's own message follows it.
  (/unhandled system error|ncclSystemError/.test(message) && NO_SEGMENT.test(around(text, at, 6, 0)))

const KERNEL_FAULT = /illegal memory access|illegal instruction|misaligned address|device-side assert|unspecified launch failure/
/** While the ranks find each other no collective runs yet. */
const STARTS = /ncclCommInit|in init_process_group|ncclUniqueId/
const failing = ({ text, at }: Seen): string =>
  STARTS.test(around(text, at, 8, 2)) ? 'NCCL could not connect the ranks when it started' : 'A collective operation failed inside NCCL'

/** Without its shared memory a rank leaves, and its connections with it. */
const afterFullShm = ({ text, at, match }: Seen): boolean =>
  /[Ss]ocket|closed by|reset by|[Rr]ecv|[Pp]roxy/.test(match[0]) &&
  /creating shared memory segment|failed to extend \/dev\/shm|posix_fallocate failed/.test(around(text, at, 20, 0))

const firstOf = ({ message }: Pick<Seen, 'message'>): boolean => /WorkNCCL\(SeqNum=1,/.test(message)
/** A watchdog's cry names what the rank waited for. */
const waiting = ({ message }: Seen): string => {
  const operation = /OpType ?= ?(\w{2,24})/.exec(message)?.[1]
  return operation ?? 'a collective operation'
}

/** The watchdog may look only long after the timeout: then both are said. */
const waited = ({ message, facts: { timeout_ms: limit } }: Seen & { readonly facts: Facts }): string => {
  const ran = whole(/ran for (\d{1,12}) milliseconds/.exec(message)?.[1])
  if (limit === undefined) return ' until the timeout'
  return ran !== undefined && ran > 2 * limit
    ? ` for ${twoUnitSpan(ran)}, past the timeout of ${twoUnitSpan(limit)}`
    : ` for ${twoUnitSpan(limit)} until the timeout`
}

/** By these numbers the logs of the ranks can be compared. */
const numbered = ({ message, text, at }: Seen): string => {
  const number = /WorkNCCL\(SeqNum=(\d{1,12})/.exec(message)?.[1]
  const done = number === undefined ? undefined : /last completed NCCL work: (\d{1,12})/.exec(around(text, at, 0, 2))?.[1]
  return number === undefined ? '' : ` (collective ${number}${done === undefined ? '' : `; it had completed ${done}`})`
}

/** Which ranks report it tells which do not: agent/diagnosis/root.ts. */
export const WAITED_TOO_LONG = 'A rank waited too long for another one'
const likely = (seen: Seen & { readonly facts: Facts }): string =>
  `${seen.facts.rank === undefined ? 'A rank' : `Rank ${seen.facts.rank}`} waited in ${waiting(seen)}${numbered(seen)}${waited(seen)}, so NCCL ended the run. Likely another rank stopped, died, or took another path${firstOf(seen) ? '; since it was the first collective of its group, the ranks may also never have reached each other' : ''}.`

/** How much CUDA did not give. */
const refused = (near: string): string => {
  const bytes = /Failed to CUDA (?:c|m)alloc(?: host)? (\d{1,15}) bytes/.exec(near)?.[1]
  return bytes === undefined ? '' : ` (${gib(Number(bytes))})`
}
const LAST =
  /(?:Last error:\s{1,3}(?:\[rank\d{1,6}\]: ?)?|(?:NCCL|\.cu:\d{1,5}|\.h:\d{1,5}) WARN (?:\[[^\]]{1,40}\] )?)((?!Failed to open lib|Exception raised from|C\+\+ CapturedTraceback|frame #|Traceback )[^\n]{6,160})/
/** What NCCL itself said of it. */
const said = ({ text, at }: Seen): string | undefined => {
  const last = /Last error:\s[^]*/.exec(around(text, at, 1, 6))?.[0]
  // Before 2.4 the warnings stood without the library's name.
  return LAST.exec(last ?? around(text, at, 4, /NCCL failure common\.cu/.test(text[at] ?? '') ? 6 : 0))?.[1]?.trim()
}

/** Most of NCCL's warnings are the error itself; those that only advise lack these words, and without libcuda it goes on. */
const FAILS =
  /\b(?:[Ff]ail(?:ed|ure)|[Ee]rror|[Tt]imed? ?out|[Tt]imeout|refused|closed by|reset by|[Ii]nvalid|[Mm]ismatch|[Uu]nreachable|[Cc]orrupt|[Uu]nable to|[Cc]ould not|[Aa]bort|neither AF_INET|completion from peer [^\n]{0,80}?with (?:status=|error )[1-9])/
/** Or the call that warned came back with an error, as each caller on the way up says: `NCCL INFO transport/net.cc:687 -> 3`. */
const returned = ({ text, at }: Seen): boolean => /NCCL INFO [\w./-]{3,60}:\d{1,5} -> [1-7]\b/.test(around(text, at, 0, 3))

/** NCCL begins its lines with host, pid, thread and the GPU as the process counts them. */
function onGpu(line: string): string {
  const [, host, gpu] = /\b([\w.-]{1,64}):\d{1,9}:\d{1,9} \[(\d{1,3})\]/.exec(line) ?? []
  return host === undefined ? '' : ` on GPU ${gpu} of ${host}`
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
    'Got completion from peer ',
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
      title: WAITED_TOO_LONG,
      verdict: (seen) => {
        const apart = mismatch(seen.situation().text)
        return apart === undefined
          ? likely(seen)
          : `Ranks waited in different operations until the timeout: in collective ${apart.number} ${apart.said}. They did not run the same calls in the same order, so none of them could end.`
      },
      remedies: timeout,
      unless: elsewhere,
    },
    {
      pattern:
        /[Hh]eartbeat monitor timed out|Some NCCL operations have failed or timed out|"should dump" flag on TCPStore|(?:failure|timeout\)) detected by watchdog|watchdog got stuck|due to collective timeout or exception|NCCL communicator was aborted/,
      severity: 'critical',
      title: 'NCCL ended the run',
      verdict: ({ message }) => {
        const stuck = /watchdog got stuck for (\d{1,6}) seconds/.exec(message)?.[1]
        return stuck === undefined
          ? "NCCL's watchdog ended the process: a rank hung, or the one that held the store was gone first. Look for the first error of any rank."
          : `PyTorch's heartbeat monitor ended the process: the watchdog of NCCL had not moved for ${twoUnitSpan(Number(stuck) * 1000)}. A call of CUDA or NCCL hangs, or a thread holds Python's lock (GIL) inside one; often another rank failed first.`
      },
      remedies: timeout,
      // The line that names the collective stands just below, and says more.
      // Where the collective is named before it, this is how that ended.
      unless: (seen) => elsewhere(seen) || /Watchdog caught collective\s{1,3}operation timeout/.test(around(seen.text, seen.at, 40, 4)),
    },
    {
      pattern:
        /ranks has already checked in|Duplicate GPU detected|ncclInvalidUsage|ncclInvalidArgument|NCCL [Ee]rror[^\n]{0,200}\binvalid (?:usage|argument)|NCCL operation nccl\w{1,40}[^\n]{0,120}?failed: invalid (?:usage|argument)/,
      severity: 'critical',
      title: 'NCCL was used wrongly',
      verdict: (seen) =>
        seen.match[0].startsWith('ranks')
          ? 'Two processes came as the same rank, so NCCL does not start.'
          : /Duplicate GPU/.test(seen.message)
            ? `NCCL refused: two ranks are on the same GPU${/: rank \d{1,6} and rank \d{1,6} both on CUDA device \w{1,12}/.exec(seen.message)?.[0] ?? ''}.`
            : `NCCL refused: ${said(seen) === undefined ? 'two ranks are on the same GPU, or the ranks do not call the same things' : `"${said(seen)}"`}.`,
      remedies: usage,
    },
    {
      // ProcessGroupNCCL.cpp, broadcastUniqueNCCLID: the first rank of a group makes its communicator, and the others wait for it.
      pattern:
        /\[(\d{1,6})\] is setting up NCCL communicator and retrieving ncclUniqueId from \[(\d{1,6})\][^\n]{0,200}?(?:[Ss]ocket [Tt]imeout|wait timeout after (\d{4,9})ms|[Tt]imeout waiting for key|[Tt]imed out after)/,
      severity: 'critical',
      title: ({ match }) => `Rank ${match[2]} did not come to set up NCCL`,
      verdict: ({ match }) =>
        `Rank ${match[1]} waited${match[3] === undefined ? '' : ` ${twoUnitSpan(Number(match[3]))}`} for rank ${match[2]}, which starts the communicator of their group, and it did not come: it has ended, or is busy with something that the others do not do (a download, data, a checkpoint).`,
      facts: ({ match }) => known({ rank: whole(match[1]), timeout_ms: whole(match[3]) }),
      remedies: ({ match }) => [
        { text: `Read the log of rank ${match[2]} up to that time: it has the cause, where it ended; else its last line says what it does.` },
        {
          text: 'If it only takes longer there (a model to download, data to prepare): do that once before the job, or raise the limit: init_process_group(…, timeout=timedelta(hours=2)), in Trainer ddp_timeout.',
        },
        { text: 'On several nodes: see that all name the same master, and reach its port.', command: 'nc -zv $MASTER_ADDR $MASTER_PORT' },
      ],
      unless: elsewhere,
    },
    {
      pattern:
        /retrieving ncclUniqueId from|NCCL operation nccl\w{1,40}[^\n]{0,120}?failed(?!: unhandled cuda)|ncclRemoteError|ncclSystemError|unhandled system error|remote process exited or there was a network error/,
      severity: 'critical',
      title: 'NCCL lost a peer or a system call failed',
      verdict: (seen) =>
        said(seen) === undefined
          ? 'A network or system call inside NCCL failed: a peer died, the interface or port is wrong, or shared or locked memory is too small.'
          : `A network or system call inside NCCL failed: "${said(seen)}".`,
      remedies: system,
      unless: elsewhere,
    },
    {
      pattern: /ncclUnhandledCudaError|unhandled cuda error|NCCL WARN (?:\[[^\]]{1,40}\] )?(?:Cuda|HIP) failure/,
      severity: 'critical',
      title: ({ text, at }) =>
        MEMORY.test(/(?:Cuda|HIP) failure [^\n]{0,80}/.exec(around(text, at, 2, 5))?.[0] ?? '')
          ? 'NCCL ran out of GPU memory'
          : 'A CUDA call inside NCCL failed',
      verdict: ({ text, at }) => {
        const named = /(?:Cuda|HIP) failure:? (?:\d{1,3} )?'([^']{3,80})'/.exec(around(text, at, 2, 5))?.[1]
        if (named === undefined) return 'A CUDA call inside NCCL failed; the lines do not name its error.'
        return MEMORY.test(named)
          ? `NCCL could not allocate its buffers${refused(around(text, at, 2, 5))}${onGpu(text[at] ?? '')}: '${named}'.`
          : named === 'initialization error'
            ? "CUDA could not start in a process of NCCL ('initialization error')."
            : NO_KERNELS.test(named)
              ? `NCCL found no kernel of its own for this GPU ('${named}'): most likely the libnccl that is loaded was built for other architectures.`
              : PEER_ACCESS.test(around(text, at, 2, 5))
                ? `A CUDA call inside NCCL failed with '${named}': the GPUs cannot reach each other's memory.`
                : SHARED.test(around(text, at, 2, 5))
                  ? `NCCL could not use the memory of a GPU of another process: CUDA says '${named}'. Most likely each process sees only its own GPU (a container or pod with one each), or the NVLink domain over several nodes (IMEX) is not set up.`
                  : NVLS.test(around(text, at, 2, 5))
                    ? `NCCL could not set up NVLink SHARP (collectives inside the NVSwitches): CUDA says '${named}'. Most likely the Fabric Manager is not running, or the NVLink fabric is not set up.`
                    : `A CUDA call inside NCCL failed with '${named}'. Likely an earlier error on the GPU that shows up here.`
      },
      remedies: cuda,
      // What a kernel did wrong is a fault of its own, which NCCL only passes on.
      unless: (seen) => elsewhere(seen) || KERNEL_FAULT.test(around(seen.text, seen.at, 6, 6)),
    },
    {
      // A warning whose words name its cause; some logs keep only its own words.
      pattern: /NCCL WARN |\bNET\/\w{2,8} ?: ?Got completion from peer /,
      severity: 'critical',
      title: (matched) => warning(matched)?.title ?? '',
      verdict: (matched) => warning(matched)?.verdict ?? '',
      remedies: (matched) => warning(matched)?.remedies ?? [],
      unless: (seen) => elsewhere(seen) || warning({ ...seen, facts: {} }) === undefined,
    },
    {
      pattern: /NCCL WARN (?!Failed to find CUDA lib|Failed to open lib(?:ibverbs|mlx5|rdmacm|nccl-net|gdrapi))[^\n]{6,}/,
      unless: (seen) =>
        elsewhere(seen) ||
        afterFullShm(seen) ||
        !(FAILS.test(seen.match[0]) || returned(seen)) ||
        // The failed call of another rank is below and says more.
        (!/Cuda failure/.test(seen.text[seen.at] ?? '') && /NCCL WARN Cuda failure/.test(around(seen.text, seen.at, 0, 4))),
      severity: 'critical',
      title: 'NCCL reports a failure',
      verdict: ({ message, match, text, at }) => {
        const own = (text[at] ?? '').indexOf('NCCL WARN ')
        const said = (own >= 0 && (text[at] ?? '').length > own + 30 ? (text[at] ?? '').slice(own) : message.slice(match.index))
          .replace(/^NCCL WARN /, '')
          // What another writer, or NCCL itself, printed on the next line is not part of it.
          .replace(/\s\S{1,80}:\d{1,10}:\d{1,10} \[\d{1,4}\] .*$/s, '')
          .replace(/\s(?:\d{4}-\d\d-\d\d|ERROR|WARNING|INFO)\s.*$/s, '')
          .replace(/\s(?:torch\.|Traceback |\[rank|RuntimeError|ncclRemote|ncclSystem).*$/s, '')
          .slice(0, 240)
          .trim()
        const who = onGpu(text[at] ?? '')
        return INFINIBAND.test(message) ? `NCCL reports a failure of the InfiniBand path${who}: "${said}".` : `NCCL reports${who}: "${said}".`
      },
      remedies: system,
    },
    {
      pattern: /(?:NCCL|RCCL) (?:[Ee]rror|failure)\b|ncclInternalError|watchdog thread terminated with exception|DistBackendError:/,
      severity: 'critical',
      title: 'NCCL failed',
      verdict: (seen) =>
        said(seen) === undefined
          ? `${failing(seen)}. The first error of any rank tells why.${INTERNAL_OF_218.test(around(seen.text, seen.at, 0, 1)) ? ' NCCL 2.18 calls errors of the network internal ones, too.' : ''}`
          : `${failing(seen)}: "${said(seen)}".`,
      remedies: system,
      unless: (seen) => elsewhere(seen) || KERNEL_FAULT.test(around(seen.text, seen.at, 6, 6)),
    },
  ],
})
