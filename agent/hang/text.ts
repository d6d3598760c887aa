// The answer about a hung job as one sentence: who holds it up, what it does instead, where, and since when.
import { andList } from '../text/grammar.ts'
import type { Answer, Cause, Doing, Evidence, Frame } from './model.ts'

/** Before, a time is one within its year, from a log without years. */
export const EPOCH = 1_000_000_000

export const ranksText = (ranks: readonly number[]): string =>
  ranks.length === 1
    ? `Rank ${ranks[0] ?? ''}`
    : `Ranks ${ranks.length > 12 ? `${ranks.slice(0, 12).join(', ')} and ${ranks.length - 12} more` : andList(ranks.map(String))}`
export const placeText = ({ file, line }: Frame): string => `${file}:${line}`

export const DOES: Readonly<Record<Doing, string>> = {
  data: 'waits for data',
  lock: 'waits for a lock',
  input: 'waits for input from a terminal',
  file: 'waits for a file system',
  network: 'waits for the network',
  requests: 'waits for requests in an event loop',
  child: 'waits for a program that it started',
  sleep: 'sleeps',
  gil: 'is in a C extension that keeps the GIL',
  loop: 'computes on the CPU without end',
  stopped: 'is stopped by a signal',
  teardown: 'is in its clean-up',
  save: 'saves',
  compile: 'compiles',
  evaluate: 'evaluates',
  prepare: 'prepares data',
  code: 'is in its own code',
  unknown: 'did not join',
}
/** The same of several: `wait for a lock`. */
const manyDo = (does: string): string =>
  does
    .replace(/^is\b/, 'are')
    .replace(/^does\b/, 'do')
    .replace(/^(wait|sleep|compute|save|compile|evaluate|prepare)s\b/, '$1')
    .replace('that it started', 'that they started')
    .replace('in its ', 'in their ')
/** A process that nobody waits for is nowhere "elsewhere". */
const stuckText = (does: Doing): string => (does === 'code' || does === 'unknown' ? 'does not go on' : DOES[does])
const CAUSE: Readonly<Record<Exclude<Cause, 'missing' | 'stuck' | 'transport' | 'none'>, (many: boolean) => string>> = {
  mismatch: (many) => `${many ? 'call' : 'calls'} another collective than the others, or the same with another size or type`,
  order: (many) => `${many ? 'call' : 'calls'} collectives in another order than the others`,
  dead: () => 'ended',
  left_early: (many) => `${many ? 'wait' : 'waits'} at another line than all others, probably after fewer batches`,
  exception: () => 'failed with an exception',
  kernel: (many) => `${many ? 'have' : 'has'} a GPU kernel that does not end`,
  straggler: (many) => `${many ? 'are' : 'is'} slower than the others`,
  slow_phase: (many) => `${many ? 'work' : 'works'} alone`,
  late: () => 'joined only after the others had given up',
}
/** Where the stack of a moment says nothing about the cause. */
const WITHOUT_PLACE: ReadonlySet<Cause> = new Set(['kernel', 'straggler', 'dead'])
const WAITED_FOR: ReadonlySet<Cause> = new Set(['missing', 'slow_phase', 'exception', 'dead'])

