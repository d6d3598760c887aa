// Page-locked (pinned) host memory: who asks for it, and what to do where the system refuses it.
import { INFERENCE } from '../../situation/programs.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'

/** Frames of a call that asks for it, or its argument. */
export const asksPinned = (text: string): boolean =>
  /\.pin_memory\(\)|, in _?pin_memory\b|pin_memory\w{0,30} = torch\.|pin_memory=True|cpu_backup_tensor = torch\.|cudaHost(?:Alloc|Register)|HostAllocator/.test(
    text,
  )
/** TensorFlow's pool of it grows by requests as large as this where little was asked for. */
const LARGE = 2 ** 30
export const lessPinnedInTensorflow = ({ system }: Situation, asked: number | undefined): readonly Piece[] => [
  system === 'windows'
    ? { text: 'Check the free RAM in Task Manager: pinned memory cannot be swapped out.' }
    : { text: 'Check the free host memory, and whether the container, the job or ulimit limits pinned memory.', command: 'free -g; ulimit -l' },
  system === 'wsl' && {
    text: 'WSL 2 gets part of the RAM, and only part of that can be pinned: give it more in .wslconfig ([wsl2] memory=), then wsl --shutdown.',
  },
  { text: 'Keep less on the host at once: a smaller batch, a smaller shuffle buffer and prefetch, no cache() of the whole data set in memory.' },
  (asked ?? 0) > LARGE && {
    text: "Limit TensorFlow's pool of pinned memory (in MB; 64 GB by default).",
    command: system === 'windows' ? 'set TF_GPU_HOST_MEM_LIMIT_IN_MB=4096' : 'export TF_GPU_HOST_MEM_LIMIT_IN_MB=4096',
  },
]
export const lessPinned = ({ programs }: Situation): readonly Piece[] => [
  { text: 'Check the free host memory, and whether the container, the job or ulimit limits pinned memory.', command: 'free -g; ulimit -l' },
  INFERENCE.some((program) => programs.has(program)) && !programs.has('deepspeed')
    ? { text: 'Lock less: no offloading to the CPU, fewer requests at once, fewer servers on the host.' }
    : {
        text: 'Lock less: DeepSpeed "pin_memory": false under offload_optimizer and offload_param, DataLoader(pin_memory=False), fewer processes on the host.',
      },
  { text: 'In a container allow it, if the limit of locked memory is what is lacking: docker run --ulimit memlock=-1.' },
]
