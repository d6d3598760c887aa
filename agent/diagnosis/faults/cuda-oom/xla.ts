// TensorFlow, JAX and XLA without GPU memory: BFC allocator, stream executor, RESOURCE_EXHAUSTED.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Facts } from '../../../model/facts.ts'
import type { Situation } from '../../situation/situation.ts'
import { bytesOf, integerIn, SIZE } from '../quantity.ts'
import { setVariables } from '../remedies/environment.ts'
import { whoHolds } from '../remedies/gpu.ts'
import type { Piece } from '../remedies/plan.ts'
import { gpuName } from './causes.ts'
import { lessAnyway, lessInFolding } from './less/others.ts'
import { lessInJax, lessInTensorflow, needed } from './less/xla.ts'
import { IMPOSSIBLE } from './less/ggml.ts'
import { memoryFamily } from './rules.ts'
import { nodeOnCpu } from '../parts/tensorflow-node.ts'
import { known } from '../parts/window.ts'

/** Both print XLA's and the allocator's sentences; the text tells which one runs. */
const speaker = (situation: Situation): string => (situation.programs.has('jax') ? 'JAX' : situation.programs.has('tensorflow') ? 'TensorFlow' : 'The program')
const isJax = (situation: Situation): boolean => situation.programs.has('jax')
const less = (situation: Situation, asked = 0): readonly Piece[] =>
  situation.programs.has('esmfold')
    ? lessInFolding(situation)
    : isJax(situation)
      ? lessInJax(situation, false, Math.max(asked, needed(situation.text) ?? 0))
      : situation.programs.has('tensorflow')
        ? lessInTensorflow(situation)
        : lessAnyway(situation)
