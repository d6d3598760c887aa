// Dumps of ranks of a pipeline: sends, receives and batches of them, with the counts that each release of PyTorch gives them.
import { jitPickle, type Plain } from '../allocator/snapshot/pickler.ts'

export type Send = { readonly to: number; readonly size?: number }
export type Receive = { readonly from: number; readonly size?: number }
export type Call = (Send | Receive | { readonly batch: readonly (Send | Receive)[]; readonly open?: true } | { readonly all: string }) & {
  readonly done?: true
  readonly at?: number
  readonly line?: number
}
/** How batches are counted: since torch 2.7 as transfers, from 2.4 on as collectives; before, everything has one count. */
export type Counting = 'transfers' | 'collectives' | 'one'

const START = 1_790_000_000

/** One group of all ranks. Only the entry that closes a batch is marked as ended. */
export function pipelineDump(rank: number, size: number, calls: readonly Call[], counting: Counting = 'transfers', lost = 0): Uint8Array {
  const entries: Plain[] = []
  let [collectives, transfers, last] = [0, 0, 0]
  const add = (name: string, done: boolean, p2p: boolean, elements: number | undefined, { at, line = 20 }: Call): void => {
    const time = BigInt(Math.round((START + (at ?? last)) * 1e6)) * 1000n
    last = at ?? last
    const sizes: Plain = elements === undefined ? [] : [[elements]]
    entries.push({
      frames: [{ name: 'exchange', filename: '/job/pipe.py', line }],
      record_id: entries.length,
      pg_id: 0,
      process_group: ['4', 'pp'],
      ...(counting === 'one' ? { seq_id: collectives } : { collective_seq_id: collectives, p2p_seq_id: transfers }),
      op_id: entries.length,
      profiling_name: `nccl:${name}`,
      time_created_ns: time,
      input_sizes: sizes,
      input_dtypes: ['Float'],
      output_sizes: sizes,
      output_dtypes: ['Float'],
      state: done ? 'completed' : 'scheduled',
      time_discovered_started_ns: null,
      time_discovered_completed_ns: done ? time + 1_000_000n : null,
      retired: done,
      timeout_ms: 600_000,
      is_p2p: p2p,
    })
  }
  const transfer = (one: Send | Receive, done: boolean, call: Call): void =>
    'to' in one ? add(`send ${rank}->${one.to}`, done, true, one.size ?? 64, call) : add(`recv ${rank}<-${one.from}`, done, true, one.size ?? 64, call)
  for (const call of calls) {
    if ('all' in call) {
      collectives += 1
      add(call.all, call.done === true, false, 8, call)
    } else if ('batch' in call) {
      if (counting === 'transfers') transfers += 1
      else collectives += 1
      for (const one of call.batch) transfer(one, false, call)
      if (call.open !== true) add('coalesced', call.done === true, counting === 'transfers', undefined, call)
    } else {
      if (counting === 'one') collectives += 1
      else transfers += 1
      transfer(call, call.done === true, call)
    }
  }
  const members = Array.from({ length: size }, (_, i) => i).join(', ')
  return jitPickle({ version: '2.10', pg_config: { '4': { name: '4', desc: 'pp', ranks: `[${members}]` } }, pg_status: {}, entries: entries.slice(lost) })
}

/** By path, for the ranks in turn; undefined: this one left none. */
export const pipeline = (ranks: readonly (readonly Call[] | undefined)[], counting: Counting = 'transfers', lost = 0): Record<string, Uint8Array> =>
  Object.fromEntries(
    ranks.flatMap((calls, rank) =>
      calls === undefined ? [] : [[`dumps/nccl_trace_rank_${rank}`, pipelineDump(rank, ranks.length, calls, counting, lost)] as const],
    ),
  )
