// Shared memory (/dev/shm) is full: in containers 64 MiB by default. DataLoader workers and NCCL live in it.
import { gibAsPrinted as gib } from '../../text/bytes.ts'
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { around, known, whole } from './parts/window.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { dockerRun } from './remedies/docker-run.ts'
import type { Advice, Piece } from './remedies/plan.ts'

const DEFAULT_GIB = 8
/** What df shows of it. */
const DF = /^(?:shm|tmpfs|none)\s{1,80}([\d.]{1,8})([MG])\s[^\n]{0,60}?(?:\s(\d{1,3})%\s{1,10})?\/dev\/shm\s*$/m
/** Twice of that, in GiB: the size that was full. */
function sizeOf(text: string): number {
  const [, size, unit] = DF.exec(text) ?? []
  return size === undefined ? DEFAULT_GIB : Math.max(DEFAULT_GIB, Math.ceil(2 * Number(size) * (unit === 'G' ? 1 : 1 / 1024)))
}

const LOOK: Advice = { text: 'Look how full it is.', command: 'df -h /dev/shm' }
/** Docker and Kubernetes give 64 MiB; the host half of its memory. */
function remedies(matched: Matched): readonly Piece[] {
  const { facts, situation, message } = matched
  const { programs, subject } = situation()
  const nccl = /nccl|posix_fallocate/i.test(message)
  const what = facts.path !== undefined ? ` (${facts.path} did not fit)` : facts.pid === undefined ? '' : ` (worker ${facts.pid} found it full)`
  const ray = RAY.test(message)
  // What Ray says that it needs; its object store with a tenth to spare.
  const asked = /--shm-size=(\d{1,5}(?:\.\d{1,3})?)gb/.exec(message)?.[1]
  const store = Number(/object store size \((\d[\d.]{0,20}) GB\)/.exec(message)?.[1] ?? 0) * 1.1
  const size = Math.ceil(asked === undefined ? Math.max(store, store > 0 ? 0 : sizeOf(situation().text)) : Number(asked))
  const engine = programs.has('docker') || programs.has('podman')
  const volume = 'an emptyDir of medium Memory mounted at /dev/shm'
  const fewer: Piece = { text: `Use fewer workers (num_workers) and smaller batches: each batch is in /dev/shm on its way to the main process.` }
  if (situation().hosted && !nccl && !ray)
    return [{ text: 'Use num_workers=0, or 2 with smaller batches: the /dev/shm of a notebook service cannot be enlarged.' }, LOOK]
  // Neither has a /dev/shm of its own.
  if (
    !nccl &&
    !ray &&
    (programs.has('apptainer') || programs.has('slurm')) &&
    !(['docker', 'podman', 'kubernetes', 'compose'] as const).some((one) => programs.has(one))
  )
    return [
      { ...LOOK, text: "See how full the node's /dev/shm is, which all jobs on it share." },
      fewer,
      programs.has('slurm') && { text: 'Ask for more memory: what is in /dev/shm counts as memory of the job.', command: 'sbatch --mem=<SIZE> <SCRIPT>' },
    ]
  if (NO_CONTAINER.test(situation().text) && !nccl && !RAY.test(message))
    return [
      { text: 'See whether it is full while the program runs.', command: 'df -h /dev/shm' },
      {
        text: 'If so: make it larger (until the next boot), or use fewer workers and smaller batches.',
        command: `sudo mount -o remount,size=${sizeOf(situation().text)}G /dev/shm`,
      },
      {
        text: 'If it is not: reading a mapped file that is cut, or on storage that fails, is a bus error too. Check the files of the data set that the workers map (LMDB, HDF5, memory-mapped arrays).',
      },
    ]
  return [
    programs.has('kubernetes')
      ? { text: `Give the pod a larger /dev/shm${what}: ${volume}, its size counted in the memory limit.` }
      : programs.has('compose')
        ? {
            text: `Give the service${subject.service === undefined ? '' : ` ${subject.service}`} a larger /dev/shm${what}: set this in the compose file, then recreate it.`,
            command: `shm_size: ${size}gb`,
          }
        : {
            text: `${engine ? `Give the container a larger /dev/shm${what}` : `If it runs in a container, give that a larger /dev/shm${what}, with docker run --shm-size=${size}g`}; --ipc=host shares that of the host${engine ? '' : `; in Kubernetes, mount ${volume.replace(' mounted', '')}`}.`,
            ...(engine ? { command: dockerRun(`--shm-size=${size}g`, situation()) } : {}),
          },
    !DF.test(situation().text) && LOOK,
    nccl
      ? {
          text: `${cudaRefused(matched) === undefined ? 'If it cannot be enlarged: let' : 'Let'} NCCL do without shared memory; ranks of one host then talk over sockets, which is slower.`,
          command: 'export NCCL_SHM_DISABLE=1',
        }
      : ray
        ? { text: 'Or give Ray a smaller object store, below the size of /dev/shm: ray.init(object_store_memory=<BYTES>), or ray start --object-store-memory.' }
        : {
            text: `Or use fewer workers and smaller batches: each batch is in /dev/shm on its way from ${facts.pid === undefined ? 'a worker' : `worker ${facts.pid}`} to the main process.`,
          },
  ]
}
const facts = ({ match, message }: Seen): Facts =>
  known({
    path: /(\/dev\/shm\/[\w.-]{1,80}|(?<=<)\/torch_\w{1,60}(?=>))/.exec(message.slice(match.index))?.[1],
    pid: whole(/worker \(pid\(?s?\)? ?(\d{1,10})/.exec(message.slice(Math.max(0, match.index - 80)))?.[1]),
    errno: /No space left on device \(28\)|\[Errno 28\]/.test(message.slice(match.index)) ? 28 : undefined,
  })
/** CUDA could not map the segment: the line before says so. */
const cudaRefused = ({ text, at }: Pick<Seen, 'text' | 'at'>): string | undefined => {
  const near = around(text, at, 2, 1)
  return /No space left/.test(near) ? undefined : /Cuda failure (?:\d{1,3} )?'([^']{3,60})'/.exec(near)?.[1]
}
export const SEMAPHORE = /_multiprocessing\.SemLock\(/
/** Not full, but closed to this user: the line before says so. */
const denied = ({ text, at }: Pick<Seen, 'text' | 'at'>): boolean =>
  /Permission denied|Operation not permitted/.test(around(text, at, 2, 1)) && !/No space left/.test(around(text, at, 2, 1))
const severity = 'critical'
const title = 'Shared memory is full'
/** Each shared tensor takes a mapping of its own; the kernel's default limit of them is 65530. */
const MAPPING: readonly Piece[] = [
  { text: 'Let a process map more (on the host, if it runs in a container).', command: 'sudo sysctl -w vm.max_map_count=1048576' },
  { text: 'Or share fewer tensors: fewer workers, and one tensor for a sample instead of many small ones.' },
  { text: 'See whether a process is near the limit, or memory is limited otherwise.', command: 'wc -l /proc/<PID>/maps; ulimit -v; free -g' },
]
/** A person reports it, with what was tried. */
const NO_CONTAINER = /\b(?:not|n't|without|no)\b (?:\w{1,12} ){0,3}(?:docker|containers?)\b|(?:没有|未)(?:使用|用) ?docker/i
const RAY = /object store (?:is using|size)\b/

export const shmExhausted = ruleFamily({
  id: 'shm-exhausted',
  kind: 'shm_exhausted',
  literals: [
    'insufficient shared memory',
    'unable to write to file </torch_',
    'unable to allocate shared memory(shm)',
    'unable to mmap ',
    'unable to open shared memory object',
    'killed by signal: Bus error',
    'failed to extend /dev/shm',
    'Error while creating shared memory segment',
    'Error: failed to extend',
    'o space left on device',
    '/dev/shm because ',
    'exceeds /dev/shm size',
    'posix_fallocate failed',
    'nable to initialize shared memory key',
  ],
  facts,
  rules: [
    {
      pattern: /insufficient shared memory|killed by signal: Bus error/,
      facts: () => ({ signal: 'SIGBUS' }),
      severity,
      title,
      remedies,
      verdict: ({ situation }) => {
        const [, size, unit, used] = DF.exec(situation().text) ?? []
        // Less than that was freed by the end of the process.
        const shown = Number(used) >= 80 ? ` (df shows ${used} % of ${size} ${unit}iB in use)` : ''
        return `A DataLoader worker died of a bus error: it wrote into shared memory (/dev/shm) that was full${shown}.`
      },
    },
    {
      // A full /dev/shm says "No space left" or ends in a bus error.
      pattern: /unable to mmap (\d{1,18}) bytes from file <(?:\/torch_\w{1,60}|filename not specified)>: Cannot allocate memory/,
      severity,
      title: 'A shared tensor was refused',
      remedies: () => MAPPING,
      verdict: ({ match }) => {
        const count = Number(/_(\d{5,7})>/.exec(match[0])?.[1] ?? 0)
        return `PyTorch could not map a shared tensor: the kernel refused it (ENOMEM). Likely the process reached its limit of mappings (vm.max_map_count)${count > 50_000 ? `: this one was its number ${count}` : ''}; /dev/shm need not be full.`
      },
    },
    {
      pattern:
        /unable to (?:write to file <\/torch_|allocate shared memory ?\(shm\) for file|mmap \d{1,18} bytes from file <\/torch_|open shared memory object <\/torch_\w{1,60}> in read-write mode: No space)/,
      severity,
      title,
      remedies,
      verdict: 'PyTorch could not pass a tensor between processes, because shared memory (/dev/shm) is full.',
      // Too many open files or a refused mapping are other troubles.
      unless: ({ text, at }) => /Too many open files|Permission denied|Operation not permitted/.test(joinedFrom(text, at, 2)),
    },
    {
      pattern: /failed to extend \/dev\/shm|Error while creating shared memory segment (?:\/dev\/shm|nccl-shm-)/,
      severity,
      title: (seen) => (cudaRefused(seen) === undefined && !denied(seen) ? title : 'NCCL cannot use shared memory'),
      remedies: (matched) => {
        if (denied(matched))
          return [
            {
              text: 'See who may write there, and whether files of another user with these names are left: the folder must be open to all (mode 1777).',
              command: 'ls -ld /dev/shm; ls -l /dev/shm | grep nccl; id',
            },
            { text: 'Open it to all again, if it is not.', command: 'sudo chmod 1777 /dev/shm' },
            { text: 'Until then let NCCL do without shared memory: slower.', command: 'export NCCL_SHM_DISABLE=1' },
          ]
        const [larger, look, without] = remedies(matched)
        return cudaRefused(matched) === undefined ? [larger, look, without] : [without, look, larger]
      },
      verdict: ({ match, message, text, at }) => {
        const bytes = /to (\d{1,15}) bytes|\(size (\d{1,15})\)/.exec(message.slice(match.index))
        const size = bytes === null ? '' : ` of ${gib(Number(bytes[1] ?? bytes[2]))}`
        const refused = cudaRefused({ text, at })
        if (refused !== undefined)
          return `NCCL could not use a shared memory segment${size}, through which ranks of one host communicate: CUDA refused it ('${refused}'). /dev/shm need not be full.`
        return `NCCL could not create a shared memory segment${size}, through which ranks of one host communicate: ${denied({ text, at }) ? 'this user may not write to /dev/shm (permission denied), which need not be full' : '/dev/shm is too small'}.`
      },
    },
    {
      // Python's shared_memory names its segments so.
      pattern: /No space left on device: '\/psm_\w{4,20}/,
      severity,
      title,
      remedies,
      verdict: 'A process could not make a segment of shared memory, through which it talks to its workers: /dev/shm is full or too small.',
    },
    {
      // A semaphore of multiprocessing is there too.
      pattern: /\[Errno 28\] No space left on device/,
      severity,
      title,
      remedies,
      verdict: 'Python could not create a semaphore for its worker processes: /dev/shm, which stores them, is full.',
      unless: ({ text, at }) => !SEMAPHORE.test(around(text, at, 4, 0)),
    },
    {
      pattern: /posix_fallocate failed ?: No space left on device/,
      severity,
      title,
      remedies,
      verdict: 'NCCL could not create the shared memory through which ranks of one host communicate: /dev/shm is too small.',
    },
    {
      pattern: /object store is using (\S{1,80}) instead of \/dev\/shm because \/dev\/shm has only (\d{1,15})/,
      severity: 'warning',
      title: 'Shared memory is too small',
      remedies,
      verdict: ({ match }) => `Ray keeps its objects in ${match[1]}, on disk, because only ${gib(Number(match[2]))} of /dev/shm are free: many times slower.`,
    },
    {
      pattern: /configured object store size \((\d[\d.]{0,20}) GB\) exceeds \/dev\/shm size \((\d[\d.]{0,20}) GB\)/,
      severity,
      title: 'Shared memory is too small',
      remedies,
      verdict: ({ match }) => `Ray did not start: its object store of ${match[1]} GB does not fit into /dev/shm, which has ${match[2]} GB.`,
    },
    {
      pattern: /[Uu]nable to initialize shared memory key[^\n]{0,120}to requested size \((\d{1,15}) bytes\)/,
      severity,
      title,
      remedies,
      verdict: ({ match }) => `Triton could not create shared memory of ${gib(Number(match[1]))} for a Python model: /dev/shm is too small.`,
    },
    {
      pattern: /\/dev\/shm\b.{0,200}[Nn]o space left on device|[Nn]o space left on device.{0,120}\/dev\/shm\b/,
      severity,
      title,
      remedies,
      verdict: 'Shared memory (/dev/shm) is full.',
    },
  ],
})
