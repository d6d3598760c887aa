// What is known about a job that may hang, whatever it was read from, and the answer about it. Times are seconds since 1970.

export type Frame = { readonly file: string; readonly line: number; readonly function: string }

/** A process group of torch.distributed (an NCCL communicator): who has to join its collectives. `partial`: members are known from some lines only. */
export type Group = { readonly key: string; readonly name: string; readonly desc: string; readonly members: readonly number[]; readonly partial?: true }

export type OpState = 'waiting' | 'started' | 'done'

/** One collective, send or receive as one rank issued it. */
export type Op = {
  readonly record: number
  /** The key of its group. */
  readonly group: string
  /** Counts the collectives of the group; sends and receives have a count of their own. */
  readonly seq: number
  readonly name: string
  readonly p2p: boolean
  /** Ranks of the job, for a send or receive. */
  readonly from?: number
  readonly to?: number
  /** What a batch of sends and receives consists of (`batch_isend_irecv`); none of it ends before all of it. */
  readonly batch?: readonly Op[]
  /** How many collectives of its group came before is not known, so that ranks cannot be compared by `seq`. */
  readonly uncounted?: true
  /** Shapes, as the recorder writes them; empty where only a count is known. */
  readonly inputs: string
  /** Elements of all inputs and outputs together: what NCCL sees of the sizes. */
  readonly elements: { readonly inputs: string; readonly outputs: string }
  /** Empty where it is not known. */
  readonly dtypes: string
  readonly state: OpState
  readonly issued?: number
  readonly completed?: number
  readonly timeoutSeconds?: number
  readonly frames: readonly Frame[]
}

/** What the watchdog of a rank printed about the operation that did not end in time. */
export type Timeout = {
  group?: string
  desc?: string
  groupRank?: number
  seq?: number
  name?: string
  inputs?: string
  outputs?: string
  waitedSeconds?: number
  /** When the operation was issued, by the clock of the log: good for comparing ranks only. */
  since?: number
  enqueued?: number
  completed?: number
  frames: Frame[]
}

export type Thread = { readonly id: string; readonly name?: string; readonly frames: readonly Frame[]; readonly holdsGil?: boolean }

export type ProcessState = {
  readonly state: string
  readonly waitChannel?: string
  readonly syscall?: string
  /** The number of the file that the system call works on: 0 is the standard input. */
  readonly descriptor?: number
  /** That file, socket or pipe. */
  readonly target?: string
  /** CPU time of the main thread during the look, and its waits for a processor, as a share of a core. */
  readonly cpuShare?: number
}

/** Of a process and those below it, since they began: CPU time, bytes read and written, page faults; and the memory that they hold now, bytes. */
export type Work = { readonly cpuSeconds: number; readonly bytes: number; readonly faults: number; readonly memory: number }

/** What the main thread of a rank executed during one look. */
export type Runs = {
  /** Its frames at the beginning and at the end, innermost first. */
  readonly stacks: readonly (readonly Frame[])[]
  /** It was seen at two instructions of Python: it does not stand in a call into C. */
  readonly moves: boolean
  /** Since it began: CPU time of the main thread and its waits for a processor, seconds. */
  readonly wanted?: number
}

export type GpuFigures = { readonly busy: number; readonly memory: number; readonly watts?: number; readonly limitWatts?: number }

export type RankEvidence = {
  readonly rank: number
  host?: string
  pid?: number
  gpu?: number
  container?: string
  alive?: boolean
  exit?: string
  /** Undefined where no recorder was read; empty where it was and holds nothing. */
  ops?: readonly Op[]
  /** The recorder has overwritten its oldest entries. */
  lostOldest?: boolean
  /** The last that its host issued, by group key: from the recorder, or from its log. */
  readonly issued: Map<string, number>
  readonly timeouts: Timeout[]
  /** The last line of a traceback that its log ends with, where that is no consequence of another rank's end. */
  exception?: string
  /** The user's line of its last traceback, consequences too. */
  raisedAt?: Frame
  readonly threads: Thread[]
  /** Of child processes, such as the workers of a data loader. */
  readonly children: { readonly pid: number; readonly threads: readonly Thread[] }[]
  /** Its stacks were written because a timer of so many seconds ran out. */
  stalledSeconds?: number
  /** It was at the same place in two looks. */
  still?: boolean
  process?: ProcessState
  work?: Work
  runs?: Runs
  figures?: GpuFigures
}

