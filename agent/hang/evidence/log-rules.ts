// The lines of a log that say who waits, who is missing and who gave up: one entry each, in the words of each library.
import type { RankEvidence, Statement, Timeout } from '../model.ts'
import { opName } from './ops.ts'

export type LineContext = {
  /** Undefined where neither the line nor the file says whose it is. */
  readonly me: RankEvidence | undefined
  /** When the line was printed, in seconds of its year: glog's lines have no year. */
  readonly at: number | undefined
  readonly state: (ranks: readonly number[], what: Statement['what']) => void
  /** The position that the host of a rank has reached in a group named so. */
  readonly enqueued: (group: string, seq: number) => void
}
export type LineRule = {
  readonly name: string
  /** Stands in every such line; looked for before the pattern is tried. */
  readonly literal: string
  readonly pattern: RegExp
  readonly take: (match: RegExpExecArray, context: LineContext) => void
}

const numbers = (text: string): number[] => Array.from(text.matchAll(/\d{1,6}/g), ([digits]) => Number(digits)).slice(0, 4096)
const figure = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** The time-out that the following lines are about: watchdogs print several lines for one. */
function openTimeout({ me }: LineContext, same: (timeout: Timeout) => boolean): Timeout | undefined {
  if (me === undefined || me.timeouts.length > 64) return undefined
  const known = me.timeouts.find(same)
  if (known !== undefined) return known
  const made: Timeout = { frames: [] }
  me.timeouts.push(made)
  return made
}

function waited(timeout: Timeout, ms: string | undefined, { at }: LineContext): void {
  if (ms === undefined) return
  timeout.waitedSeconds = Number(ms) / 1000
  if (at !== undefined) timeout.since ??= at - timeout.waitedSeconds
}

const WORK = String.raw`WorkNCCL\(SeqNum=(\d{1,15}), OpType=(\w{1,40})(?:, NumelIn=(\d{1,20}), NumelOut=(\d{1,20}))?, Timeout\(ms\)=\d{1,12}\)`
/** How the watchdog repeats its message as it ends: only there does 2.4 say the group. */
const ENDED = String.raw`(?:Process group watchdog thread terminated with exception: (?:\[[^\]]{0,160}\] )?)?`
/** `PG ID 2 PG GUID 3(mesh_tp) Rank 0`, `PG GUID 3(mesh_tp) Rank 0`, `PG 0 (default_pg) Rank 3`; the bare number of 2.4 is local to the process. */
const GROUP = String.raw`\[(?:PG ID \d+ )?PG (GUID )?(\S{1,120}?) ?(?:\(([^)]{0,120})\) )?Rank (\d{1,6})\]`

