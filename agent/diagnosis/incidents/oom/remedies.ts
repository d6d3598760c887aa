// What to change after a failed request for GPU memory, by its cause and with the numbers of the case.
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { roughSpan } from '../../../text/span.ts'
import { growable, variable } from '../../faults/cuda-oom/allocator-settings.ts'
import { lessMemory } from '../../faults/cuda-oom/less/index.ts'
import { setVariables } from '../../faults/remedies/environment.ts'
import { processes, whoHolds } from '../../faults/remedies/gpu.ts'
import { plan, type Piece } from '../../faults/remedies/plan.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Decision } from './decide.ts'
import type { MemoryPast } from './past.ts'
import type { OomState } from './state.ts'
import { neighbourName } from './text.ts'

export type Case = {
  readonly facts: Facts
  readonly state: OomState
  readonly decision: Decision
  readonly past: MemoryPast | undefined
  readonly situation: Situation
  /** undefined: nobody knows. */
  readonly expandable: boolean | undefined
  readonly backend: string | undefined
  /** As the log names it shortly before. */
  readonly batch: number | undefined
  /** It has one MIG instance. */
  readonly mig: boolean
  /** It runs in a container. */
  readonly contained: boolean
  /** Of the host's other GPUs the one with the most free memory, if that would do. */
  readonly freest: FreeGpu | undefined
}

export type FreeGpu = { readonly uuid: string; readonly index: number; readonly free: number }

/** What is asked for again and again needs a little room beside what was lacking. */
const MARGIN = 1.1

export function oomRemedies(given: Case): readonly Remedy[] {
  const larger: Piece = given.mig &&
    given.decision.causes[0] === 'capacity' && {
      text: `Give the job a larger MIG instance, or a GPU without MIG: what runs in it needs at least ${gib(given.state.total - given.state.free + given.state.requested)}.`,
      command: 'nvidia-smi mig -lgip; nvidia-smi -L',
    }
  return plan(
    larger,
    given.decision.causes.map((cause, index) => remediesFor(cause, given, index === 0)),
  )
}

function remediesFor(cause: OomCause, given: Case, leads: boolean): readonly Piece[] {
  const { state, decision, situation } = given
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
          text: `Raise or remove the limit that the program set${named}: this request needed a fraction of at least ${needed.toFixed(2)}. torch.cuda.set_per_process_memory_fraction sets it, or per_process_memory_fraction in ${variable(situation)}; ${Math.min(1, needed + 0.05).toFixed(2)} leaves a little space.`,
        },
      ]
    }
    case 'oversized_request':
      return [
        {
          text: `Look at the line of the traceback that allocates ${gib(state.requested)}: a wrong shape, a batch or sequence that is too long, or a full attention matrix. Split the work, or use attention that builds no full matrix.`,
        },
      ]
    case 'private_pools':
      return [
        situation.programs.has('vllm')
          ? { text: 'Run without CUDA graphs, whose private pools nothing else can use.', command: '--enforce-eager' }
          : { text: 'Capture fewer or smaller CUDA graphs, or none (torch.compile: another mode than "reduce-overhead").' },
      ]
    case 'non_pytorch_memory':
      return ofOutside(given)
    case 'capacity':
      break
  }
  return leads ? ofCapacity(given) : smaller(given)
}

function ofFragmentation({ expandable, backend, situation }: Case): readonly Piece[] {
  const pad: Piece = { text: 'If shapes vary from step to step: pad or bucket them, so that freed blocks fit again.' }
  const early: Piece = {
    text: 'Allocate what lives long (results, caches, optimizer states) before the large buffers, or copy results that are kept to the host: a small block that stays pins the segment around it.',
  }
  // The other backends have no such setting, and where it is on already it has not helped.
  if (backend !== undefined && backend !== 'native') return [pad, early]
  if (expandable === true) return [{ text: 'expandable_segments is on already: what is left are holes between blocks that live.' }, early, pad]
  return [
    growable(situation)
      ? {
          text: `Let PyTorch join the pieces${expandable === false ? '; expandable segments are off in this process' : ''}.`,
          command: setVariables(situation, { [variable(situation)]: 'expandable_segments:True' }),
        }
      : {
          text: 'Keep large blocks whole, so that large requests find one.',
          command: setVariables(situation, { [variable(situation)]: 'max_split_size_mb:256' }),
        },
    pad,
    early,
  ]
}

function ofOutside({ state, situation, facts }: Case): readonly Piece[] {
  return [
    {
      text: `Find what else the process puts onto the GPU, ${gib(state.outside ?? 0)} in all (0.3 to 2 GiB of CUDA context and libraries are ordinary): a second framework, NCCL buffers, cuDNN workspaces, DALI, CuPy or custom kernels that allocate themselves.`,
    },
    situation.programs.has('jax') && {
      text: 'Keep JAX from reserving three quarters of the card.',
      command: setVariables(situation, { XLA_PYTHON_CLIENT_PREALLOCATE: 'false' }),
    },
    situation.programs.has('tensorflow') && {
      text: 'Keep TensorFlow from taking nearly all of the card at its start.',
      command: setVariables(situation, { TF_FORCE_GPU_ALLOW_GROWTH: 'true' }),
    },
    // Its default is 4 MiB for each channel.
    facts.nccl_version !== undefined && { text: 'Give NCCL smaller buffers.', command: setVariables(situation, { NCCL_BUFFSIZE: '1048576' }) },
  ]
}