const WRONG_SIZE: Piece = {
  text: 'Look for the array of that size, such as a full matrix of all pairs, and compute it in pieces.',
}
/** It requests nearly all the memory that the driver reports. */
const WRONG_MEMORY: Piece = {
  text: 'It requests more memory than any GPU has: try a release that was built for the installed driver.',
}
/** So little fails only where the card was full before. */
const LITTLE = 64 * 2 ** 20
/** "Limit: 3157432729" of the allocator's statistics, where it is less than what was asked for at once. */
function beyondLimit({ text }: Situation, asked: number | undefined): number | undefined {
  const limit = Number(/^(?:.{0,120}\] ?)?Limit: {1,30}(\d{6,15})\s*$/m.exec(text)?.[1])
  return asked !== undefined && asked > limit ? limit : undefined
}
const beyond = (situation: Situation, bytes: number | undefined): string => {
  const limit = beyondLimit(situation, bytes)
  return limit === undefined ? '' : ` That is more than the ${gib(limit)} which its allocator may use in all, so it cannot fit, whatever else is on the GPU.`
}
/** "InUse: 9952463872" beside the limit. */
function heldOf({ text }: Situation): string {
  const [limit, held] = ['Limit', 'InUse'].map((name) => Number(new RegExp(`^(?:.{0,120}\\] ?)?${name}: {1,30}(\\d{6,15})\\s*$`, 'm').exec(text)?.[1]))
  return limit === undefined || held === undefined || !(held <= limit) ? '' : ` Its allocator may use ${gib(limit)}, of which ${gib(held)} was in use.`
}
/** The node of an optimizer, whose tensors have the size of the weights. */
const OF_OPTIMIZER = /(?:\[\[\s?(?:Node: ?|\{\{node )|node )[\w./]{0,80}\/?(?:Adam|RMSProp|Adagrad|Adadelta|Momentum|Ftrl|SGD)\w{0,12}\//
const inOptimizer = (situation: Situation): Piece =>
  OF_OPTIMIZER.test(situation.text) && {
    text: 'It failed in the step of the optimizer: that tensor has the size of a weight and not of the batch. Make the largest layer smaller (mostly a vocabulary), or use an optimizer that keeps less beside each weight (SGD, Adafactor).',
  }
const ownNeed = (situation: Situation, { requested_bytes: asked }: Facts): readonly Piece[] =>
  (asked !== undefined && asked > IMPOSSIBLE) || beyondLimit(situation, asked) !== undefined
    ? [WRONG_SIZE, less(situation).slice(0, 1)]
    : asked !== undefined && asked < LITTLE
      ? [whoHolds(situation), isJax(situation) ? lessInJax(situation, true) : less(situation)]
      : [less(situation, asked), whoHolds(situation)]
/** The first large request fails: another process was on the card before. */
const taken = (situation: Situation, { requested_bytes: asked }: Facts): readonly Piece[] =>
  asked !== undefined && asked > IMPOSSIBLE ? [WRONG_MEMORY, whoHolds(situation)] : [whoHolds(situation), less(situation, asked)]
const asked =
  (what = 'memory') =>
  (facts: Facts, situation: Situation): string => {
    const need = needed(situation.text)
    const amount = facts.requested_bytes === undefined ? what : gib(facts.requested_bytes)
    if ((facts.requested_bytes ?? 0) > IMPOSSIBLE)
      return `${speaker(situation)} could not allocate ${amount} on ${gpuName(facts.gpu_index)}: no GPU has that much. Likely a wrong shape or size.`
    const of = /executable_name='(?:jit_)?(\w{1,60})'/.exec(situation.text)?.[1]
    return `${speaker(situation)} could not allocate ${amount} on ${gpuName(facts.gpu_index)}${of === undefined ? '' : ` for the compiled function ${of}`}.${need === undefined ? '' : ` XLA computed that the program needs ${gib(need)}.`}${beyond(situation, facts.requested_bytes)}`
  }
const tensors = (situation: Situation): readonly string[] =>
  [...new Set([...situation.text.matchAll(/tensor (?:with|of) shape ?(\[[\d,\s]{0,120}\])/g)].map((match) => match[1] ?? ''))].slice(0, 3)
/** The operation of the graph that asked, where only one tensor did not fit. */
function nodeNamed(situation: Situation): string {
  const found = /\{\{node ([\w./-]{1,160})\}\}|\[\[Node: ([\w./-]{1,160}) = |Detected at node '([\w./-]{1,160})'/.exec(situation.text)
  const name = found?.slice(1).find((one) => one !== undefined)
  return name === undefined || tensors(situation).length !== 1 ? '' : `, for the node ${name}`
}
const BYTES: Readonly<Record<string, number>> = { double: 8, int64: 8, float: 4, int32: 4, half: 2, bfloat16: 2, bool: 1, uint8: 1 }
/** Of the first tensor, where its type is given. */
function tensorBytes({ text }: Situation): number | undefined {
  const [, shape, type, older] = /tensor (?:with|of) shape ?\[([\d,\s]{1,120})\](?: and type (\w{1,12})|[^]{0,400}?\bT=DT_(\w{1,12}))?/.exec(text) ?? []
  const bytes = BYTES[(type ?? older ?? '').toLowerCase()]
  return shape === undefined || bytes === undefined ? undefined : shape.split(',').reduce((size, each) => size * Number(each), bytes)
}
function sizeOf(situation: Situation): string {
  const bytes = tensorBytes(situation)
  return bytes === undefined ? '' : ` (${gib(bytes)})`
}
/** Elements of 8 bytes at most: even so much is little. */
const isLittle = (shape: string): boolean => 8 * (shape.match(/\d+/g) ?? []).reduce((size, each) => size * Number(each), 1) < LITTLE
/** What layers make of a batch: its first dimension counts the samples. Kernels of convolutions begin with two equal ones. */
const ofBatch = (shape: string): boolean => {
  const [samples = 1, next, ...rest] = (shape.match(/\d+/g) ?? []).map(Number)
  return samples > 1 && samples !== next && rest.length > 0
}
const ofTensor = (situation: Situation, facts: Facts): readonly Piece[] => {
  const bytes = facts.requested_bytes ?? tensorBytes(situation)
  // TensorFlow took the card when it started: what no longer fits beside the rest of a batch is its own.
  const asked = tensors(situation).every(ofBatch) ? (bytes === undefined ? undefined : Math.max(bytes, LITTLE)) : tensors(situation).every(isLittle) ? 0 : bytes
  return [inOptimizer(situation), ...ownNeed(situation, known({ ...facts, requested_bytes: asked }))]
}

const GPU_OF_ALLOCATOR = /\bGPU_(\d{1,4})_bfc\b|(?:device:|task:\d{1,4}\/)GPU:(\d{1,4})\b|device ordinal:? (\d{1,4})\b/i
function gpuOf(message: string): number | undefined {
  const match = GPU_OF_ALLOCATOR.exec(message)
  const digits = match?.[1] ?? match?.[2] ?? match?.[3]
  return digits === undefined ? undefined : Number(digits)
}
/** Exact bytes where they are given beside the rounded amount. */
const requested = (amount: string | undefined, unit: string | undefined, exact: string | undefined): number | undefined =>
  bytesOf(exact, '') ?? bytesOf(amount, unit)
/** Of this message, not of a warning below it. */
const HARMLESS = /^(?:(?! W (?:external|tensorflow)\/)[^]){0,1600}?(?:this is not a failure|by allocator cpu|device:CPU:\d|host allocator|NPU|\bTPU\b)/

export const cudaOomXla = memoryFamily(
  'cuda-oom-xla',
  [
    'ran out of memory trying to allocate',
    'failed to allocate ',
    'OOM when allocating tensor',
    'Out of memory while trying to allocate',
    'Out of memory allocating ',
    'Failed to allocate request for ',
    'bytes for new constant',
    'failed initializing StreamExecutor',
    'RESOURCE_EXHAUSTED: Out of memory',
    'ResourceExhaustedError: Out of memory',
  ],
  [
    {
      pattern: new RegExp(`ran out of memory trying to allocate ${SIZE}(?: \\(rounded to (\\d{1,18})\\))?`),
      verdict: asked(),
      unless: HARMLESS,
      facts: ([, amount, unit, exact], message) =>
        known({ requested_bytes: requested(amount, unit, exact), gpu_index: gpuOf(message.slice(0, 300)) ?? undefined }),
      remedies: ownNeed,
    },
    {
      pattern: new RegExp(
        `failed to allocate ${SIZE} \\((\\d{1,18}) bytes\\) from device: (?:CUDA_ERROR_OUT_OF_MEMORY|RESOURCE_EXHAUSTED|HIP_ERROR_OutOfMemory|hipErrorOutOfMemory)`,
      ),
      verdict: asked(),
      facts: ([, amount, unit, exact], message) => known({ requested_bytes: requested(amount, unit, exact), gpu_index: gpuOf(message.slice(0, 300)) }),
      backsOff: true,
      remedies: taken,
    },
    {
      // XLA's allocator on CUDA's own pool; with what the driver says of the card in the next line.
      pattern: /cuMemAllocAsync failed to allocate (\d{1,18}) bytes/,
      verdict: asked(),
      facts: ([, bytes], message) => {
        const [, free, total] = /Free memory\/Total memory: (\d{1,18})\/(\d{1,18})/.exec(message) ?? []
        return known({
          requested_bytes: bytesOf(bytes, ''),
          gpu_index: integerIn(message.slice(0, 200), /gpu_async_(\d{1,3}) /),
          free_bytes: free === undefined ? undefined : bytesOf(free, ''),
          total_bytes: total === undefined ? undefined : bytesOf(total, ''),
        })
      },
      remedies: ownNeed,
    },
    {
      pattern: /OOM when allocating tensor (?:with|of) shape ?\[[\d,\s]{0,120}\]/,
      verdict: (facts, situation) =>
        `TensorFlow could not allocate a tensor of shape ${tensors(situation).join(', ')}${sizeOf(situation)} on ${gpuName(facts.gpu_index)}${nodeNamed(situation)}.${tensors(situation).every(isLittle) ? ' So little fails only where the memory is full already.' : beyond(situation, tensorBytes(situation)) || heldOf(situation)}`,
      unless: HARMLESS,
      elsewhere: nodeOnCpu,
      facts: (_, message) => known({ gpu_index: gpuOf(message.slice(0, 300)) }),
      remedies: ofTensor,
    },
    {
      pattern: new RegExp(`Out of memory (?:while trying to allocate|allocating) ${SIZE}`, 'i'),
      verdict: asked(),
      unless: HARMLESS,
      facts: ([, amount, unit], message) =>
        known({ requested_bytes: bytesOf(amount, unit), gpu_index: gpuOf(message.slice(0, 300)), allocated_bytes: undefined }),
      remedies: ownNeed,
    },
    {
      pattern: new RegExp(`Failed to allocate request for ${SIZE}(?: \\((\\d{1,18})B\\))?(?: on device ordinal (\\d{1,4}))?`),
      verdict: asked(),
      unless: HARMLESS,
      facts: ([, amount, unit, exact, device]) =>
        known({ requested_bytes: requested(amount, unit, exact), gpu_index: device === undefined ? undefined : Number(device) }),
      remedies: ownNeed,
    },
    {
      pattern: /failed initializing StreamExecutor for CUDA device ordinal (\d{1,4}).{0,160}CUDA_ERROR_OUT_OF_MEMORY/,
      facts: (_, message) => known({ gpu_index: integerIn(message, /device ordinal (\d{1,4})/) }),
      verdict: (_, situation) =>
        `${speaker(situation)} could not open the GPU: no memory was left even for its context. Another process holds nearly all of the card.`,
      // Not even a context fits: nothing that the program does is too large.
      remedies: (situation) => [
        whoHolds(situation),
        {
          text: 'Wait for that process, stop it, or take another GPU: on a cluster the one that the scheduler gave to the job.',
          command: setVariables(situation, { CUDA_VISIBLE_DEVICES: '<GPU>' }),
        },
      ],
    },
    {
      pattern: /[Ff]ailed to allocate (\d{1,18}) bytes for new constant/,
      verdict: asked(),
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
      remedies: ownNeed,
    },
    {
      pattern: /(?:RESOURCE_EXHAUSTED|Resource exhausted|ResourceExhaustedError): {1,3}failed to allocate memory/,
      verdict: asked(),
      unless: HARMLESS,
      remedies: ownNeed,
    },
    { pattern: /(?:RESOURCE_EXHAUSTED|ResourceExhaustedError): Out of memory/, verdict: asked(), unless: HARMLESS, remedies: ownNeed },
  ],
)
