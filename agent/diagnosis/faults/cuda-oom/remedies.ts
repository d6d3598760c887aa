// What to change for each cause of a failed request for GPU memory.
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import type { Judged } from './causes.ts'

const LESS: readonly Remedy[] = [
  {
    text: 'Need less: halve the batch (and double gradient accumulation to keep the result), shorten the sequences, or use bf16 and activation checkpointing.',
  },
  { text: 'For inference: load the model in 8 or 4 bit, or spread it over more GPUs.' },
]
const WHO: Remedy = {
  text: 'See who holds memory on the GPU.',
  command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
}
/** The name with CUDA in it is read by every release; the shorter one only by 2.9 and later. */
const variable = (hip: boolean): string => (hip ? 'PYTORCH_HIP_ALLOC_CONF' : 'PYTORCH_CUDA_ALLOC_CONF')

function remediesFor(cause: OomCause | undefined, facts: Facts, judged: Judged, hip: boolean): readonly Remedy[] {
  switch (cause) {
    case 'fragmentation':
      return [
        { text: 'Let PyTorch put the pieces together (not on Windows).', command: `export ${variable(hip)}=expandable_segments:True` },
        { text: 'Where that is not supported: keep large blocks whole.', command: `export ${variable(hip)}=max_split_size_mb:256` },
        { text: 'If shapes vary from step to step: pad or bucket them, so that freed blocks fit again.' },
      ]
    case 'other_process':
      return [
        WHO,
        ...(judged.others?.pids[0] === undefined
          ? []
          : [
              {
                text: 'Look at the biggest neighbour (a pid of the host), and end it if it should not be there.',
                command: `ps -o pid,user,lstart,args -p ${judged.others.pids.join(',')}`,
              },
            ]),
        {
          text: 'Give the job a GPU of its own: CUDA_VISIBLE_DEVICES chooses among those that the program sees, --gpus device=N gives a container another one. With torchrun set the device from LOCAL_RANK, so that not all ranks land on GPU 0.',
        },
      ]
    case 'fraction_cap':
      return [
        {
          text: `Raise or drop the limit that the program set${facts.allowed_bytes === undefined ? '' : ` (${gib(facts.allowed_bytes)})`}: torch.cuda.set_per_process_memory_fraction, or per_process_memory_fraction in ${variable(hip)}.`,
          command: 'torch.cuda.set_per_process_memory_fraction(1.0)',
        },
      ]
    case 'oversized_request':
      return [
        {
          text: 'Look at the line of the traceback that allocates: a wrong shape, a batch or sequence that is too long, or a full attention matrix. Split the work, or use attention that needs no full matrix.',
        },
      ]
    case 'private_pools':
      return [
        { text: 'Capture fewer CUDA graphs or smaller ones, or run without them (vLLM: --enforce-eager; torch.compile: another mode than "reduce-overhead").' },
      ]
    case 'non_pytorch_memory':
      return [
        { text: 'Find what else the process loads onto the GPU: a second framework that reserves memory (TensorFlow, JAX), NCCL buffers, cuDNN workspaces.' },
        { text: 'Keep JAX from reserving three quarters of the card.', command: 'export XLA_PYTHON_CLIENT_PREALLOCATE=false' },
      ]
    case 'capacity':
    case undefined:
      break
  }
  if (!judged.enoughWasFree) return LESS
  return [
    WHO,
    {
      text: 'Watch the next run: free memory was enough when the request failed. On Windows enlarge the page file; elsewhere look for a memory fraction set in the program.',
    },
  ]
}

export function remediesOf(facts: Facts, judged: Judged, hip: boolean): readonly Remedy[] {
  if (judged.causes.length === 0) return [WHO, ...LESS]
  const remedies = judged.causes.flatMap((cause) => remediesFor(cause, facts, judged, hip))
  return judged.spilled
    ? [{ text: "Everything above the card's own memory runs over the bus: choose a smaller model or batch before anything else." }, ...remedies]
    : remedies
}

export const GENERAL_REMEDIES: readonly Remedy[] = [WHO, ...LESS]
