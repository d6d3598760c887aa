// PyTorch's "CUDA out of memory" (and HIP) of every generation, with its figures and the causes that they prove.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { stripPrefix } from '../../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../../joining.ts'
import { GOES_ON_WITH_LESS } from '../batch-halving.ts'
import type { FaultFamily, LogText, Recognised } from '../family.ts'
import { causeSentence, gpuName, judgeCauses, oomTitle, withoutHidden } from './causes.ts'
import { torchFigures } from './figures.ts'
import type { Situation } from '../../situation/situation.ts'
import { loadsWeights, makesOptimizer, MIG } from './less/phase.ts'
import { DUMMY_REQUESTS } from './less/vllm.ts'
import { remediesOf } from './remedies.ts'
import { overSingleLimit, singleLimitSentence } from './xpu.ts'

type CudaOom = Extract<Recognised, { readonly kind: 'cuda_oom' }>

const START =
  /\b(?:CUDA|HIP|XPU)(?:\u0020|[-_])out of memory|\bcan NOT allocate memory block with size larger than 4GB|\bOOM on device \d{1,4} while trying|\bmemory allocation failed with OOM on device/gi
const FIGURES_FOLLOW = /^[\s.:)"'!;,…-]{0,12}(?:Tried|tried) to allocate |^OOM on device/
/** Advice and descriptions speak of the message without anything having failed. */
const ADVICE =
  /\b(?:if|avoid|avoids|avoiding|prevent|prevents|in case of|fix|fixes|fixed|fixing|catch|catches|catching|may cause|might|could|risk of|potential|to handle|handles|reduces?|without) (?:[\w-]{1,20} ){0,4}(?:"|'|`)?$/i
/** nnU-Net measures how much fits. */
const MEASURED = /\bdo not worry\W{1,4}$/
const ADVICE_AFTER = /^["'`]? ?(?:errors|issues|problems|exceptions|can |may |might |could |handling|protection|guard|prevention)\b/i
/** A title in quotes within a sentence; a record or an exception has other marks before it. */
const MENTIONED_BEFORE = /\w ["'“`]$/
const MENTIONED_AFTER = /^["'”`]/
/** Where another message begins: nothing after it belongs to this one. */
const ENDS = /See documentation for Memory|Traceback \(most recent|The above exception|During handling of/
const MESSAGE_LINES = 14
const MESSAGE_LIMIT = 4_000
const PER_LINE = 8

/** vLLM says at which step, and with how many requests. */
function samplerSentence(rest: string): string | undefined {
  const requests = DUMMY_REQUESTS.exec(rest.slice(0, 200))?.[1]
  return requests === undefined
    ? undefined
    : `vLLM ran out of GPU memory while it warmed up its sampler for ${requests} requests at once (max_num_seqs): its KV cache had taken the rest of its share.`
}

type One = Omit<CudaOom, 'lines'>
/** What messages meant among the lines of the last one: a job that is restarted again and again says the same thousands of times. */
let last: { readonly situation: Situation; readonly meanings: Map<string, One> } | undefined
const MEANINGS_KEPT = 64
function meaningOf(message: string, situation: Situation, read: () => One): One {
  if (last?.situation !== situation || last.meanings.size >= MEANINGS_KEPT) last = { situation, meanings: new Map() }
  const { meanings } = last
  const one = meanings.get(message) ?? read()
  meanings.set(message, one)
  return one
}

function recogniseOne(message: string, before: string, situation: () => Situation): One | undefined {
  START.lastIndex = 0
  const start = START.exec(message)
  const warned = start !== null && /OOM/.test(start[0])
  const rest = warned ? message.slice(message.indexOf('OOM on device')) : message.slice(start?.[0].length ?? 0)
  const detailed = FIGURES_FOLLOW.test(rest)
  if (
    MEASURED.test(before) ||
    (!detailed &&
      (ADVICE.test(before) || ADVICE_AFTER.test(rest) || GOES_ON_WITH_LESS.test(rest) || (MENTIONED_BEFORE.test(before) && MENTIONED_AFTER.test(rest))))
  )
    return undefined
  return meaningOf(message, situation(), () => oomOf(rest, start?.[0], detailed, situation()))
}

/** `start`: the words that begin the message. */
function oomOf(rest: string, start: string | undefined, detailed: boolean, situation: Situation): One {
  const end = ENDS.exec(rest)
  const figures = detailed ? torchFigures(end === null ? rest : rest.slice(0, end.index)) : {}
  const sound = withoutHidden(figures)
  const judged = /^.{0,40}allocate more than 1EB/.test(rest) ? { ...judgeCauses(sound), causes: ['oversized_request' as const] } : judgeCauses(sound)
  const facts = judged.causes.length === 0 ? figures : { ...figures, causes: judged.causes }
  // The engine is known by its words, and its name may not be among them.
  const inside = situation.programs.has('sglang') && !/sglang/i.test(situation.text) ? ' (in SGLang)' : ''
  // Of memory that the GPU shares with the CPU, or a driver that counts wrongly.
  const beyond = (figures.free_bytes ?? 0) > (figures.total_bytes ?? Infinity)
  const asked =
    figures.requested_bytes === undefined
      ? `PyTorch${inside} ran out of memory on ${gpuName(figures.gpu_index)}.`
      : `PyTorch${inside} asked for ${gib(figures.requested_bytes)} on ${gpuName(figures.gpu_index)}${figures.free_bytes === undefined ? '' : figures.free_bytes === 0 ? '; nothing was free' : `; ${gib(figures.free_bytes)} was free${beyond ? ', by a count that goes beyond the card' : ''}`}.`
  const xpu = start?.startsWith('XPU') === true || start?.startsWith('can') === true
  const cause =
    xpu && overSingleLimit(figures)
      ? singleLimitSentence(figures)
      : judged.causes[0] === 'oversized_request' && makesOptimizer(situation)
        ? 'It is the state of the optimizer, which DeepSpeed makes before the first batch.'
        : judged.causes[0] === 'oversized_request' && loadsWeights(situation)
          ? "It is the memory for the model's weights, which do not fit the card."
          : causeSentence(sound, judged)
  return {
    kind: 'cuda_oom',
    severity: 'critical',
    title: oomTitle(figures.gpu_index),
    verdict: detailed
      ? `${asked} ${figures.free_bytes === undefined ? cause : cause.replace(/^[\d.]{1,9} \w{1,3} was free, so /, 'That was enough, so ').replaceAll("the card's", MIG.test(situation.text) ? "the MIG instance's" : "the card's")}`
      : (samplerSentence(rest) ?? `${asked} Cause unknown: the message carries no figures.`),
    facts,
    remedies: remediesOf(sound, judged, rest, situation),
  }
}

function recognise(text: LogText, at: number, situation: () => Situation): readonly Recognised[] | undefined {
  const joined = joinedFrom(text, at, MESSAGE_LINES)
  const own = plain(stripPrefix(text[at] ?? '')).length
  const starts: number[] = []
  START.lastIndex = 0
  for (let match = START.exec(joined); match !== null && starts.length <= PER_LINE; match = START.exec(joined)) starts.push(match.index)
  const found: Recognised[] = []
  for (const [index, start] of starts.slice(0, PER_LINE).entries()) {
    if (start > own) break
    const end = Math.min(starts[index + 1] ?? joined.length, start + MESSAGE_LIMIT)
    const one = recogniseOne(joined.slice(start, end), joined.slice(Math.max(0, start - 120), start), situation)
    if (one === undefined) continue
    const message = joined.slice(start, end)
    const last = 'requested_bytes' in one.facts ? Math.min(end, start + figuresEnd(message)) : start
    found.push({ ...one, lines: linesCovered(text, at, last) })
  }
  return found.length === 0 ? undefined : found
}

/** Where the last figure of a message ends. */
function figuresEnd(message: string): number {
  const tail = Math.max(
    ...['unallocated', 'by PyTorch', 'memory in use', 'is free', 'reserved', 'to allocate'].map((words) => message.lastIndexOf(words) + words.length),
  )
  return Math.min(tail, message.length)
}

export const cudaOomTorch: FaultFamily = {
  id: 'cuda-oom-torch',
  kinds: ['cuda_oom'],
  literals: [
    'CUDA out of memory',
    'CUDA Out of Memory',
    'CUDA Out Of Memory',
    'HIP out of memory',
    'XPU out of memory',
    'CUDA OUT OF MEMORY',
    'cuda out of memory',
    'OOM on device ',
    'can NOT allocate memory block',
    'memory allocation failed with',
  ],
  recognise,
}
