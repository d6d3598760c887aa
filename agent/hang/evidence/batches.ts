// Operations that PyTorch issues as one: `batch_isend_irecv` and `_coalescing_manager`. The recorder writes each of them and then "coalesced".
// Only that last entry is ever marked as ended, so the ones before it say what the batch consists of, and nothing of what still waits.
import type { Op } from '../model.ts'

/** An entry with both counts of its group: those of a batch have the same two. Before torch 2.4 there is one count, without the second. */
export type Recorded = { readonly op: Op; readonly collectives: number; readonly transfers: number | undefined }

const sameBatch = (one: Recorded, other: Recorded): boolean => one.collectives === other.collectives && one.transfers === other.transfers

/** One operation for the batch, with what it sends and receives. `end`: the entry that closes it, where the recorder has that one already. */
function asOne(members: readonly Recorded[], end: Recorded | undefined): Op | undefined {
  const first = members[0]?.op
  const whole = end?.op ?? first
  if (whole === undefined) return undefined
  const transfers = members.map(({ op }) => op).filter(({ p2p }) => p2p)
  return {
    ...whole,
    name: 'coalesced',
    p2p: whole.p2p || transfers.length > 0,
    frames: whole.frames.length > 0 ? whole.frames : (first?.frames ?? []),
    ...(first?.issued === undefined ? {} : { issued: first.issued }),
    ...(transfers.length === 0 ? {} : { batch: transfers }),
  }
}

type GroupState = {
  /** The newest entries that may be of a batch that goes on: not marked as ended. */
  open: Recorded[]
  reached: number
  /** How many of its count were sends and receives. */
  transfers: number
}

/**
 * The entries of one rank in the order of issue, batches as one operation each. `lost`: older entries were overwritten.
 * Up to torch 2.3 sends and receives count as collectives, in later releases batches of them do, on those ranks only that take part: these are
 * taken out of the count. Where entries are lost they cannot be, and how many collectives came before is left open.
 */
export function withBatches(entries: readonly Recorded[], lost: boolean): Op[] {
  const groups = new Map<string, GroupState>()
  const ops: (Op | undefined)[] = []
  const places = new Map<Recorded, number>()
  const replace = (members: readonly Recorded[], end: Recorded | undefined): void => {
    for (const member of members) ops[places.get(member) ?? -1] = undefined
    ops.push(asOne(members, end))
  }
  for (const entry of entries) {
    const { op, collectives, transfers } = entry
    const known = groups.get(op.group)
    const group = known ?? { open: [], reached: lost ? collectives : 0, transfers: 0 }
    if (known === undefined) groups.set(op.group, group)
    if (op.p2p) group.transfers += Math.max(0, collectives - group.reached)
    group.reached = collectives
    if (op.name === 'coalesced') {
      replace(
        group.open.filter((member) => transfers === undefined || sameBatch(member, entry)),
        entry,
      )
      group.open = []
      continue
    }
    const last = group.open.at(-1)
    if (op.state === 'done') group.open = []
    else if (last !== undefined && (transfers === undefined || sameBatch(last, entry))) group.open.push(entry)
    else group.open = [entry]
    places.set(entry, ops.push(op.p2p ? op : { ...op, seq: op.seq - group.transfers }) - 1)
  }
  // It is inside of the batch: what closes it is not recorded yet. Sends and receives of one count are one batch.
  for (const { open } of groups.values()) if (open.length > 1 && open.every(({ op, transfers }) => op.p2p && transfers !== undefined)) replace(open, undefined)
  const open = (op: Op): boolean => lost && !op.p2p && (groups.get(op.group)?.transfers ?? 0) > 0
  return ops.flatMap((op) => (op === undefined ? [] : [open(op) ? { ...op, uncounted: true as const } : op]))
}
