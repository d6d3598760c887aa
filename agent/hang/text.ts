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
  code: 'is elsewhere',
  unknown: 'did not join',
}
/** A process that nobody waits for is nowhere "elsewhere". */
const stuckText = (does: Doing): string => (does === 'code' || does === 'unknown' ? 'does not go on' : DOES[does])
const CAUSE: Readonly<Record<Cause, (many: boolean) => string>> = {
  missing: () => '',
  stuck: () => '',
  mismatch: (many) => `${many ? 'call' : 'calls'} another collective than the others, or the same with another size or type`,
  order: (many) => `${many ? 'call' : 'calls'} collectives in another order than the others`,
  dead: (many) => `ended, the others wait for ${many ? 'them' : 'it'}`,
  left_early: (many) => `${many ? 'wait' : 'waits'} at another line than all others, probably after fewer batches`,
  exception: () => 'failed with an exception, the others wait',
  kernel: (many) => `${many ? 'have' : 'has'} a GPU kernel that does not end`,
  transport: () => '',
  straggler: (many) => `${many ? 'are' : 'is'} slower than the others`,
  slow_phase: (many) => `${many ? 'work' : 'works'} alone while the others wait`,
  late: () => 'joined only after the others had given up',
  none: () => '',
}

export const clock = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(11, 19)} UTC`
const rootText = ({ root }: Answer): string =>
  root === undefined ? '' : `${root.op} ${root.seq} of group ${root.desc === '' ? root.group : `${root.desc} (${root.group})`}`

/** A job of one process has no ranks that anybody knows. */
function whoText({ ranks }: Evidence, culprits: readonly number[]): string {
  const [only, ...others] = ranks.values()
  return only?.pid !== undefined && others.length === 0 && culprits.length === 1 ? `process ${only.pid}` : ranksText(culprits)
}

/** A single process: what it does and where, without a judgement. */
function ofOne(evidence: Evidence, { stands, doing, cause }: Answer): string | undefined {
  if (cause !== 'none') return undefined
  const [me, ...others] = evidence.ranks.values()
  const at = me === undefined ? undefined : stands.get(me.rank)
  if (me === undefined || at === undefined || others.length > 0) return undefined
  const does = doing.get(me.rank) ?? 'unknown'
  const what = does === 'code' || does === 'unknown' ? 'stands' : DOES[does]
  return `${me.pid === undefined ? `Rank ${me.rank}` : `Process ${me.pid}`} ${me.still === false ? 'runs' : what}, at ${placeText(at)} in ${at.function}.`
}

export function headline(evidence: Evidence, answer: Answer): string {
  const alone = ofOne(evidence, answer)
  if (alone !== undefined) return alone
  const { verdict, cause, culprits, doing, stands, root } = answer
  if (verdict === 'healthy') return 'No hang: nothing shows that the job stands still.'
  const begun = root?.since ?? evidence.silence?.since
  const since = begun !== undefined && begun > EPOCH ? ` since ${clock(begun)}` : ''
  const state = {
    hang: `Hang${since}`,
    straggler: 'Slow',
    slow_phase: 'Long phase, no hang',
    unknown: 'Unknown whether it hangs',
    resumed: 'Stood still, goes on again',
    healthy: '',
  }[verdict]
  // Of a disagreement the call counts, not where the rank waits now.
  const [site] = answer.callSites
  const at = site?.at ?? culprits.flatMap((rank) => stands.get(rank) ?? [])[0]
  const where = at === undefined ? '' : `, at ${placeText(at)} in ${at.function}`
  if (culprits.length === 0) {
    if (cause === 'mismatch') return `${state}: ranks disagree about ${rootText(answer)}; which side is wrong cannot be told.`
    return root === undefined
      ? `${state}: all ranks wait; who disagrees or is missing is not in the evidence.`
      : `${state}: all ranks joined ${rootText(answer)} and none finishes it: the transport between them.`
  }
  const many = culprits.length > 1
  const what =
    cause === 'missing' || cause === 'stuck' || cause === 'slow_phase'
      ? andList([...new Set(culprits.map((rank) => (cause === 'stuck' ? stuckText : (does: Doing) => DOES[does])(doing.get(rank) ?? 'unknown')))])
      : CAUSE[cause](many)
  const missing = cause === 'missing' && root !== undefined ? `; the others wait for ${many ? 'them' : 'it'} in ${rootText(answer)}` : ''
  return `${state}: ${whoText(evidence, culprits)} ${what}${where}${missing}.`
}
