// Lines by which a scheduler, the platform or a person ends a job: Slurm, PBS, LSF, Kubernetes, clouds, `timeout`, Ctrl-C.
import type { Facts } from '../../../model/facts.ts'
import type { LogKind } from '../../../model/kinds.ts'
import type { ReadLine } from '../../traceback/line.ts'
import type { Found } from '../evidence.ts'
import { signalName } from '../signals.ts'
import { PLATFORM_MAY, PLATFORM_RULES, type OrderRule } from './platforms.ts'
import { SUPPOSED } from './prose.ts'

/** Slurm wraps it over two lines at times, or glues it behind a bar. */
const SLURM = /\*{3} (?:JOB|STEP) (\d{1,12})(?:\.\w{1,12})?(?:\+\d{1,6})? ON (\S{1,120}) CANCELLED AT (\S{1,40})(?: DUE [Tt][Oo] ([A-Za-z ]{3,40}))?/

const signalled = (match: RegExpExecArray): Facts => {
  const signal = signalName(match.slice(1).find((group) => group !== undefined))
  return signal === undefined ? {} : { signal }
}
const RULES: readonly OrderRule[] = [
  {
    pattern:
      /=>> PBS: job killed: walltime \d{1,10} exceeded limit|\bTERM_RUNLIMIT\b|^(?:MOAB_INFO: {1,4})?[Jj]ob exceeded (?:its )?(?:walltime|wallclock) limit\b|job reached run time limit|CPU time limit exceeded|DUE TO TIME LIMIT/,
    kind: 'time_limit',
  },
  { pattern: /"?[Rr]eason"?: {1,20}"?DeadlineExceeded\b|was active (?:on the node )?longer than (?:the )?specified deadline/, kind: 'time_limit' },
  {
    pattern:
      /\b(?:due to|because of) (?:its |the )?(?:wall[- ]?(?:clock|time)|run ?time) limit\b|\b(?:exceed(?:s|ed|ing)|ran over|reached|hit) (?:its |the )?(?:max(?:imum)? |requested |allowed )?(?:wall[- ]?(?:clock|time)(?: time)?|run ?time) limit\b/i,
    kind: 'time_limit',
    worded: true,
  },
  { pattern: /^timeout: sending signal (\w{2,8}) to command/, kind: 'time_limit', facts: signalled },
  {
    pattern: /"?[Rr]eason"?: {1,20}"?(?:Preempt(?:ed|ing)|PreemptionByScheduler)\b|\bPreempted by (?:pod|a pod|[\w-]{1,60}\/)|DUE TO PREEMPTION/,
    kind: 'preempted',
  },
  {
    pattern:
      /[Ss]pot (?:[Ii]nstance )?(?:[Ii]nterruption|termination) notice|instance-action.{0,40}terminate|compute\.instances\.preempted|(?<!happen if [^\n]{0,120})(?:[Ii]nstance|[Nn]ode|VM|machine) (?:\S{1,80} )?(?:is being|was|has been|will be) (?:pre-?empted|reclaimed)|\b[Nn]odes of this job (?:got|were) pre-?empted\b|\b[Pp]re-?emption warning signal\b|\binstance-terminated-(?:by-price|no-capacity|capacity-oversubscribed)\b|TERM_PREEMPT/,
    kind: 'preempted',
  },
  {
    pattern: /"?[Rr]eason"?: {1,20}"?Evicted\b|\bThe node was low on resource: ([\w-]{3,30})|The node had condition: \[(\w{3,30})\]|Evicted: /,
    kind: 'job_killed',
    facts: (match) => {
      const lacked = match.slice(1).find((group) => group !== undefined)
      return { pattern: 'evicted', ...(lacked === undefined ? {} : { reason: lacked }) }
    },
  },
  {
    pattern:
      /"?[Rr]eason"?: {1,20}"?(?:NodeLost|NodeShutdown|Terminated|Shutdown|DeletionByTaintManager)\b|srun: error: Node failure on|DUE TO NODE FAILURE|The actor is dead because its node has died|Owner's node has crashed|\bthe node it was running on is dead\b/,
    kind: 'job_killed',
    facts: () => ({ pattern: 'node_failed' }),
  },
  // The word of a cloud's metadata service, which agents on the machine pass on
  { pattern: /\b(?:termination|preemption|interruption|eviction) is imminent\b/i, kind: 'preempted' },
  // PBS's mail
  { pattern: /^[Jj]ob preempted\b/, kind: 'preempted' },
  { pattern: /\binstance-terminated-by-user\b/, kind: 'cancelled' },
  { pattern: /^Job deleted at request of (?!root@)\S{1,120}$/, kind: 'cancelled' },
  {
    pattern:
      /\bTERM_OWNER\b|\bTERM_ADMIN\b|qdel\b.{0,40}job|scancel: (?:Terminating|Signal)|\bCANCELLED by \d{1,12}\b|^(?:\^C)?Terminating processes on user request\b|\b(?:Stop signal|SIGINT) received \(e\.g\. via [^)\n]{1,30}\), ending\b/,
    kind: 'cancelled',
  },
  {
    pattern:
      /(?:[Mm]ain process |process )?(?:received|[Rr]eceived|[Cc]aught|[Gg]ot) (?:signal )?(?:a )?(?:SIGINT|Ctrl-?C|KeyboardInterrupt|2 death signal|Signals\.SIGINT)\b|(?:[Ii]nterrupted|[Cc]ancell?ed|[Aa]borted|[Ss]topped) by (?:the )?user\b|Detected KeyboardInterrupt|KeyboardInterrupt detected|[Kk]eyboard interrupt(?:ion)?\b|^\^C$|^Aborted!$/,
    kind: 'cancelled',
    facts: () => ({ signal: 'SIGINT' }),
  },
  {
    // slurmctld.log: the batch script was ended by a signal.
    pattern: /_job_complete: JobId=(?<job>\d{1,12}) WTERMSIG (?<signal>\d{1,2})\b/,
    kind: 'job_killed',
    facts: ({ groups }) => ({ signal: signalName(groups?.['signal']) ?? 'SIGKILL', job_id: Number(groups?.['job']) }),
  },
  { pattern: /^(?:This|The|Your) job (?:was|has been) (?:killed|terminated)\b/, kind: 'job_killed' },
  {
    pattern:
      /(?<!TensorBoard )(?:[Rr]eceived|[Cc]aught|[Gg]ot) (?:signal )?(?:Signals\.)?(SIGTERM|SIGHUP|SIGQUIT)\b|[Rr]eceived (15|1) death signal|\b(SIGTERM|SIGHUP) (?:was )?(?:received|caught)\b|(?:[Rr]eceived|[Cc]aught) signal:? (?:number )?(15|1)\b(?![.\d])/,
    kind: 'job_killed',
    facts: signalled,
  },
  {
    pattern: /\bSignalException: Process (?<pid>\d{1,10}) got signal: 2\b/,
    kind: 'cancelled',
    facts: ({ groups }) => ({ signal: 'SIGINT', pid: Number(groups?.['pid']) }),
  },
  {
    pattern: /\bSignalException: Process (?<pid>\d{1,10}) got signal: (?<signal>\d{1,2})/,
    kind: 'job_killed',
    facts: ({ groups }) => ({ signal: signalName(groups?.['signal']) ?? 'SIGTERM', pid: Number(groups?.['pid']) }),
  },
  ...PLATFORM_RULES,
]
const MAY =
  /LIMIT|WTERMSIG|imminent|on user request|received \(e\.g\.|CANCELLED by|limit|DeadlineExceeded|deadline|timeout: |reempt|pot |instance|Evicted|low on resource|had condition|usage exceeds|Node|eason|TERM_|qdel|scancel|eceived|aught|Got |got |by user|by the user|eyboard ?[Ii]nterrupt|\^C|Aborted!|CANCELLED|SIG| job (?:was|has) |^[Jj]ob (?:deleted|preempted)|node has (?:died|crashed)/
/** Snakemake's, CRAB's and Ray Tune's, in which nothing is supposed. */
const SAID_OUTRIGHT = /, this might take some time|\b[Nn]ot retrying\b|\(e\.g\. via [^)\n]{1,30}\), ending\b.*/
/** submitit calls every warning signal a preemption; a bypassed signal did nothing. */
const NOT = /submitit WARNING|Bypassing signal|^\s*(?:#(?!#?\[| Received cancellation)|\/\/)|trap |--signal/

export type OrderReader = (line: ReadLine, found: Found) => void

export function createOrderReader(): OrderReader {
  let before = ''
  return (line, found) => {
    const { text, number: at, raw } = line
    const last = before
    before = text.includes('***') && !text.trimEnd().endsWith('***') ? text.slice(-300) : ''
    if ((!MAY.test(text) && !PLATFORM_MAY.test(text)) || NOT.test(text)) return
    const slurm = SLURM.exec(text) ?? (last === '' ? null : SLURM.exec(`${last.trimEnd()} ${text.trimStart()}`))
    if (slurm !== null) {
      const reason = slurm[4]?.trim().toUpperCase() ?? ''
      const facts: Facts = { job_id: Number(slurm[1]) }
      const order = (kind: LogKind, sure: boolean, more?: Facts): void => found({ type: 'order', at, text: raw, kind, sure, facts: { ...facts, ...more } })
      if (/TIME ?LIMIT|TIMEOUT|DEADLINE/.test(reason)) order('time_limit', true)
      else if (/PREEMPT|REQUEUE/.test(reason)) order('preempted', true)
      else if (/TASK FAILURE/.test(reason)) found({ type: 'exit', at, text: raw, facts })
      else if (/NODE/.test(reason)) order('job_killed', true, { pattern: 'node_failed' })
      else order('cancelled', false)
      return
    }
    for (const { pattern, kind, facts, worded } of RULES) {
      const match = pattern.exec(text)
      if (match === null) continue
      if ((kind === 'cancelled' || worded === true) && SUPPOSED.test(text.replace(SAID_OUTRIGHT, ''))) return
      found({
        type: 'order',
        at,
        text: raw,
        kind,
        sure: kind === 'time_limit' || kind === 'preempted' || facts?.(match).pattern !== undefined,
        facts: { ...facts?.(match), ...(line.rank === undefined ? {} : { rank: line.rank }) },
      })
      return
    }
  }
}
