// What to change after a failed request for GPU memory, by its cause and with the numbers of the case.
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { roughSpan } from '../../../text/span.ts'
import type { Decision } from './decide.ts'
import type { MemoryPast } from './past.ts'
import type { OomState } from './state.ts'
import { neighbourName } from './text.ts'

export type Case = {
  readonly facts: Facts
  readonly state: OomState
  readonly decision: Decision
  readonly past: MemoryPast | undefined
  /** undefined: nobody knows. */
  readonly expandable: boolean | undefined
  readonly backend: string | undefined
  readonly hip: boolean
  /** As the log names it shortly before. */
  readonly batch: number | undefined
  /** It runs in a container. */
  readonly contained: boolean
  /** Of the host's other GPUs the one with the most free memory, if that would do. */
  readonly freest: FreeGpu | undefined
}

export type FreeGpu = { readonly uuid: string; readonly index: number; readonly free: number }

/** What is asked for again and again needs a little room beside what was lacking. */
const MARGIN = 1.1

export function oomRemedies(given: Case): readonly Remedy[] {
  const { causes } = given.decision
  const found = causes.flatMap((cause, index) => remediesFor(cause, given, index === 0))
  const seen = new Set<string>()
  return found.filter(({ text }) => !seen.has(text) && seen.add(text))
}

function remediesFor(cause: OomCause, given: Case, leads: boolean): readonly Remedy[] {
  const { state, decision, facts } = given
  switch (cause) {
    case 'fragmentation':
      return ofFragmentation(given)
    case 'other_process':
      return ofNeighbours(given)
    case 'fraction_cap': {
      const needed = Math.min(1, Math.ceil(((state.reserved + state.requested) / Math.max(1, state.total)) * 100) / 100)
      const named = decision.hiddenCap ? '' : ` (${gib(state.limit)})`
      return [
        {
          text: `Raise or drop the limit that the program set${named}: this request needed a fraction of at least ${needed.toFixed(2)}. It is set by torch.cuda.set_per_process_memory_fraction, or by per_process_memory_fraction in ${variable(given)}.`,
          command: `torch.cuda.set_per_process_memory_fraction(${Math.min(1, needed + 0.05).toFixed(2)})`,
        },
      ]
    }
    case 'oversized_request':
      return [
        {
          text: `Look at the line of the traceback that allocates ${gib(state.requested)}: a wrong shape, a batch or sequence that is too long, or a full attention matrix. Split the work, or use attention that needs no full matrix.`,
        },
      ]
    case 'private_pools':
      return [
        { text: 'Capture fewer CUDA graphs or smaller ones, or run without them (vLLM: --enforce-eager; torch.compile: another mode than "reduce-overhead").' },
      ]
    case 'non_pytorch_memory':
      return [
        {
          text: `Find what else the process puts onto the GPU, ${gib(state.outside ?? 0)} in all (0.3 to 2 GiB of CUDA context and libraries are ordinary): a second framework that reserves memory (TensorFlow, JAX), NCCL buffers, cuDNN workspaces, DALI, CuPy or custom kernels that allocate themselves.`,
        },
        { text: 'Keep JAX from reserving three quarters of the card.', command: 'export XLA_PYTHON_CLIENT_PREALLOCATE=false' },
        ...(facts.nccl_version === undefined ? [] : [{ text: 'Give NCCL smaller buffers.', command: 'export NCCL_BUFFSIZE=1048576' }]),
      ]
    case 'capacity':
      break
  }
  return leads ? ofCapacity(given) : smaller(given)
}

const variable = ({ hip }: Case): string => (hip ? 'PYTORCH_HIP_ALLOC_CONF' : 'PYTORCH_CUDA_ALLOC_CONF')

function ofFragmentation(given: Case): readonly Remedy[] {
  const { expandable, backend } = given
  const pad: Remedy = { text: 'If shapes vary from step to step: pad or bucket them, so that freed blocks fit again.' }
  const early: Remedy = {
    text: 'Allocate what lives long (results, caches, optimizer states) before the large buffers, or copy results that are kept to the host: a small block that stays pins the segment around it.',
  }
  // The other backends have no such setting, and where it is on already it has not helped.
  if (backend !== undefined && backend !== 'native') return [pad, early]
  if (expandable === true) return [{ text: 'expandable_segments is on already: what is left are holes between blocks that live.' }, early, pad]
  return [
    {
      text:
        expandable === false
          ? 'Let PyTorch put the pieces together; expandable segments are off in this process (not on Windows or WSL 2).'
          : 'Let PyTorch put the pieces together (not on Windows or WSL 2).',
      command: `export ${variable(given)}=expandable_segments:True`,
    },
    { text: 'Where that is not supported: keep large blocks whole.', command: `export ${variable(given)}=max_split_size_mb:256` },
    pad,
    early,
  ]
}