export const LINE_RULES: readonly LineRule[] = [
  {
    name: 'watchdog time-out of a collective',
    literal: 'WorkNCCL(SeqNum=',
    pattern: new RegExp(
      String.raw`(?:PG GUID (\S{1,120}?)\(([^)]{0,120})\) Rank (\d{1,6})\] ${ENDED})?(?:Watchdog caught collective operation timeout: |Work )${WORK}(?: ran for (\d{1,15}) milliseconds)?`,
    ),
    take([, group, desc, groupRank, seq, name = '', inputs, outputs, ms], context) {
      const timeout = openTimeout(context, (known) => known.seq === Number(seq) && (known.name === undefined || known.name === opName(name)))
      if (timeout === undefined) return
      timeout.seq = Number(seq)
      timeout.name = opName(name)
      if (inputs !== undefined) timeout.inputs = inputs
      if (outputs !== undefined) timeout.outputs = outputs
      waited(timeout, ms, context)
      if (group !== undefined) timeout.group = group
      if (desc !== undefined) timeout.desc = desc
      if (groupRank !== undefined) timeout.groupRank = Number(groupRank)
    },
  },
  {
    name: 'position of the watchdog',
    literal: 'ast enqueued ',
    pattern: new RegExp(
      String.raw`${GROUP} .{0,80}?(?:work sequence id: |at (?:NCCL )?work: )(\d{1,15})[^\d]{0,40}last enqueued (?:NCCL )?work: (-?\d{1,15}), last completed (?:NCCL )?work: (-?\d{1,15})`,
    ),
    take([, guid, group = '', desc, groupRank, seq, enqueued, completed], context) {
      const timeout = openTimeout(context, (known) => known.seq === Number(seq))
      if (timeout === undefined) return
      const [last, done] = [figure(enqueued), figure(completed)]
      timeout.seq = Number(seq)
      timeout.groupRank = Number(groupRank)
      if (last !== undefined) timeout.enqueued = last
      if (done !== undefined) timeout.completed = done
      const name = guid === undefined ? (desc === 'default_pg' ? '0' : undefined) : group
      if (name === undefined) return
      timeout.group = name
      if (desc !== undefined) timeout.desc = desc
      if (last !== undefined) context.enqueued(name, last)
    },
  },
  {
    name: 'position on a dump signal',
    literal: 'Received a dump signal',
    pattern: new RegExp(String.raw`${GROUP} Received a dump signal .{0,200}?Last enqueued NCCL work: (-?\d{1,15})`),
    take([, , group = '', , , enqueued], { enqueued: reached }) {
      reached(group, Number(enqueued))
    },
  },
  {
    name: 'time-out of nccl2',
    literal: 'Operation timed out after',
    pattern: /\[TC\]\[rank=(\d{1,6})\]\[name=([^\]]{1,120})\] Operation timed out after (\d{1,15}) ms/,
    take([, groupRank, group = '', ms], context) {
      const timeout = openTimeout(context, (known) => known.group === group)
      if (timeout === undefined) return
      timeout.group = group
      timeout.groupRank = Number(groupRank)
      waited(timeout, ms, context)
    },
  },
  {
    name: 'lagging ranks of a desync report',
    literal: 'are the lagging ranks',
    pattern: /ranks \[([\d, ]{1,4000})\] are the lagging ranks/,
    take: ([, ranks = ''], { state }) => state(numbers(ranks), 'missing'),
  },
  {
    name: 'ranks of a desync report that did not join',
    literal: "but didn't join",
    pattern: /- \[([\d, ]{1,4000})\] finished collective #\d+, but didn't join/,
    take: ([, ranks = ''], { state }) => state(numbers(ranks), 'missing'),
  },
  {
    name: 'collectives compared before they run (TORCH_DISTRIBUTED_DEBUG=DETAIL)',
    literal: 'Detected mismatch between collectives on ranks',
    pattern: /Detected mismatch between collectives on ranks. Rank (\d{1,6}) is running .{0,2000}? but Rank (\d{1,6}) is running/,
    take: ([, one = '', other = ''], { state }) => state([Number(one), Number(other)], 'mismatch'),
  },
  {
    name: 'monitored barrier',
    literal: 'failed to pass monitoredBarrier',
    pattern: /Ranks? ([\d, ]{1,4000}) failed to pass monitoredBarrier/,
    take: ([, ranks = ''], { state }) => state(numbers(ranks), 'missing'),
  },
  {
    name: 'communicator whose first rank did not come',
    literal: 'retrieving ncclUniqueId from [',
    pattern:
      /retrieving ncclUniqueId from \[(\d{1,6})\] via c10d key-value store by key '\d{1,6}', but store->get\('\d{1,6}'\) got error: .{0,120}?keys: \/default_pg\//,
    take: ([, rank = ''], { state }) => state([Number(rank)], 'missing'),
  },
  {
    name: 'store barrier timed out',
    literal: 'in store based barrier on rank',
    pattern: /Timed out initializing process group in store based barrier on rank: (\d{1,6})/,
    take: ([, rank = ''], { state }) => state([Number(rank)], 'waits'),
  },
  {
    name: 'store clients did not come',
    literal: 'waiting for clients',
    pattern: /Timed out after \d{1,9} seconds waiting for clients\. \d{1,6}\/\d{1,6} clients joined/,
    take: (_, { me, state }) => state(me === undefined ? [] : [me.rank], 'waits'),
  },
  {
    name: 'Gloo operation timed out',
    literal: 'operation to complete',
    pattern: /Timed out waiting \d{1,12}ms for (?:recv|send) operation to complete/,
    take: (_, { me, state }) => state(me === undefined ? [] : [me.rank], 'waits'),
  },
  {
    name: 'Gloo operation of another size',
    literal: 'op.preamble.length <= op.nbytes',
    pattern: /op\.preamble\.length <= op\.nbytes\. \d{1,20} vs \d{1,20}/,
    take: (_, { state }) => state([], 'mismatch'),
  },
  {
    name: 'Gloo peer gone',
    literal: 'gloo/transport',
    pattern: /gloo\/transport\/\S{1,60} (?:Connection closed by peer|Read error .{0,80}Connection reset by peer)/,
    take: (_, { me, state }) => state(me === undefined ? [] : [me.rank], 'lost_peer'),
  },
  {
    name: 'NCCL peer gone',
    literal: 'remote process exit',
    pattern: /remote process exit(?:ed|ing)/,
    take: (_, { me, state }) => state(me === undefined ? [] : [me.rank], 'lost_peer'),
  },
  {
    name: 'error that PyTorch passed on',
    literal: 'remote error detected from rank',
    pattern: /remote error detected from rank:? (\d{1,6})/,
    take: ([, rank = ''], { state }) => state([Number(rank)], 'missing'),
  },
  {
    name: 'Horovod stall inspector',
    literal: 'missing ranks:',
    pattern: /\[missing ranks: ?([\d, ]{1,4000})\]/,
    take: ([, ranks = ''], { state }) => state(numbers(ranks), 'missing'),
  },
  {
    name: 'JAX barrier timed out',
    literal: 'imed out task names',
    pattern: /imed out task names:.{0,200}?((?:\/job:\S{1,60}\/task:\d{1,6}[,\s]{0,2}){1,200})/,
    take: ([, tasks = ''], { state }) =>
      state(
        Array.from(tasks.matchAll(/task:(\d{1,6})/g), ([, rank]) => Number(rank)),
        'missing',
      ),
  },
  {
    name: 'JAX heartbeat lost',
    literal: 'heartbeat timeout',
    pattern: /\/task:(\d{1,6}) heartbeat timeout/,
    take: ([, rank = ''], { state }) => state([Number(rank)], 'missing'),
  },
  {
    name: 'engine without an answer of its workers',
    literal: 'RPC call to ',
    pattern: /TimeoutError: RPC call to \w{1,60} timed out/,
    take: (_, { state }) => state([], 'stalled'),
  },
]
