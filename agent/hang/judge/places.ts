// Where a rank's main thread stands, and what that place means: waiting for the other ranks, or doing something else.
import { isLibrary } from '../frames.ts'
import { mainThread } from '../evidence/stacks.ts'
import type { Doing, Frame, RankEvidence } from '../model.ts'
import type { Job } from './job.ts'

/** `peers`: it waits for a collective; `device`: for its GPU, which may be the same; else it does something of its own. */
export type Standing = { readonly kind: 'peers' | 'device' | Doing; readonly frame: Frame; readonly at: Frame }

/** `within`: only where all frames from the innermost to this one are of such files. */
type Place = { readonly kind: Standing['kind']; readonly file: RegExp; readonly called?: RegExp; readonly within?: RegExp }
/** Packages that carry a wait for others; what they call in Python's own library is part of it. */
const WAITS_IN =
  /(?:^|\/)(?:torch|deepspeed|horovod|torchcomms)\/|^(?:threading|contextlib|functools)\.py$|\/lib\/python3\.\d+\/(?!(?:site|dist)-packages\/)|^</
/** By the innermost library frames. The order matters: a save that waits for a barrier waits for the barrier. */
const PLACES: readonly Place[] = [
  { kind: 'teardown', file: /torch\/distributed\/distributed_c10d\.py$/, called: /^(?:destroy_process_group|_shutdown_backend)$/ },
  // Of the checkpoint's own frames none waits for others by itself.
  { kind: 'save', file: /torch\/distributed\/checkpoint\//, within: /^(?!.*torch\/distributed\/(?!checkpoint\/))/ },
  // Code of a model below DistributedDataParallel is not the wait of its wrapper.
  { kind: 'peers', file: /torch\/distributed\/|torch\/nn\/parallel\/|deepspeed\/comm|horovod\/|torchcomms\//, within: WAITS_IN },
  { kind: 'peers', file: /torch\/autograd\/graph\.py$/, called: /_engine_run_backward/ },
  { kind: 'device', file: /torch\/(?:_tensor\.py|cuda\/__init__\.py|cuda\/streams\.py|_utils\.py|xpu\/|hip\/)/ },
  { kind: 'save', file: /torch\/serialization\.py$|safetensors\/|torch\/distributed\/checkpoint|orbax\/|tensorstore/ },
  { kind: 'compile', file: /torch\/(?:_dynamo|_inductor|_functorch)\/|triton\/(?:compiler|runtime)|tvm\/|jax\/_src\/compiler/ },
  { kind: 'data', file: /torch\/utils\/data\/|webdataset\/|streaming\/base|nvidia\/dali\// },
  { kind: 'input', file: /(?:^|\/)(?:pdb|bdb|cmd|code|ipdb|pudb)(?:\.py|\/)|IPython\/|prompt_toolkit\// },
  { kind: 'child', file: /(?:^|\/)subprocess\.py$|(?:^|\/)multiprocessing\/(?:process|popen_\w+)\.py$/ },
  {
    kind: 'requests',
    file: /(?:^|\/)(?:asyncio\/(?:base_events|runners)|socketserver|tornado\/ioloop|tornado\/platform\/asyncio|uvicorn\/server|gunicorn\/arbiter|waitress\/\w+|ipykernel\/kernelapp)\.py$/,
    called: /^(?:run|run_forever|run_until_complete|_run_once|serve|serve_forever|start)$/,
  },
  { kind: 'network', file: /(?:^|\/)(?:ssl|socket|selectors|http\/client|ftplib)\.py$|urllib3\/|requests\/|botocore\/|aiohttp\/|httpx\/|huggingface_hub\// },
  { kind: 'data', file: /(?:^|\/)(?:queue|multiprocessing\/(?:queues|connection|pool|synchronize))\.py$/ },
  { kind: 'lock', file: /(?:^|\/)threading\.py$|(?:^|\/)filelock\/|portalocker\// },
  {
    kind: 'file',
    file: /(?:^|\/)(?:pathlib|shutil|tarfile|zipfile|gzip|glob|os)\.py$|pyarrow\/|h5py\/|zarr\/|fsspec\/|numpy\/(?:lib\/)?(?:npyio|_npyio_impl|memmap)|pandas\/io\//,
  },
]
/** Words of function and file names of the user's own code that say it saves or compiles: long by nature, and not a hang. */
const SAVES =
  /(?:^|_)(?:save|write|dump|store|export|upload)\w*(?:ckpt|checkpoint|shard|model|state|snapshot|weights)|(?:ckpt|checkpoint|snapshot)\w*(?:save|write|dump|store|upload)|^save_|^_save|^checkpoint$/i
const COMPILES = /(?:^|_)(?:compile|autotune|warm_?up|build_engine|capture_graphs?)(?:_|$)/i

/** The same of work that goes on below such a function, however deep. */
const LONG_WORK: readonly (readonly [Doing, RegExp])[] = [
  ['evaluate', /(?:^|_)(?:eval(?:uate|uation)?|valid(?:ate|ation)?|test|score|predict|benchmark)(?:_|$)/i],
  [
    'prepare',
    /(?:^|_)(?:prepare|preprocess|pre_?compute|tokenize|tokenise|setup|convert|export|download|unpack|extract)(?:_|$)|build_(?:dataset|index|vocab)/i,
  ],
]
const longWork = (me: RankEvidence | undefined): Doing | undefined => {
  const own = (mainThread(me?.threads ?? [])?.frames ?? []).filter((frame) => !isLibrary(frame))
  return LONG_WORK.find(([, names]) => own.some(({ function: name }) => names.test(name)))?.[0]
}

function ofThread(frames: readonly Frame[]): Standing | undefined {
  const [innermost] = frames
  if (innermost === undefined) return undefined
  const own = frames.find((frame) => !isLibrary(frame))
  const library = frames.slice(0, frames.findIndex((frame) => !isLibrary(frame)) === -1 ? frames.length : frames.findIndex((frame) => !isLibrary(frame)))
  const at = own ?? innermost
  for (const { kind, file, called, within } of PLACES) {
    const outside = within === undefined ? -1 : library.findIndex((frame) => !within.test(frame.file))
    const inner = outside === -1 ? library : library.slice(0, outside)
    if (inner.some((frame) => file.test(frame.file) && (called === undefined || called.test(frame.function)))) return { kind, frame: innermost, at }
  }
  // A call into C from the user's own line leaves no frame: the name of the function is all there is.
  const named = frames.slice(0, 3).filter((frame) => !isLibrary(frame))
  if (named.some(({ function: name }) => SAVES.test(name))) return { kind: 'save', frame: innermost, at }
  if (named.some(({ function: name }) => COMPILES.test(name))) return { kind: 'compile', frame: innermost, at }
  return { kind: 'code', frame: innermost, at }
}

export function standingOf(me: RankEvidence | undefined): Standing | undefined {
  const main = me === undefined ? undefined : mainThread(me.threads)
  return main === undefined ? undefined : ofThread(main.frames)
}

export const waitsForOthers = (standing: Standing | undefined): boolean => standing?.kind === 'peers' || standing?.kind === 'device'

/**
 * The ranks that hold the others up, and each rank in the same function as one of them: it does not go on there either, even if no recorder says who waits
 * for it.
 */
export function withThoseBeside(job: Job, missing: readonly number[]): readonly number[] {
  const placeOf = (rank: number): string | undefined => {
    const standing = standingOf(job.of(rank))
    return standing === undefined || waitsForOthers(standing) || job.dead(rank) ? undefined : `${standing.kind} ${standing.at.file} ${standing.at.function}`
  }
  const places = new Set(missing.flatMap((rank) => placeOf(rank) ?? []))
  return job.ranks.filter((rank) => missing.includes(rank) || places.has(placeOf(rank) ?? ''))
}

/** What the system call says, where the stack alone does not. */
export function doingOf(me: RankEvidence | undefined, standing: Standing | undefined): Doing {
  if (me?.process?.state === 'T' || me?.process?.state === 't') return 'stopped'
  const channel = me?.process?.waitChannel ?? ''
  const call = me?.process?.syscall ?? ''
  // A save waits for the disk for most of its time.
  if (standing?.kind !== 'save' && (me?.process?.state === 'D' || /fuse|request_wait_answer|nfs|jbd2|ceph|lustre|io_schedule/.test(channel))) return 'file'
  const kind = standing === undefined || standing.kind === 'peers' || standing.kind === 'device' ? 'unknown' : standing.kind
  if (kind !== 'code' && kind !== 'unknown') return kind
  if (call === 'nanosleep' || call === 'clock_nanosleep') return holdsGilLong(me) ? 'gil' : 'sleep'
  if (call === 'read' && (me?.process?.descriptor === 0 || /^\/dev\/(?:pts|tty)/.test(me?.process?.target ?? ''))) return 'input'
  if (call === 'flock' || call === 'fcntl') return 'lock'
  if (call === 'wait4' || call === 'waitid') return 'child'
  if (/^(?:recv|accept|connect|poll|epoll_wait|select|pselect6|ppoll)/.test(call) || (call === 'read' && (me?.process?.target ?? '').startsWith('socket:')))
    return 'network'
  if (call === 'futex') return holdsGilLong(me) ? 'gil' : 'lock'
  if (holdsGilLong(me)) return 'gil'
  const long = longWork(me)
  if (long !== undefined) return long
  if (busy(me)) return 'loop'
  if (call === 'read' || call === 'openat' || call === 'newfstatat' || call === 'pread64') return 'file'
  return kind
}

/** It burns CPU time in no system call; on a host with more programs than cores it gets less than a whole core. */
const busy = (me: RankEvidence | undefined): boolean => (me?.process?.cpuShare ?? 0) > (me?.process?.state === 'R' ? 0.1 : 0.5)

/** The main thread has the GIL and is in a call outside of Python. */
function holdsGilLong(me: RankEvidence | undefined): boolean {
  return me !== undefined && me.still === true && mainThread(me.threads)?.holdsGil === true && (me.process?.syscall ?? '') !== ''
}