/** One rank of a communicator as NCCL's RAS reports it. Its place is `host:pid`, or `#` and its rank in the job where that is known. */
export type RasRank = { readonly rank: number; readonly place: string; readonly counts: Readonly<Record<string, number>> }
export type RasComm = {
  readonly id: string
  readonly size: number
  readonly ranks: readonly RasRank[]
  readonly dead: readonly { readonly rank: number; readonly place: string }[]
}
export type RasPoll = { readonly at?: number; readonly comms: readonly RasComm[] }

/** A line of a log that names ranks itself: a barrier with names, a desync report, a stall inspector. */
export type Statement = { readonly ranks: readonly number[]; readonly text: string; readonly what: 'missing' | 'mismatch' | 'waits' | 'lost_peer' | 'stalled' }

/** What the job's own output says of its progress: for how long it has said nothing, and what it was busy with last, where that is no training. */
export type Silence = {
  readonly seconds: number
  /** Undefined: the job has not shown how often it says something. */
  readonly usualSeconds?: number | undefined
  readonly since: number
  readonly by: 'log' | 'gpu'
  readonly busyWith?: string | undefined
}

export type Evidence = {
  readonly ranks: Map<number, RankEvidence>
  readonly groups: Map<string, Group>
  readonly polls: RasPoll[]
  readonly statements: { readonly rank?: number; readonly statement: Statement }[]
  /** `host:pid` and `address:pid` of ranks, by which RAS names them. */
  readonly problems: string[]
  readonly sources: Set<string>
  torch?: string
  nccl?: string
  silence?: Silence
  /** Several ranks wrote one log, so a rank between them that it does not name wrote nothing of its own. */
  sharedLog?: true
  /** Ranks of the job on all hosts, as its launcher says. */
  worldSize?: number
}

export const createEvidence = (): Evidence => ({
  ranks: new Map(),
  groups: new Map(),
  polls: [],
  statements: [],
  problems: [],
  sources: new Set(),
})

export function rankOf(evidence: Evidence, rank: number): RankEvidence {
  const known = evidence.ranks.get(rank)
  if (known !== undefined) return known
  const made: RankEvidence = { rank, issued: new Map(), timeouts: [], threads: [], children: [] }
  evidence.ranks.set(rank, made)
  return made
}

export type Verdict = 'hang' | 'straggler' | 'slow_phase' | 'healthy' | 'resumed' | 'unknown'
/** `read`: a line or a dump says so; `computed`: it follows from figures that were read; `likely`: the pattern points there. */
export type Confidence = 'read' | 'computed' | 'likely'
export type Cause =
  'missing' | 'mismatch' | 'order' | 'dead' | 'left_early' | 'stuck' | 'exception' | 'kernel' | 'transport' | 'straggler' | 'slow_phase' | 'late' | 'none'
/** What a missing rank does instead of joining; decides the remedies. */
export type Doing =
  | 'data'
  | 'lock'
  | 'input'
  | 'file'
  | 'network'
  | 'requests'
  | 'child'
  | 'sleep'
  | 'gil'
  | 'loop'
  | 'stopped'
  | 'teardown'
  | 'code'
  | 'save'
  | 'compile'
  | 'evaluate'
  | 'prepare'
  | 'unknown'

export type Waiting = {
  readonly rank: number
  readonly group: string
  readonly desc: string
  readonly seq: number
  readonly op: string
  readonly since?: number
}

export type Answer = {
  readonly verdict: Verdict
  readonly cause: Cause
  readonly culprits: readonly number[]
  readonly root?: { readonly group: string; readonly desc: string; readonly seq: number; readonly op: string; readonly since?: number }
  readonly waiting: readonly Waiting[]
  readonly stands: ReadonlyMap<number, Frame>
  readonly doing: ReadonlyMap<number, Doing>
  /** Both sides of a disagreement: the culprits' call first. */
  readonly callSites: readonly { readonly ranks: readonly number[]; readonly what: string; readonly at?: Frame }[]
  readonly confidence: Confidence
  readonly evidence: readonly string[]
}
