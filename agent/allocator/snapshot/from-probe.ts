// The probe's `oom` message as a snapshot: figures by pool instead of blocks (probe/PROTOCOL.md).
import { SnapshotError } from './error.ts'
import { count, dict, idText, isFields, isList, kindOf, optionalCount, poolOf, shown, type Fields } from './fields.ts'
import type { PoolSummary, ProbeOom, Snapshot } from './model.ts'

function summaryOf(value: unknown, index: number, device: number): PoolSummary {
  const where = `pool ${index}`
  const fields = dict(value, where)
  const [bytes, freeBytes] = [count(fields, 'total_bytes', where), count(fields, 'free_bytes', where)]
  const pendingBytes = optionalCount(fields, 'pending_bytes') ?? 0
  return {
    device,
    pool: poolOf(fields['pool'], where),
    stream: idText(fields['stream']) ?? '0',
    kind: kindOf(fields['kind'], where),
    expandable: fields['expandable'] === true,
    segments: count(fields, 'segments', where),
    bytes,
    // Whether "active" counts what is pending or not, this does.
    allocatedBytes: Math.max(0, bytes - freeBytes - pendingBytes),
    pendingBytes,
    freeBytes,
    freeBlocks: count(fields, 'free_blocks', where),
    largestFreeBytes: count(fields, 'largest_free_bytes', where),
    freeSegments: optionalCount(fields, 'free_segments') ?? 0,
  }
}

/** The current value of a family: `[current, peak]`, or a number alone. */
function current(stats: unknown, name: string): number | undefined {
  if (!isFields(stats)) return undefined
  const pair = stats[name]
  return optionalCount({ current: isList(pair) ? pair[0] : pair }, 'current')
}

export function fromProbe(message: Fields): Snapshot {
  const device = optionalCount(message, 'device') ?? 0
  const { pools, skipped } = message
  if (!isList(pools)) {
    const why = typeof skipped === 'string' ? `none, because ${shown(skipped)}` : shown(pools)
    throw new SnapshotError(`the probe's oom message must hold the figures of the pools, not ${why}`)
  }
  const [requestBytes, deviceFreeBytes] = [optionalCount(message, 'request_bytes'), optionalCount(message, 'free_bytes')]
  const requestedBytes = current(message['stats'], 'requested_bytes')
  const oom: ProbeOom = {
    device,
    ...(requestBytes === undefined ? {} : { requestBytes }),
    ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }),
    ...(requestedBytes === undefined ? {} : { requestedBytes }),
  }
  return { format: 'probe', segments: [], pools: pools.map((pool, index) => summaryOf(pool, index, device)), oom, notes: [] }
}