/** A container counts only the GPUs that it was given: what to set inside it is not for a host's number. */
function ofOwnGpu({ freest, contained, situation }: Case): Piece {
  const where = freest === undefined ? '' : `; GPU ${freest.index} of this host has the most free memory now (${gib(freest.free)})`
  const ranks = situation.distributed ? ' Ranks of one job: set the device from LOCAL_RANK, so that not all land on GPU 0.' : ''
  if (situation.programs.has('kubernetes') && contained) return { text: `Give the pod a GPU that it does not share (no time-slicing, no MPS)${where}.${ranks}` }
  if (situation.vendor === 'amd')
    return {
      text: `Give the ${contained ? 'container' : 'job'} a GPU of its own (ROCm: HIP_VISIBLE_DEVICES with its number, or one render node with --device /dev/dri/renderD…)${where}.${ranks}`,
    }
  if (contained)
    return {
      text: `Give the container a GPU of its own (Docker: --gpus ${freest === undefined ? 'with a device' : `device=${freest.index}`}, Compose: device_ids)${where}.${ranks}`,
    }
  return {
    text: `Give the job a GPU of its own${where}.${ranks}`,
    // Of a number CUDA and the host may think differently, of a UUID not.
    ...(freest === undefined ? {} : { command: setVariables(situation, { CUDA_VISIBLE_DEVICES: freest.uuid }) }),
  }
}

function ofNeighbours(given: Case): readonly Piece[] {
  const { state, decision, situation } = given
  const named = (state.neighbours ?? []).filter(({ bytes }) => bytes >= 2 ** 28)
  // The smallest one that alone would do is the cheapest to move.
  const enough = named.filter(({ bytes }) => bytes >= decision.lacking).at(-1) ?? named[0]
  const short = `it holds ${gib(enough?.bytes ?? 0)}, and the job was ${gib(decision.lacking)} short`
  const move =
    enough === undefined
      ? undefined
      : enough.sameContainer === true
        ? `Look what process ${enough.pid ?? 'unknown'} of the same container does on this GPU (${short}): a data loader, a second copy of the model, or what an earlier run left. Keep it off the GPU, or end it.`
        : `Move ${neighbourName(enough)} to another GPU, or end it if it should not be there: ${short}.`
  return [move !== undefined && (enough?.pid === undefined ? { text: move } : processes([enough.pid], move)), whoHolds(situation), ofOwnGpu(given)]
}

const SNAPSHOT = 'A snapshot (torch.cuda.memory._record_memory_history, then _dump_snapshot) shows what is kept and where it was allocated.'

function ofCapacity(given: Case): readonly Piece[] {
  const { decision } = given
  return [
    decision.grew?.what === 'own' && {
      text: `Memory in use grows from step to step: look for tensors that are kept (losses added up without .item(), lists of outputs, caches without a limit), or for inputs that get longer. ${SNAPSHOT}`,
      command: 'warpwatch snapshot <FILE>',
    },
    decision.rose !== undefined && {
      text: `Look for what the job began to do in its last ${roughSpan(decision.rose.withinMs)}: tensors that are kept from step to step (losses added up without .item(), lists of outputs), longer inputs, an evaluation. ${SNAPSHOT}`,
      command: 'warpwatch snapshot <FILE>',
    },
    smaller(given),
  ]
}

/** The share of what varies with the batch (all above the floor of the last minutes) by which the request was too large. */
export function tooLargeBy({ state, decision, past }: Pick<Case, 'state' | 'decision' | 'past'>): number | undefined {
  const floor = past?.floorBytes
  // What rises would have filled a smaller batch's share a moment later.
  if (decision.rose !== undefined || decision.grew?.what === 'own') return undefined
  if (floor === undefined || state.allocated === undefined || decision.lacking <= 0) return undefined
  const varies = state.allocated + state.requested - floor
  // Where hardly anything varies the batch is not what fills the card.
  if (varies < 0.05 * state.limit) return undefined
  const share = (decision.lacking * MARGIN) / varies
  return share < 0.95 ? share : undefined
}

function smaller(given: Case): readonly Piece[] {
  const { batch, decision, situation, facts, state } = given
  const share = tooLargeBy(given)
  const others = (state.neighbours ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
  const grows = decision.rose !== undefined || decision.grew?.what === 'own'
  return [
    share !== undefined && {
      text: `Use a batch about ${Math.max(1, Math.ceil(share * 100))} % smaller: it would have fitted${batchText(batch, share)} (it was ${gib(decision.lacking)} short).`,
    },
    grows && { text: `A smaller batch only delays the failure as long as memory in use grows (it was ${gib(decision.lacking)} short this time).` },
    !grows && lessMemory(situation, facts, state.neighbours === undefined ? undefined : others),
  ]
}

function batchText(batch: number | undefined, share: number): string {
  const fitting = batch === undefined ? 0 : Math.floor(batch * (1 - share))
  return fitting >= 1 ? `, ${fitting} instead of ${batch}` : ''
}
