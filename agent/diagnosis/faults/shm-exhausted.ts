// Shared memory (/dev/shm) is full: in containers 64 MiB unless told otherwise. DataLoader workers and NCCL live in it.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'

const REMEDIES = [
  { text: 'Give the container more: Docker', command: 'docker run --shm-size=8g …   # or --ipc=host' },
  { text: 'Compose: under the service', command: 'shm_size: 8gb' },
  { text: 'Kubernetes: mount a memory volume over it', command: 'volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]   # mountPath: /dev/shm' },
  { text: 'Look how full it is.', command: 'df -h /dev/shm' },
  { text: 'Or need less: fewer workers, or share tensors through files.', command: "torch.multiprocessing.set_sharing_strategy('file_system')" },
]
const facts = ({ match, message }: Seen): Facts =>
  known({
    path: /(\/dev\/shm\/[\w.-]{1,80}|(?<=<)\/torch_\w{1,60}(?=>))/.exec(message.slice(match.index))?.[1],
    pid: whole(/worker \(pid\(?s?\)? ?(\d{1,10})/.exec(message.slice(Math.max(0, match.index - 80)))?.[1]),
    errno: /No space left on device \(28\)|\[Errno 28\]/.test(message.slice(match.index)) ? 28 : undefined,
  })
const severity = 'critical'
const title = 'Shared memory is full'

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
    'posix_fallocate failed',
  ],
  facts,
  rules: [
    {
      pattern: /insufficient shared memory|killed by signal: Bus error/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: 'A DataLoader worker died of a bus error: it wrote into shared memory (/dev/shm) that was full.',
    },
    {
      pattern:
        /unable to (?:write to file <\/torch_|allocate shared memory ?\(shm\) for file|mmap \d{1,18} bytes from file <\/torch_|open shared memory object <\/torch_\w{1,60}> in read-write mode: No space)/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: 'PyTorch could not pass a tensor between processes, because shared memory (/dev/shm) is full.',
      // Too many open files or a refused mapping are other troubles.
      unless: ({ text, at }) => /Too many open files|Permission denied|Operation not permitted/.test(joinedFrom(text, at, 2)),
    },
    {
      pattern: /failed to extend \/dev\/shm|Error while creating shared memory segment \/dev\/shm/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: 'NCCL could not make the shared memory that ranks of one host talk through: /dev/shm is too small.',
    },
    {
      pattern: /posix_fallocate failed ?: No space left on device/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: 'NCCL could not make the shared memory that ranks of one host talk through: /dev/shm is too small.',
    },
    {
      pattern: /object store is using \S{1,80} instead of \/dev\/shm because \/dev\/shm has only/,
      severity: 'warning',
      title: 'Shared memory is too small',
      remedies: REMEDIES,
      verdict: 'Ray keeps its objects on disk, because /dev/shm is too small: many times slower.',
    },
    {
      pattern: /\/dev\/shm\b.{0,200}[Nn]o space left on device|[Nn]o space left on device.{0,120}\/dev\/shm\b/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: 'Shared memory (/dev/shm) is full.',
    },
  ],
})