export function clock(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(11, 19)} UTC`
}
const rootText = ({ root }: Answer): string =>
  root === undefined ? '' : `${root.op} ${root.seq} of group ${root.desc === '' ? root.group : `${root.desc} (${root.group})`}`

/** With its GPU, and with its host where there are several. A job of one process has no ranks that anybody knows. */
function whoText({ ranks }: Evidence, culprits: readonly number[]): string {
  const [only, ...others] = ranks.values()
  if (only?.pid !== undefined && others.length === 0 && culprits.length === 1) return `process ${only.pid}`
  const [me, ...more] = culprits.flatMap((rank) => ranks.get(rank) ?? [])
  if (me?.gpu === undefined || more.length > 0 || culprits.length > 1) return ranksText(culprits)
  const hosts = new Set([...ranks.values()].flatMap(({ host }) => host ?? []))
  return `${ranksText(culprits)} (GPU ${me.gpu}${hosts.size > 1 && me.host !== undefined ? ` on ${me.host}` : ''})`
}

/** A single process: what it does and where, without a judgement. */
function ofOne(evidence: Evidence, { stands, doing, cause }: Answer): string | undefined {
  if (cause !== 'none') return undefined
  const [me, ...others] = evidence.ranks.values()
  const at = me === undefined ? undefined : stands.get(me.rank)
  if (me === undefined || at === undefined || others.length > 0) return undefined
  const does = doing.get(me.rank) ?? 'unknown'
  // A look of some seconds does not show whether it ends.
  const what = does === 'code' || does === 'unknown' ? 'is' : `${does === 'loop' ? 'computes on the CPU' : DOES[does]},`
  return `${me.pid === undefined ? `Rank ${me.rank}` : `Process ${me.pid}`} ${me.still === false ? 'runs,' : what} at ${placeText(at)} in ${at.function}.`
}

export function headline(evidence: Evidence, answer: Answer): string {
  const alone = ofOne(evidence, answer)
  if (alone !== undefined) return alone
  const { verdict, culprits, root } = answer
  if (verdict === 'healthy') return 'No hang: nothing shows that the job is stuck.'
  const begun = root?.since ?? evidence.silence?.since
  const since = begun !== undefined && begun > EPOCH ? ` since ${clock(begun)}` : ''
  const state = {
    hang: `Hang${since}`,
    straggler: 'Slow',
    slow_phase: 'Long phase, no hang',
    unknown: 'Unknown whether it hangs',
    resumed: 'Was stuck, goes on again',
    healthy: '',
  }[verdict]
  if (culprits.length === 0) return `${state}: ${nobodyText(answer)}.`
  if (verdict === 'slow_phase' && answer.cause === 'straggler') return `No hang: ${whoText(evidence, culprits)} ${lastToJoin(culprits)}.`
  return `${state}: ${whoText(evidence, culprits)} ${disagreement(answer) ?? whatText(evidence, answer)}.`
}

const lastToJoin = (culprits: readonly number[]): string =>
  `${culprits.length > 1 ? 'compute' : 'computes'} while the GPUs of all others wait; seen once, so ${culprits.length > 1 ? 'they may' : 'it may'} be slower or only the last to join`

function nobodyText(answer: Answer): string {
  if (answer.cause === 'stuck')
    return `all ranks that are seen are stuck${atText([...answer.stands.values()][0])}, and may wait for ranks on other hosts, which are not seen`
  const place = answer.root === undefined ? 'a collective' : rootText(answer)
  if (answer.cause === 'missing') return `ranks wait in ${place}; the evidence does not say which of the others did not join`
  if (answer.cause === 'order') return `ranks wait for each other, first in ${place}; the evidence does not show which of them broke the order`
  if (answer.cause === 'mismatch')
    return answer.root === undefined
      ? 'ranks disagree in a collective; the evidence does not say which of them is wrong'
      : `ranks disagree about ${rootText(answer)}; the evidence does not say which of them is wrong`
  return answer.root === undefined
    ? 'all ranks wait in collectives; the evidence does not say which of them is missing or disagrees'
    : answer.verdict === 'unknown'
      ? `all its ranks joined ${rootText(answer)} and had not finished it at that moment`
      : `all its ranks joined ${rootText(answer)} and none finishes it, most likely because of the connection between them`
}

const atText = (at: Frame | undefined): string => (at === undefined ? '' : ` at ${placeText(at)} in ${at.function}`)

/** Both calls, where both are known. */
function disagreement({ cause, culprits, callSites }: Answer): string | undefined {
  const [mine, ...rest] = callSites
  const [theirs] = rest.filter(({ ranks }) => !ranks.some((rank) => culprits.includes(rank))).toSorted((a, b) => b.ranks.length - a.ranks.length)
  if ((cause !== 'mismatch' && cause !== 'order') || mine === undefined || theirs === undefined || !mine.ranks.some((rank) => culprits.includes(rank)))
    return undefined
  return `${culprits.length > 1 ? 'call' : 'calls'} ${mine.what}${atText(mine.at)}; the others call ${theirs.what}${atText(theirs.at)}`
}

function whatText({ ranks }: Evidence, answer: Answer): string {
  const { cause, culprits, doing, stands, root } = answer
  const many = culprits.length > 1
  const doings = [...new Set(culprits.map((rank) => doing.get(rank) ?? 'unknown'))]
  const vague = doings.every((does) => does === 'code' || does === 'unknown')
  const exits = [...new Set(culprits.flatMap((rank) => ranks.get(rank)?.exit ?? []))]
  const at = WITHOUT_PLACE.has(cause) ? undefined : culprits.flatMap((rank) => stands.get(rank) ?? [])[0]
  const listed = (texts: readonly string[]): string => andList(many ? texts.map(manyDo) : texts)
  const what =
    cause === 'stuck'
      ? listed(doings.map(stuckText))
      : cause === 'missing' || cause === 'transport' || cause === 'none' || (cause === 'slow_phase' && !vague)
        ? listed(doings.map((does) => DOES[does]))
        : `${CAUSE[cause](many)}${cause === 'dead' && exits.length > 0 ? ` (${exits.join(', ')})` : ''}`
  const place = at === undefined ? '' : cause === 'exception' ? ` and now ${many ? 'are' : 'is'}${atText(at)}` : `,${atText(at)}`
  const waits = !WAITED_FOR.has(cause) || (cause === 'missing' && root === undefined) ? '' : `; the others wait for ${many ? 'them' : 'it'}`
  return `${what}${place}${waits}${waits === '' || root === undefined ? '' : ` in ${rootText(answer)}`}`
}
