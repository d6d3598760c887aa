// Programs that ran out of memory and went on with smaller pieces; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['batch_halving']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a trainer',
    text: 'RuntimeWarning: CUDA out of memory detected. Train microbatch size will be decreased from 64 -> 32.',
    kinds: ['batch_halving', 'cuda_oom'],
    facts: { batch_from: 64, batch_to: 32 },
  },
  {
    name: 'a U-Net that keeps its batch',
    text: 'ERROR: Detected OutOfMemoryError! Enabling checkpointing to reduce memory usage, but this slows down training.',
    kinds: one,
  },
  { name: 'accelerate', text: 'Decreasing batch size to: 16.', kinds: one, facts: { batch_to: 16 } },
  { name: 'tiles', text: 'Warning: Ran out of memory when regular VAE encoding, retrying with tiled VAE encoding.', kinds: one },
  { name: 'a search', text: 'Batch size 64 failed, trying batch size 32', kinds: one, facts: { batch_from: 64, batch_to: 32 } },
  {
    name: 'the out of memory in the same breath',
    text: 'CUDA out of memory with batch=24. Reducing to batch=12 and retrying.',
    kinds: one,
    facts: { batch_from: 24, batch_to: 12 },
  },
  {
    name: 'halved, in one line with the failure',
    text: '[W trainer.py:88] CUDA out of memory at batch_size=64, halving to 32 (accumulate 1 -> 2)',
    kinds: one,
    facts: { batch_from: 64, batch_to: 32 },
  },
  { name: 'a chunk, not a batch', text: 'embed: CUDA out of memory, halving the query chunk to 512.', kinds: one },
  { name: 'tried again', text: '[warning] CUDA OOM; retrying with smaller batch_size=4', kinds: one, facts: { batch_to: 4 } },
  { name: 'an older trainer', text: '| WARNING: GPU ran out of memory, retrying batch', kinds: ['batch_halving', 'cuda_oom'] },
  {
    name: 'twice: the last size counts',
    text: 'CUDA OOM. Reducing batch size to 32\nCUDA OOM. Reducing batch size to 16',
    kinds: one,
    facts: { batch_to: 16 },
  },
  { name: 'quiet: of host memory', text: 'The loader ran out of memory, splitting the chunk to 512.', kinds: [] },
  { name: 'quiet: advice', text: 'Please consider reducing batch size.', kinds: [] },
  { name: 'quiet: settings', text: 'batch_size=32 gradient_accumulation_steps=4', kinds: [] },
]
