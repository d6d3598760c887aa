// A family from a table of one-line messages about GPU memory, each with the figures that it states.
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Severity } from '../../../model/severity.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { stripPrefix } from '../../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../../joining.ts'
import { speaker } from '../../situation/programs.ts'
import type { Situation } from '../../situation/situation.ts'
import type { FaultFamily, LogText, Recognised } from '../family.ts'
import { gpuName, judgeCauses, oomTitle } from './causes.ts'
import { plan, type Piece } from '../remedies/plan.ts'
import { whoHolds } from '../remedies/gpu.ts'
import { bufferIn, IMPOSSIBLE, projected } from './less/ggml.ts'
import { lessMemory } from './less/index.ts'
import { partlyLoaded } from './less/others.ts'

export type MemoryRule = {
  /** On the message joined with the next lines; begins in the line that was hit. */
  readonly pattern: RegExp
  /** Who says it: "TensorFlow"; undefined where any program may. */
  readonly who?: string
  readonly facts?: (match: RegExpExecArray, message: string) => Facts
  /** True where the message is harmless. */
  readonly unless?: RegExp
  /** True where the lines around say that it is no matter of the GPU. */
  readonly elsewhere?: (text: LogText, at: number) => boolean
  /** True where the text shows that host memory was refused. */
  readonly ofHost?: (situation: Situation) => boolean
  /** Critical, where nothing else is said. */
  readonly severity?: (situation: Situation) => Severity
  /** Instead of "asked for … and did not get it". */
  readonly verdict?: string | ((facts: Facts, situation: Situation) => string)
  /** Less memory for the program that speaks, then who holds the card, where nothing else is said. */
  readonly remedies?: (situation: Situation, facts: Facts) => readonly Piece[]
  /** Instead of "out of GPU memory". */
  readonly title?: string
  /** Whoever says it asks for less, line by line, until it gets some: one failure, with the largest request. */
  readonly backsOff?: boolean
  /** Where the message itself proves it. */
  readonly causes?: readonly OomCause[]
}

const LINES = 5
const MESSAGE = 1_600
/** What is before may name the allocator, and with it the GPU. */
const BEFORE = 60

/** Tries of one request stand closely together. */
const TRIES = 40
function largestTry(rule: MemoryRule, text: LogText, at: number, own: Facts): Facts {
  if (rule.backsOff !== true) return own
  return text.slice(Math.max(0, at - TRIES), at).reduce<Facts>((largest, line) => {
    const match = rule.pattern.exec(line)
    const facts = match === null ? undefined : rule.facts?.(match, line)
    return facts !== undefined && facts.gpu_index === own.gpu_index && (facts.requested_bytes ?? 0) > (largest.requested_bytes ?? 0) ? facts : largest
  }, own)
}

export const whoSpeaks = (situation: Situation): string =>
  speaker(situation.programs, 'pytorch') ?? (situation.programs.has('pytorch') ? 'PyTorch' : 'The program')

/** What llama.cpp wanted the memory for: the lines behind name it. */
const USES = { compute: ' for its compute buffers', cache: ' for the KV cache', model: '' } as const

/** Of Triton Inference Server: model_lifecycle.cc. */
const LOADED_BY_TRITON = /\bfailed to load '([\w.-]{1,80})' version \d/

function verdictOf(rule: MemoryRule, facts: Facts, situation: Situation): string {
  if (typeof rule.verdict === 'string') return rule.verdict
  if (rule.verdict !== undefined) return rule.verdict(facts, situation)
  const { requested_bytes: asked, allocated_bytes: held } = facts
  const where = gpuName(facts.gpu_index)
  // Ollama runs llama.cpp.
  const who = rule.who === 'llama.cpp' && situation.programs.has('ollama') ? 'Ollama' : (rule.who ?? whoSpeaks(situation))
  const use = rule.who === 'llama.cpp' && asked !== undefined ? USES[bufferIn(situation.text) ?? 'model'] : ''
  const model = LOADED_BY_TRITON.exec(situation.text)?.[1]
  const head = `${who} could not allocate ${asked === undefined ? 'memory' : gib(asked)}${use} on ${where}${model === undefined ? '' : ` when Triton loaded the model ${model}`}`
  if (asked !== undefined && asked > IMPOSSIBLE)
    return `${head}: no GPU has that much. Likely a setting that is too large, such as the context length or the batch.`
  return `${head}${facts.free_bytes === undefined ? '' : `; ${gib(facts.free_bytes)} was free`}${held === undefined ? '' : `; ${gib(held)} is allocated already`}. ${asked === undefined ? (partlyLoaded(situation) ?? 'Cause unknown: the message carries no figures.') : held !== undefined ? '' : (facts.free_bytes ?? 0) > 1.5 * asked ? 'That was enough when it counted, so the card was not full then: memory came free meanwhile, or a limit of the driver or the host refused.' : ((rule.who === 'llama.cpp' ? projected(situation.text) : undefined) ?? 'What else holds the card is not in the message.')}`.trimEnd()
}

export function memoryFamily(id: string, literals: readonly string[], rules: readonly MemoryRule[]): FaultFamily {
  const recognise = (text: LogText, at: number, situation: () => Situation): Recognised | undefined => {
    const joined = joinedFrom(text, at, LINES)
    const own = plain(stripPrefix(text[at] ?? '')).length
    for (const rule of rules) {
      const match = rule.pattern.exec(joined)
      if (match === null || match.index > own) continue
      const message = joined.slice(match.index, match.index + MESSAGE)
      if (rule.unless?.test(message) === true || rule.elsewhere?.(text, at) === true) return undefined
      const stated = rule.facts?.(match, joined.slice(Math.max(0, match.index - BEFORE), match.index + MESSAGE)) ?? {}
      const figures = largestTry(rule, text, at, stated)
      const judged = judgeCauses(figures)
      const causes = rule.causes ?? judged.causes
      const ofHost = rule.ofHost?.(situation()) === true
      return {
        kind: ofHost ? 'host_memory' : 'cuda_oom',
        severity: rule.severity?.(situation()) ?? 'critical',
        title: ofHost ? 'Out of host memory' : (rule.title ?? oomTitle(figures.gpu_index)),
        verdict: verdictOf(rule, figures, situation()),
        facts: causes.length === 0 ? figures : { ...figures, causes },
        remedies: rule.remedies === undefined ? plan(lessMemory(situation(), figures), whoHolds(situation())) : plan(rule.remedies(situation(), figures)),
        lines: linesCovered(text, at, match.index + match[0].length),
      }
    }
    return undefined
  }
  return { id, kinds: rules.some((rule) => rule.ofHost !== undefined) ? ['cuda_oom', 'host_memory'] : ['cuda_oom'], literals, recognise }
}
