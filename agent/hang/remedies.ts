// What to change, by who holds up the job and what that rank does: the most effective first, one action each.
import type { Answer, Doing } from './model.ts'

const DOING: Readonly<Record<Doing, readonly string[]>> = {
  data: [
    'Look at the data loader of that rank: a worker that died or reads from slow storage. DataLoader(timeout=120) turns the wait into an error that names the worker.',
    'Check the storage that the workers read (NFS, object store): mount with a time-out, or copy the shards to a local disk.',
  ],
  lock: [
    'Release the lock on every path (use it in a with statement), and take several locks in the same order everywhere.',
    'If the lock is a file, find its holder with: lslocks -p PID; a process left over from an earlier run may keep it.',
  ],
  input: ['Remove input(), breakpoint() or pdb from the code that ranks run: nobody can answer it. PYTHONBREAKPOINT=0 switches breakpoint() off.'],
  file: [
    'Check the file system that the read waits for (NFS, FUSE, Lustre): dmesg and mount say whether its server answers; mount NFS with soft,timeo=100 to get an error instead of a wait.',
  ],
  network: ['Give the network call a time-out (requests: timeout=, socket.settimeout, botocore read_timeout) and try again on failure.'],
  requests: ['The rank waits in an event loop for requests, as a server does. Check who should send them, and give the wait a time-out.'],
  child: ['The rank waits for a program that it started. Give subprocess.run a timeout=, and do not start programs inside the training step.'],
  sleep: ['Bound the retry loop that sleeps: after the last attempt raise, so that the job ends with the reason instead of waiting.'],
  gil: [
    'A C extension keeps the GIL, so that no other thread of that process can run. Update the extension, or release the GIL around the call (Py_BEGIN_ALLOW_THREADS, ctypes.CDLL instead of PyDLL).',
  ],
  loop: ['The loop in that function does not end for the data it has. Bound its iterations, and log when the bound is reached.'],
  stopped: ['The process is stopped by a signal. Continue it with: kill -CONT PID'],
  teardown: [
    'The rank is already in its clean-up. End the whole job when one rank fails: raise instead of catching, or call os._exit, so that torchrun ends the others.',
  ],
  save: [
    'The rank is saving; wait. Save asynchronously (torch.distributed.checkpoint.async_save), or raise the time-out of the process group: init_process_group(timeout=...).',
  ],
  compile: [
    'The rank is compiling; wait. Compile before the first collective, and share the compiler cache between ranks (TORCHINDUCTOR_CACHE_DIR on a shared disk).',
  ],
  evaluate: ['The rank evaluates; wait. Evaluate on all ranks, or raise the time-out of the process group: init_process_group(timeout=...).'],
  prepare: ['The rank prepares data; wait. Prepare it before the job, or on all ranks alike.'],
  code: ['Look at that line: only this rank is there. If it waits for something outside, give the call a time-out.'],
  unknown: ['Take a stack of that rank: warpwatch hang PID, or py-spy dump --pid PID.'],
}

const CAUSE: Readonly<Record<Exclude<Answer['cause'], 'missing' | 'stuck' | 'none'>, readonly string[]>> = {
  mismatch: [
    'Make all ranks call the same collective with the same size and type there: look for a condition that depends on the rank or on the data. TORCH_DISTRIBUTED_DEBUG=DETAIL finds the first difference before it hangs.',
  ],
  order: [
    'Give all ranks the same order of collectives, over all groups: a collective in a branch must be in every branch. TORCH_DISTRIBUTED_DEBUG=DETAIL finds the first difference.',
  ],
  dead: ['Find out why that process ended: its own log, and the kernel log for the OOM killer. The other ranks wait until their time-out; end them.'],
  left_early: ['Give every rank the same number of batches: DistributedSampler(drop_last=True), or with model.join(): for uneven inputs.'],
  exception: ['Fix the exception of that rank; it is the cause. Do not catch it around collectives: the other ranks go on waiting.'],
  kernel: [
    'A kernel on that GPU does not end. Look for a custom kernel with a loop, run that rank with CUDA_LAUNCH_BLOCKING=1, and check the GPU for Xid errors (dmesg).',
  ],
  transport: [
    'All ranks joined, so look at the connection between them: link errors (nvidia-smi nvlink -e, ibstat, switch counters), or set NCCL_DEBUG=INFO and run again.',
    'If the recorder was off, switch it on for the next run (TORCH_FR_BUFFER_SIZE=2000; before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE=2000): it also finds ranks that disagree.',
  ],
  straggler: ["Look at that rank's GPU clock and temperature, its host's CPU load and its input pipeline."],
  slow_phase: ['No fault: the others wait while one rank works alone.'],
  late: ['That rank came after the others had given up. Find out what it did before, or raise the time-out: init_process_group(timeout=...).'],
}

/** Of a loop of which nobody knows whether it should end by itself. */
export const remediesOfLoop: readonly string[] = [...DOING.loop, 'If the loop is long work, have it print its progress: then a pause is no alarm.']

const LOOK_AGAIN = 'Look again in a minute: where the same rank computes while all others wait, it is slower than they are.'

const OTHER_HOSTS =
  'Look at the ranks on the other hosts too: name their agents under hosts, so that all ranks are judged together, or run warpwatch hang JOB --save FILE on each host and warpwatch hang FILE FILE… on one.'
/** Nobody can be named, and which collective each rank is in is not known either. */
const UNDECIDED = [
  'Get the Flight Recorder dumps: they say which rank is missing or disagrees. Where TORCH_NCCL_DEBUG_INFO_PIPE_FILE is set, write a byte into PIPE_FILE + rank + ".pipe"; else PyTorch writes them at its time-out. Then run warpwatch hang again.',
  'If the recorder is off, switch it on for the next run: TORCH_FR_BUFFER_SIZE=2000 (before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE=2000).',
]

export function remediesOf({ cause, culprits, doing, verdict, root, callSites }: Answer): readonly string[] {
  if (verdict === 'healthy') return []
  if (cause === 'stuck' && culprits.length === 0) return [OTHER_HOSTS]
  // A single process is named by what it does alone.
  const doings = [...new Set(culprits.length > 0 ? culprits.flatMap((rank) => doing.get(rank) ?? []) : doing.values())]
  const byDoing = doings.flatMap((one) => DOING[one])
  if (cause === 'none') return doings.some((one) => one !== 'code' && one !== 'unknown') ? byDoing : []
  if (cause === 'missing' || cause === 'stuck') return byDoing.length > 0 ? byDoing : DOING.unknown
  if (cause === 'slow_phase') return [...(doings.every((one) => one === 'code' || one === 'unknown') ? [] : byDoing), ...CAUSE.slow_phase]
  if (verdict === 'slow_phase' && cause === 'straggler') return [LOOK_AGAIN, ...CAUSE.straggler]
  if (cause === 'transport' && root === undefined) return UNDECIDED
  // A barrier against a step of training: the loop of that rank has ended.
  const [mine, ...others] = callSites
  const left = mine?.what.startsWith('barrier') === true && others.every(({ what }) => !what.startsWith('barrier'))
  return cause === 'mismatch' && (left || doings.some((one) => one === 'teardown')) ? [...CAUSE.left_early, ...CAUSE.mismatch] : CAUSE[cause]
}
