// From the bytes of a snapshot file to what the page shows of it; questions are answered as `warpwatch snapshot --request` does. Pure; runs in the worker.
import { analyse, type Analysed } from '../../../../../agent/allocator/snapshot/analyse.ts'
import { SnapshotError } from '../../../../../agent/allocator/snapshot/error.ts'
import { readSnapshot } from '../../../../../agent/allocator/snapshot/file.ts'
import { callersOf, placeFrom, placeText } from '../../../../../agent/allocator/snapshot/frames.ts'
import type { Segment, Snapshot } from '../../../../../agent/allocator/snapshot/model.ts'
import type { BlockPlace, Report, SegmentRow } from './messages.ts'
import { pack, segmentOf, type Order } from './packed.ts'

/** What a browser's tab can be expected to hold beside what is made of it; the command line takes 2 GiB. */
export const MOST_BYTES = 512 * 2 ** 20
const MOST_ROWS = 500
const MOST_DEVICES = 64
const MOST_POOL_ROWS = 100
/** As many as there are colours for. */
const SITES = 8
const CALLERS = 12

export type Opened = {
  readonly snapshot: Snapshot
  readonly report: Omit<Report, 'tookMs'>
  readonly order: Order
}

/** Of the allocation's figures; the request asked for, the device and what it has free. */
export type Asking = { readonly requestBytes: number; readonly deviceFreeBytes?: number; readonly device: number }

function rowOf({ packed }: Order, index: number): SegmentRow {
  const [from = 0, to = 0] = [packed.first[index], packed.first[index + 1]]
  let [live, pending, free, cache, largest] = [0, 0, 0, 0, 0]
  for (let i = from; i < to; i++) {
    const [bytes = 0, state, returned = 0] = [packed.size[i], packed.state[i], packed.returned[i]]
    if (state === 0) live += bytes
    else if (state === 1) pending += bytes
    else {
      free += bytes
      cache += returned
      largest = Math.max(largest, bytes)
    }
  }
  return {
    index,
    pool: packed.pool[index] ?? 0,
    address: packed.addresses[index] ?? '',
    bytes: packed.bytes[index] ?? 0,
    blocks: to - from,
    liveBytes: live,
    pendingBytes: pending,
    holeBytes: free - cache,
    cacheBytes: cache,
    largestFreeBytes: largest,
  }
}

/** The command's flag has no meaning here: the field is beside the answer. */
const withoutFlags = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(' (give it with --free)', ''))

function bounded({ analysis }: Analysed): Report['analysis'] {
  const { request: _request, ...rest } = analysis
  const devices = rest.devices.slice(0, MOST_DEVICES).map((device) => ({ ...device, pools: device.pools.slice(0, MOST_POOL_ROWS) }))
  return { ...rest, devices, unknown: withoutFlags(rest.unknown) }
}

export function openSnapshot(bytes: Uint8Array): Opened {
  const snapshot = readSnapshot(bytes)
  const analysed = analyse(snapshot, { top: SITES })
  const order = pack(snapshot.segments, analysed.rules, analysed.rankOf)
  const largest = [...order.packed.bytes.keys()].toSorted((a, b) => (order.packed.bytes[b] ?? 0) - (order.packed.bytes[a] ?? 0)).slice(0, MOST_ROWS)
  const report = {
    analysis: bounded(analysed),
    request: analysed.analysis.request,
    packed: order.packed,
    siteNames: Object.fromEntries(analysed.analysis.devices.map(({ device, live }) => [device, live.top.map((site) => placeText(site, 1))])),
    segments: largest.map((index) => rowOf(order, index)),
  }
  return { snapshot, report, order }
}

export const answerTo = ({ snapshot }: Opened, asking: Asking): Report['request'] => analyse(snapshot, asking).analysis.request

/** Who allocated a block. */
export function placeOfBlock({ order: { packed, segments } }: Opened, block: number): BlockPlace {
  const index = segmentOf(packed, block)
  const segment: Segment | undefined = segments[index]
  const frames = segment?.blocks[block - (packed.first[index] ?? 0)]?.frames
  if (frames === undefined || frames.length === 0) return { text: 'no history recorded', callers: [], recorded: false }
  const place = placeFrom(frames)
  return {
    text: placeText(place),
    ...(place.operation === undefined ? {} : { operation: place.operation }),
    callers: callersOf(place, CALLERS),
    recorded: true,
  }
}

export const isRefusal = (error: unknown): error is SnapshotError => error instanceof SnapshotError
