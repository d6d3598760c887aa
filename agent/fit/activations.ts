// What a pass through the layers keeps: the peak of one layer for inference, all that the way back needs for training.
import type { FitSettings, Range } from '../model/fit.ts'
import { linearsOf, widths, type Architecture, type Stack } from './architecture.ts'
import { loraLinears } from './training.ts'
import { around, plus, range, times } from './range.ts'
import { computeBytes } from './weights.ts'

/** vLLM reads prompts in pieces of so many tokens (max_num_batched_tokens of vllm/config/scheduler.py; 2,048 to 16,384 by version and card). */
const VLLM_PIECE = 8_192

/** Numbers of one feed-forward block that are at once, per token: gate, up and their product, or before and after the activation. */
const feedForwardWidth = ({ intermediate, gated, experts }: Stack): number =>
  Math.max(intermediate, experts === undefined ? 0 : experts.active * experts.intermediate + experts.shared) * (gated ? 3 : 2)

/** Bytes that the widest moment of a layer holds while `tokens` are read. The residual, its norm and one more copy are beside the widest block. */
function inferenceLayer(stack: Stack, tokens: number, sequence: number, bytes: number, eager: boolean): number {
  const { q, kv } = widths(stack)
  const attention = 2 * (q + kv) + (eager ? stack.heads * sequence * (1 + 4 / bytes) : 0)
  return tokens * bytes * (3 * stack.hidden + Math.max(feedForwardWidth(stack), attention))
}

export function inferenceActivations({ stacks }: Architecture, settings: FitSettings): Range {
  const bytes = computeBytes(settings.dtype)
  const { prompt, context, batch } = settings
  const asked = prompt > 0 ? prompt : context
  const peaks = stacks.map((stack) => {
    const sequence = stack.fixedTokens ?? asked
    const tokens = settings.engine === 'vllm' ? Math.min(sequence * batch, VLLM_PIECE) : sequence * batch
    return inferenceLayer(stack, tokens, sequence, bytes, settings.attention === 'eager')
  })
  // Held against the tables of Qwen2.5: within a tenth from 6,144 to 30,720 tokens. Fused kernels need less, copies of repeated heads more.
  return around(Math.max(0, ...peaks), 0.6, 1.5)
}

/**
 * Bytes per token that one layer keeps for the way back, its matrix of scores aside: each operation keeps what its derivative needs. Counted over
 * transformers' modules; for a plain layer in 16 bits it is the 34 bytes per number of arXiv:2205.05198, table 2.
 */
function keptPerToken(stack: Stack, bytes: number, mixed: boolean, lora: boolean, targeted: (name: string) => boolean): number {
  const { hidden, intermediate, gated, dropout, experts } = stack
  const { q, kv } = widths(stack)
  const input = (name: string, width: number): number => (!lora || targeted(name) ? bytes * width : 0)
  // RMS norms are reckoned in fp32 and keep that copy; the scaled result is kept for the norm's own weight.
  const norm = stack.norm === 'rms' ? 4 * hidden + (lora ? 0 : bytes * hidden) : (mixed ? 4 : bytes) * hidden
  const block = norm + (dropout ? hidden : 0)
  const attention = block + input('q', hidden) + bytes * (q + 2 * kv) + bytes * q + 4 * stack.heads
  const width = experts === undefined ? intermediate : Math.max(intermediate, experts.active * experts.intermediate + experts.shared)
  const feedForward = block + input('up', hidden) + bytes * width * (gated ? 3 : 1) + input('down', width)
  return attention * (stack.crossAttention ? 2 : 1) + feedForward
}

/** Scores in fp32, the same rounded for the product, and the mask of a dropout: per head and pair of tokens. */
const keptPerPair = (stack: Stack, bytes: number): number => stack.heads * (4 + bytes + (stack.dropout ? 1 : 0)) * (stack.crossAttention ? 2 : 1)

function trainingStack(stack: Stack, settings: FitSettings): Range {
  const { context, batch, dtype, precision, train, attention, targets } = settings
  const lora = train === 'lora'
  const mixed = precision === 'amp' && !lora
  const bytes = mixed ? 2 : computeBytes(dtype)
  const sequence = stack.fixedTokens ?? context
  const tokens = sequence * batch
  const adapted = lora ? loraLinears(stack, targets) : []
  const targeted = (name: string): boolean => adapted.some((linear) => linear.name === name)
  const pairs = attention === 'eager' ? keptPerPair(stack, bytes) * tokens * sequence : 0
  const layer = keptPerToken(stack, bytes, mixed, lora, targeted) * tokens + pairs
  // Each adapter of PEFT keeps its input after a dropout of its own, where one is set, and a copy in fp32 where the adapters are in it.
  const copies = adapted.reduce((sum, { input }) => sum + input, 0) * tokens
  const kept = plus(around(layer, 0.75, 1.3), range(0, bytes * copies * 0.5, (bytes + 4) * copies))
  // While a layer goes back, the gradients of its widest block are beside it.
  const back = range(0.5, 1, 2)
  const widest = bytes * tokens * (2 * stack.hidden + Math.max(...linearsOf(stack).map(({ output }) => output)))
  const working = range(back.low_bytes * widest, widest, back.high_bytes * widest)
  const residual = (mixed ? 4 : bytes) * stack.hidden * tokens
  return settings.checkpointing === 'on'
    ? plus(around(stack.layers * residual, 1, 1.1), kept, working)
    : plus(range(kept.low_bytes * stack.layers, kept.likely_bytes * stack.layers, kept.high_bytes * stack.layers), working)
}

export function trainingActivations({ stacks }: Architecture, settings: FitSettings): Range {
  // What a decoder beside an encoder writes is mostly shorter than what the encoder reads.
  return plus(...stacks.map((stack) => times(trainingStack(stack, settings), stack.crossAttention ? 0.1 : 1, 1)))
}

/** Tokens over which a chunked loss goes at once: torchtune and Liger take about a thousand. */
const CHUNK = 1_024

/** Per token and word: in training the logits, the same in fp32, their logarithms and gradients; some frameworks keep fewer copies, older ones more. */
export function logitsOf({ vocab, predictsTokens }: Architecture, settings: FitSettings): Range {
  if (!predictsTokens || vocab === 0) return range(0, 0, 0)
  const { context, batch, dtype } = settings
  if (settings.train === 'no') {
    // Only the last token of each sequence is asked for; the sampler makes copies in fp32. Older versions of transformers kept those of the whole prompt.
    return range(4 * vocab * batch, 12 * vocab * batch, 12 * vocab * batch)
  }
  const tokens = context * batch
  if (settings.loss === 'full') return range(8 * vocab * tokens, 12 * vocab * tokens, 18 * vocab * tokens)
  const chunk = Math.min(tokens, CHUNK)
  return range(4 * vocab * chunk, 12 * vocab * chunk, 12 * vocab * chunk + computeBytes(dtype) * vocab * tokens)
}
