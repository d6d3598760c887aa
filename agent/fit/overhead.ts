// What is neither model nor data: CUDA's context and libraries, buffers for talking to other GPUs, and what the allocator loses.
import type { FitSettings, Range } from '../model/fit.ts'
import { GIB, MIB, NOTHING, plus, range, times } from './range.ts'

/**
 * Of one process on one card, kernels and workspaces of cuBLAS with it. 300 to 600 MiB since CUDA loads kernels when they are called (11.7); 1,343 MB on a V100 with
 * CUDA 11.2 (transformers, model_memory_anatomy); vLLM counts 1.79 GiB outside of PyTorch on an H100 (vllm pull request 10511).
 */
export const CUDA_CONTEXT: Range = range(300 * MIB, 550 * MIB, 1.8 * GIB)

/** NCCL's channels and, for ZeRO, buckets: 5e8 numbers by default (allgather_bucket_size, reduce_bucket_size of DeepSpeed's configuration). */
export function communicationOf({ gpus, shard, train }: FitSettings, trainable: number): Range {
  if (gpus === 1) return NOTHING
  const nccl = range(200 * MIB, 500 * MIB, 1.8 * GIB)
  if (train === 'no' || shard === 'tensor') return nccl
  // A bucket bigger than all gradients is of no use.
  const bucket = 2 * Math.min(shard === 'none' ? 25 * MIB : 5e8, trainable)
  return plus(nccl, range(0, bucket, 2 * bucket))
}

/**
 * Rounding and free blocks that fit no request. Weights stay where they are; what comes and goes leaves holes. Free memory inside PyTorch's cache at the peak is 2 to
 * 35 % of what comes and goes, by how much shapes vary; expandable segments keep it near the low end.
 */
export function allocatorOf(steady: Range, changing: Range, { train, checkpointing }: FitSettings): Range {
  const likely = train === 'no' ? 0.05 : checkpointing === 'on' ? 0.06 : 0.1
  return plus(times(steady, 0, 0.005, 0.02), times(changing, 0.01, likely, 0.35))
}
