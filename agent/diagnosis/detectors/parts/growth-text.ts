// What a forecast and a leak say and advise: what it is that grows decides.
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import type { Point } from './points.ts'
import { median } from './trend.ts'

/** What grew most: live bytes that stay, the peaks, the process outside of PyTorch, what others hold, or (where these cannot be distinguished) what the driver lists. */
export type Grower = 'kept' | 'peaks' | 'outside' | 'others' | 'listed'

/** Less of the growth than this stays between the peaks: it is load. */
const LOAD = 0.5

export function growerOf(points: readonly Point[], stays: number, byDriver: boolean): Grower {
  const third = Math.floor(points.length / 3)
  const rise = (of: (point: Point) => number): number => median(points.slice(-third).map(of)) - median(points.slice(0, third).map(of))
  const own = rise(({ ownMean }) => ownMean)
  const outside = rise((point) => point.outside)
  const others = rise((point) => point.others)
  if (others > own && others > outside) return 'others'
  if (outside > own) return 'outside'
  if (byDriver) return 'listed'
  return stays < LOAD ? 'peaks' : 'kept'
}

/** `slope` in bytes per ms. */
export const perMinute = (slope: number): string => gib(Math.round(slope * 60_000))

const SNAPSHOT: Remedy = {
  text: 'See what is allocated and where: dump a memory snapshot in the program and open it.',
  command: 'warpwatch snapshot <FILE>',
}
const KEPT: Remedy = {
  text: 'Look for tensors that outlive their step: losses summed without .item() or .detach(), outputs collected in lists, hooks, caches, metrics, retain_graph=True.',
}
const LIST = 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv'

export const REMEDIES: Readonly<Record<Grower, readonly Remedy[]>> = {
  kept: [KEPT, SNAPSHOT],
  listed: [{ text: 'Run it with the probe: the driver cannot distinguish live tensors from an allocator’s cache.' }, KEPT],
  peaks: [
    { text: 'Bound what makes the peaks grow: sequence length, batch size, requests at once (vLLM: --max-num-seqs, --max-model-len).' },
    { text: 'Lower the peaks: gradient checkpointing, or a smaller micro-batch with accumulation.' },
  ],
  outside: [
    {
      text: 'Look outside of PyTorch’s allocator: other CUDA libraries in the process (CuPy, ONNX Runtime, NCCL communicators), CUDA contexts of further threads.',
    },
  ],
  others: [{ text: 'Move or end another process on the card; look first whose it is.', command: LIST }],
}
export const CHECKPOINT: Remedy = { text: 'Before the earliest time: write a checkpoint, and restart at a time that you choose.' }
/** For a leak: what keeps it, and by the driver alone that it may be cache. */
export const keptRemedies = (byDriver: boolean): readonly Remedy[] => REMEDIES[byDriver ? 'listed' : 'kept']