/** A container counts only the GPUs that it was given: what to set inside it is not for a host's number. */
function ofOwnGpu({ freest, contained }: Case): Remedy {
  const ranks = 'With torchrun set the device from LOCAL_RANK, so that not all ranks land on GPU 0.'
  const where = freest === undefined ? '' : `; GPU ${freest.index} of this host has the most free memory now (${gib(freest.free)})`
  if (contained) return { text: `Give the container a GPU of its own (Docker: --gpus device=${freest?.index ?? 'N'}, Compose: device_ids)${where}. ${ranks}` }
  return {
    text: `Give the job a GPU of its own${where}. ${ranks}`,
    // Of a number CUDA and the host may think differently, of a UUID not.
    ...(freest === undefined ? {} : { command: `export CUDA_VISIBLE_DEVICES=${freest.uuid}` }),
  }
}

function ofNeighbours(given: Case): readonly Remedy[] {
  const { state, decision } = given
  const named = (state.neighbours ?? []).filter(({ bytes }) => bytes >= 2 ** 28)
  // The smallest one that alone would do is the cheapest to move.
  const enough = named.filter(({ bytes }) => bytes >= decision.lacking).at(-1) ?? named[0]
  const move: readonly Remedy[] =
    enough === undefined
      ? []
      : [
          {
            text: `Move ${neighbourName(enough)} to another GPU, or end it if it should not be there: it holds ${gib(enough.bytes)}, and ${gib(decision.lacking)} were lacking.`,
            ...(enough.pid === undefined ? {} : { command: `ps -o pid,user,lstart,args -p ${enough.pid}` }),
          },
        ]
  return [
    ...move,
    {
      text: 'See who holds memory on the GPU.',
      command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
    },
    ofOwnGpu(given),
  ]
}

function ofCapacity(given: Case): readonly Remedy[] {
  const { decision } = given
  const leak: readonly Remedy[] =
    decision.grew?.what === 'own'
      ? [
          {
            text: 'Memory in use grows from step to step: look for tensors that are kept (losses added up without .item(), lists of outputs, caches without a limit), or for inputs that get longer. A snapshot (torch.cuda.memory._record_memory_history, then _dump_snapshot(FILE)) shows what is kept and where it was allocated.',
            command: 'warpwatch snapshot FILE',
          },
        ]
      : []
  const late: readonly Remedy[] =
    decision.rose === undefined
      ? []
      : [
          {
            text: `Look for what the job began to do in its last ${roughSpan(decision.rose.withinMs)}: tensors that are kept from step to step (losses added up without .item(), lists of outputs), longer inputs, an evaluation. A snapshot (torch.cuda.memory._record_memory_history, then _dump_snapshot(FILE)) shows what is kept and where it was allocated.`,
            command: 'warpwatch snapshot FILE',
          },
        ]
  return [...leak, ...late, ...smaller(given)]
}

/** The share of what varies with the batch (all above the floor of the last minutes) by which the request was too large. */
export function tooLargeBy({ state, decision, past }: Pick<Case, 'state' | 'decision' | 'past'>): number | undefined {
  const floor = past?.floorBytes
  // What rises would have filled a smaller batch's share a moment later.
  if (decision.rose !== undefined) return undefined
  if (floor === undefined || state.allocated === undefined || decision.lacking <= 0) return undefined
  const varies = state.allocated + state.requested - floor
  // Where hardly anything varies the batch is not what fills the card.
  if (varies < 0.05 * state.limit) return undefined
  const share = (decision.lacking * MARGIN) / varies
  return share < 0.95 ? share : undefined
}

function smaller(given: Case): readonly Remedy[] {
  const { batch, decision } = given
  const share = tooLargeBy(given)
  const rest = 'shorten the sequences, or use bf16 and activation checkpointing'
  const less: Remedy =
    share === undefined
      ? { text: `Need less: halve the batch (and double gradient accumulation to keep the result), ${rest}. ${gib(decision.lacking)} were lacking.` }
      : {
          text: `Need less: a batch about ${Math.max(1, Math.ceil(share * 100))} % smaller would have fitted${batchText(batch, share)} (${gib(decision.lacking)} were lacking); or ${rest}.`,
        }
  return [less, { text: 'For inference: load the model in 8 or 4 bit, or spread it over more GPUs.' }]
}

function batchText(batch: number | undefined, share: number): string {
  const fitting = batch === undefined ? 0 : Math.floor(batch * (1 - share))
  return fitting >= 1 ? `, ${fitting} instead of ${batch}` : ''
}
