// From the plain data of a file to a checked Snapshot: torch.cuda.memory._snapshot(), the bare list of memory_snapshot(), or the probe's oom message.
import { SnapshotError } from './error.ts'
import { LIMITS } from './limits.ts'
import { count, dict, idText, isFields, isList, kindOf, list, optionalCount, poolOf, shown, type Fields } from './fields.ts'
import type { AllocatorSettings, Block, BlockState, Segment, Snapshot, Trace } from './model.ts'
import { fromProbe } from './from-probe.ts'

const STATES: ReadonlyMap<unknown, BlockState> = new Map([
  ['active_allocated', 'allocated'],
  ['active_pending_free', 'pending'],
  ['active_awaiting_free', 'pending'],
  ['inactive', 'free'],
])
/** More devices than any host has: what says otherwise is no snapshot. */
const MAX_DEVICE = 1023
/** The year 2286. */
const MAX_TIME_US = 1e16
const MAX_NOTES = 20

function framesOf(fields: Fields): readonly unknown[] | undefined {
  if (isList(fields['frames'])) return fields['frames'].length === 0 ? undefined : fields['frames']
  // Up to PyTorch 2.0: the frames are in the newest entry of the block's history.
  const history = fields['history']
  const newest = isList(history) ? history[0] : undefined
  return isFields(newest) && isList(newest['frames']) && newest['frames'].length > 0 ? newest['frames'] : undefined
}

function blockOf(value: unknown, offset: number, segment: number, index: number): Block {
  const where = (): string => `segment ${segment}, block ${index}`
  if (!isFields(value)) throw new SnapshotError(`${where()}: must be a dict, not ${shown(value)}`)
  const bytes = optionalCount(value, 'size') ?? count(value, 'size', where())
  const state = STATES.get(value['state'])
  if (state === undefined) throw new SnapshotError(`${where()}: the state must be one such as active_allocated or inactive, not ${shown(value['state'])}`)
  const requestedBytes = optionalCount(value, 'requested_size')
  const frames = framesOf(value)
  return { offset, bytes, state, ...(requestedBytes === undefined ? {} : { requestedBytes }), ...(frames === undefined ? {} : { frames }) }
}

/** What is gathered over the segments of a file. */
type Gathered = { readonly notes: string[]; blocks: number }

function segmentOf(value: unknown, index: number, gathered: Gathered): Segment {
  const where = `segment ${index}`
  const fields = dict(value, where)
  const bytes = count(fields, 'total_size', where)
  const device = fields['device'] === undefined ? 0 : count(fields, 'device', where)
  if (device > MAX_DEVICE) throw new SnapshotError(`${where}: the device must be at most ${MAX_DEVICE}, not ${device}`)
  const listed = list(fields, 'blocks', where)
  // A pickle can name one list a million times; what is read here cannot be shared.
  gathered.blocks += listed.length
  if (gathered.blocks > LIMITS.containers)
    throw new SnapshotError(`${where}: more than ${LIMITS.containers} blocks up to here, ${gathered.blocks}: too large to read`)
  let offset = 0
  const blocks = listed.map((one, i) => {
    const block = blockOf(one, offset, index, i)
    offset += block.bytes
    return block
  })
  if (offset !== bytes && gathered.notes.length < MAX_NOTES) gathered.notes.push(`${where} is ${bytes} bytes, its blocks are ${offset}: the blocks are counted`)
  const { address } = fields
  return {
    device,
    bytes: offset,
    stream: idText(fields['stream']) ?? '0',
    kind: kindOf(fields['segment_type'], where),
    pool: poolOf(fields['segment_pool_id'], where),
    expandable: fields['is_expandable'] === true,
    blocks,
    ...(typeof address === 'bigint' || typeof address === 'number' ? { address } : {}),
  }
}

/** Nothing here is needed to read the segments, so what is not understood is left out. */
function settingsOf(value: unknown): AllocatorSettings | undefined {
  if (!isFields(value)) return undefined
  const text = value['PYTORCH_CUDA_ALLOC_CONF'] ?? value['PYTORCH_ALLOC_CONF']
  const expandable = value['expandable_segments']
  // No limit is written as -1 or as 2 ** 64 - 1, by the two ways of dumping.
  const maxSplitBytes = optionalCount(value, 'max_split_size')
  const divisions = value['roundup_power2_divisions']
  return {
    ...(typeof text === 'string' ? { text: text.slice(0, 1000) } : {}),
    ...(typeof expandable === 'boolean' ? { expandable } : {}),
    ...(maxSplitBytes === undefined ? {} : { maxSplitBytes }),
    ...(isFields(divisions) ? { roundupDivisions: Array.from({ length: 16 }, (_, power) => optionalCount(divisions, String(2 ** power)) ?? 0) } : {}),
  }
}

function traceOf(value: unknown): Trace | undefined {
  if (!isList(value)) return undefined
  let entries = 0
  let last: Trace['lastOom']
  const seen = new Set<unknown>()
  value.forEach((ofDevice, device) => {
    if (!isList(ofDevice) || seen.has(ofDevice)) return
    seen.add(ofDevice)
    entries += ofDevice.length
    const oom = ofDevice.findLast((entry) => isFields(entry) && entry['action'] === 'oom')
    const requestBytes = isFields(oom) ? optionalCount(oom, 'size') : undefined
    if (!isFields(oom) || requestBytes === undefined) return
    const [timeUs, deviceFreeBytes, stream, frames] = [oom['time_us'], optionalCount(oom, 'device_free'), idText(oom['stream']), framesOf(oom)]
    const timeMs = typeof timeUs === 'number' && timeUs > 0 && timeUs < MAX_TIME_US ? timeUs / 1000 : undefined
    if (last !== undefined && (last.timeMs ?? 0) > (timeMs ?? 0)) return
    last = {
      device,
      requestBytes,
      ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }),
      ...(stream === undefined ? {} : { stream }),
      ...(timeMs === undefined ? {} : { timeMs }),
      ...(frames === undefined ? {} : { frames }),
    }
  })
  return { entries, ...(last === undefined ? {} : { lastOom: last }) }
}

export function snapshotFrom(raw: unknown, format: 'pickle' | 'json'): Snapshot {
  if (isFields(raw) && raw['type'] === 'oom' && raw['segments'] === undefined) return fromProbe(raw)
  const segments = isList(raw) ? raw : isFields(raw) ? raw['segments'] : undefined
  if (!isList(segments)) throw new SnapshotError(`not a snapshot of torch.cuda.memory: must be a dict with "segments", not ${shown(raw)}`)
  const gathered: Gathered = { notes: [], blocks: 0 }
  const checked = segments.map((segment, index) => segmentOf(segment, index, gathered))
  const [settings, trace] = isFields(raw) ? [settingsOf(raw['allocator_settings']), traceOf(raw['device_traces'])] : []
  return { format, segments: checked, notes: gathered.notes, ...(settings === undefined ? {} : { settings }), ...(trace === undefined ? {} : { trace }) }
}
