// The shape of a transformer, as far as memory depends on it, and how many parameters it has.

export type Experts = {
  readonly count: number
  /** How many of them see a token. */
  readonly active: number
  readonly intermediate: number
  /** Width of the experts that see every token, together. */
  readonly shared: number
  /** Layers with experts; the others are dense. */
  readonly layers: number
}
/** Multi-head latent attention (DeepSeek): one compressed vector is cached instead of keys and values. */
export type Latent = {
  readonly kvRank: number
  readonly ropeDim: number
  readonly nopeDim: number
  readonly valueDim: number
  readonly qRank: number | undefined
}

export type Stack = {
  readonly role: 'encoder' | 'decoder'
  readonly layers: number
  readonly hidden: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly intermediate: number
  /** A gated block has three matrices, a plain one two. */
  readonly gated: boolean
  readonly norm: 'rms' | 'layer'
  readonly bias: boolean
  /** Biases of q, k and v alone (Qwen). */
  readonly qkvBias?: boolean
  readonly dropout: boolean
  readonly crossAttention: boolean
  /** Positions that it always has, whatever the context: frames of sound, patches of a picture. */
  readonly fixedTokens?: number
  /** Tokens that its sliding layers look back, and how many layers slide. */
  readonly window?: { readonly tokens: number; readonly layers: number }
  readonly experts?: Experts
  readonly latent?: Latent
}

export type Architecture = {
  readonly family: string
  readonly stacks: readonly Stack[]
  readonly vocab: number
  readonly hidden: number
  /** Output matrix and embeddings are one. */
  readonly tied: boolean
  /** Whether it predicts tokens, so that logits over the vocabulary are made. */
  readonly predictsTokens: boolean
  /** Learned positions and other tables, in parameters. */
  readonly otherEmbeddings: number
  /** Parts that are known to be missing here, such as a vision tower. */
  readonly missing?: string
}

export type Linear = { readonly name: string; readonly input: number; readonly output: number; readonly attention: boolean; readonly copies: number }

/** Widths of queries and of keys (or values) of one token. */
export const widths = ({ heads, kvHeads, headDim }: Stack): { readonly q: number; readonly kv: number } => ({ q: heads * headDim, kv: kvHeads * headDim })

function attentionLinears(stack: Stack, layers: number, prefix = ''): readonly Linear[] {
  const { q, kv } = widths(stack)
  const linear = (name: string, input: number, output: number): Linear => ({ name: prefix + name, input, output, attention: true, copies: layers })
  const { latent, hidden, heads } = stack
  if (latent === undefined) return [linear('q', hidden, q), linear('k', hidden, kv), linear('v', hidden, kv), linear('o', q, hidden)]
  const perHead = latent.nopeDim + latent.ropeDim
  return [
    ...(latent.qRank === undefined
      ? [linear('q', hidden, heads * perHead)]
      : [linear('q_a', hidden, latent.qRank), linear('q', latent.qRank, heads * perHead)]),
    linear('kv_a', hidden, latent.kvRank + latent.ropeDim),
    linear('v', latent.kvRank, heads * (latent.nopeDim + latent.valueDim)),
    linear('o', heads * latent.valueDim, hidden),
  ]
}

function feedForward(hidden: number, width: number, gated: boolean, copies: number): readonly Linear[] {
  if (copies === 0 || width === 0) return []
  const up: Linear = { name: 'up', input: hidden, output: width, attention: false, copies }
  return [...(gated ? [{ ...up, name: 'gate' }] : []), up, { name: 'down', input: width, output: hidden, attention: false, copies }]
}

/** Every matrix that is multiplied with, embeddings and output aside: these are quantised, and these can bear LoRA. */
export function linearsOf(stack: Stack): readonly Linear[] {
  const { layers, hidden, intermediate, gated, experts } = stack
  const sparse = experts?.layers ?? 0
  return [
    ...attentionLinears(stack, layers),
    ...(stack.crossAttention ? attentionLinears(stack, layers, 'cross_') : []),
    ...feedForward(hidden, intermediate, gated, layers - sparse),
    ...(experts === undefined ? [] : feedForward(hidden, experts.intermediate, gated, sparse * experts.count)),
    ...(experts === undefined ? [] : feedForward(hidden, experts.shared, gated, sparse)),
  ]
}

const sizeOf = ({ input, output, copies }: Linear): number => input * output * copies

export type Counts = { readonly total: number; readonly linear: number; readonly embedding: number; readonly largestLinear: number }

export function countsOf({ stacks, vocab, hidden, tied, predictsTokens, otherEmbeddings }: Architecture): Counts {
  const linears = stacks.flatMap(linearsOf)
  const linear = linears.reduce((sum, one) => sum + sizeOf(one), 0)
  // The output matrix of a model that predicts no tokens is a few numbers.
  const embedding = vocab * hidden * (tied || !predictsTokens ? 1 : 2) + otherEmbeddings
  let small = 0
  for (const stack of stacks) {
    const norms = (stack.crossAttention ? 3 : 2) * stack.layers + 1
    small +=
      norms * stack.hidden * (stack.norm === 'layer' ? 2 : 1) + (stack.experts === undefined ? 0 : stack.experts.layers * stack.experts.count * stack.hidden)
    const { q, kv } = widths(stack)
    if (stack.bias) small += linearsOf(stack).reduce((sum, { output, copies }) => sum + output * copies, 0)
    else if (stack.qkvBias === true) small += stack.layers * (q + 2 * kv)
  }
  return { total: linear + embedding + small, linear, embedding, largestLinear: Math.max(0, ...linears.map(({ input, output }) => input * output)) }
}
