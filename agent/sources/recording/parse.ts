// One line of a recording to an event. Input from outside, checked by hand: an hour of a host is a hundred megabytes.
import type {
  AllocatorOom,
  AllocatorPool,
  AllocatorSample,
  AllocatorStats,
  ContainerEvent,
  Event,
  ExecEvent,
  LogLine,
  LogTail,
  OperatorEvent,
  ProcessEvent,
  Scrape,
} from '../../model/event.ts'
import { OUTCOMES } from '../../model/job.ts'
import { GAP_REASONS, type Gap, type GapReason, type Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { isFields, isNumber, isText, optional, type Fields } from './fields.ts'
import { hangEvent } from './hang-line.ts'
import { createQuickReader } from './scrape-line.ts'
import type { SeriesOf } from './series-cache.ts'

export type Meta = { readonly type: 'meta'; readonly version: number; readonly host: string }
/** A string names an unknown type; undefined is a line that is not what its type says. */
export type Parsed = Event | Meta | string | undefined

/** How long the readings of a recording that does not say so hold: three seconds, as for the agent's own 1 Hz sources. */
const DEFAULT_TTL_MS = 3_000

/** Characters of the shortest line that says what it is. */
const SHORTEST = '{"type":""}'.length

const NO_GAPS: readonly Gap[] = []

const isReason = (value: unknown): value is GapReason => GAP_REASONS.some((reason) => reason === value)

function isLabels(value: unknown): value is Labels {
  if (!isFields(value)) return false
  for (const name in value) if (typeof value[name] !== 'string') return false
  return true
}

export type LineParser = { readonly parse: (line: string) => Parsed; readonly malformedEntries: () => number }

export function createLineParser(seriesOf: SeriesOf): LineParser {
  const quick = createQuickReader()
  let malformedEntries = 0

  const readings = (list: readonly unknown[]): Reading[] => {
    const found: Reading[] = []
    for (const entry of list) {
      const [name, labels, value]: readonly unknown[] = Array.isArray(entry) ? entry : []
      if (isText(name) && isLabels(labels) && isNumber(value)) found.push({ series: seriesOf(name, labels), value })
      else malformedEntries += 1
    }
    return found
  }
  const gaps = (list: readonly unknown[]): Gap[] => {
    const found: Gap[] = []
    for (const entry of list) {
      const { metric, labels = {}, reason, code, detail }: Fields = isFields(entry) ? entry : {}
      if (!isText(metric) || !isLabels(labels) || !isReason(reason)) malformedEntries += 1
      else found.push({ metric, labels, reason, ...(isNumber(code) ? { code } : {}), ...(isText(detail) ? { detail } : {}) })
    }
    return found
  }
  /** `known` are readings that were read the quick way. */
  const scrape = (t: unknown, from: Fields, known?: readonly Reading[]): Scrape | undefined => {
    const { source, group = '', ttl_ms: ttlMs = DEFAULT_TTL_MS, duration_ms: durationMs = 0, readings: readingList = [], gaps: gapList = [] } = from
    if (!isNumber(t) || !isText(source) || !isText(group) || !isNumber(ttlMs) || !isNumber(durationMs)) return undefined
    if (!Array.isArray(readingList) || !Array.isArray(gapList)) return undefined
    const found = known ?? readings(readingList)
    if (known === undefined) quick.learn(source, group, found)
    return { type: 'scrape', t, source, group, ttlMs, durationMs, readings: found, gaps: gapList.length === 0 ? NO_GAPS : gaps(gapList) }
  }
  const parse = (line: string): Parsed => {
    // Too short for any event: JSON.parse would say so with an exception, which is dear where a file is full of such lines.
    if (line.length < SHORTEST) return undefined
    const read = quick.read(line)
    if (read !== undefined && read.fields['type'] === 'scrape') return scrape(read.fields['t'], read.fields, read.readings)
    let from: unknown
    try {
      from = JSON.parse(line)
    } catch {
      return undefined // counted by the caller; a torn last line is the ordinary case
    }
    if (!isFields(from) || !isText(from['type'])) return undefined
    const { type, t } = from
    if (type === 'meta') return metaOf(from)
    if (type === 'scrape') return scrape(t, from)
    const reader = READERS.get(type)
    if (reader === undefined) return type
    return isNumber(t) ? reader(t, from) : undefined
  }
  return { parse, malformedEntries: () => malformedEntries }
}

function metaOf({ format, version, host }: Fields): Meta | undefined {
  return format === 'warpwatch-recording' && isNumber(version) && isText(host) ? { type: 'meta', version, host } : undefined
}

function logLine(t: number, from: Fields): LogLine | undefined {
  const { stream, text, origin = {}, cursor } = from
  if ((stream !== 'container' && stream !== 'kernel' && stream !== 'file') || !isText(text) || !isFields(origin)) return undefined
  const known = optional(origin, ['container', 'container_id', 'path'], isText)
  return (
    known && {
      type: 'log',
      t,
      stream,
      origin: known,
      text,
      ...(isText(cursor) ? { cursor } : {}),
      ...(isNumber(from['level']) ? { level: from['level'] } : {}),
    }
  )
}

function logTail(t: number, from: Fields): LogTail | undefined {
  const { origin, lines } = from
  const known = isFields(origin) ? optional(origin, ['container', 'container_id', 'path'], isText) : undefined
  return known && Array.isArray(lines) && lines.every(isText) ? { type: 'log_tail', t, origin: known, lines } : undefined
}

function containerEvent(t: number, from: Fields): ContainerEvent | undefined {
  const { action, container, container_id: id, exit_code: exitCode, signal } = from
  const known = optional(from, ['image', 'compose_project', 'compose_service', 'namespace', 'pod', 'error'], isText)
  if (!isText(action) || !isText(container) || !isText(id) || known === undefined) return undefined
  return {
    type: 'container',
    t,
    action,
    container,
    container_id: id,
    ...known,
    ...(isNumber(exitCode) ? { exit_code: exitCode } : {}),
    ...(isNumber(signal) ? { signal } : {}),
  }
}

function processEvent(t: number, from: Fields): ProcessEvent | undefined {
  const { action, pid, root, ancestors } = from
  if ((action !== 'seen' && action !== 'exit') || !isNumber(pid) || !isFields(root) || !Array.isArray(ancestors)) return undefined
  const { pid: rootPid, start_ticks: ticks, started_at: startedAt, command } = root
  const known = optional(
    from,
    ['user', 'slurm_job', 'slurm_name', 'slurm_user', 'account', 'partition', 'unit', 'reported_by', 'reported_words', 'signal'],
    isText,
  )
  const numbers = optional(from, ['uid', 'exit_code', 'time_limit_seconds', 'gpus_requested'], isNumber)
  const outcome = OUTCOMES.find((one) => one === from['outcome'])
  if (!isNumber(rootPid) || !isNumber(ticks) || !isText(command) || known === undefined || numbers === undefined) return undefined
  const first = { pid: rootPid, start_ticks: ticks, command, ...(isNumber(startedAt) ? { started_at: startedAt } : {}) }
  return {
    type: 'process',
    t,
    action,
    pid,
    root: first,
    ancestors: ancestors.filter(isNumber),
    ...known,
    ...numbers,
    ...(outcome === undefined ? {} : { outcome }),
  }
}

function execEvent(t: number, from: Fields): ExecEvent | undefined {
  const { action, id, pid, command } = from
  const texts = optional(from, ['name', 'user', 'signal', 'cause_kind', 'cause_title'], isText)
  const numbers = optional(from, ['start_ticks', 'exit_code'], isNumber)
  if ((action !== 'start' && action !== 'end') || !isText(id) || !isNumber(pid) || !isText(command)) return undefined
  return texts && numbers && { type: 'exec', t, action, id, pid, command, ...texts, ...numbers }
}

const STATS = [
  'allocated_bytes',
  'reserved_bytes',
  'active_bytes',
  'inactive_split_bytes',
  'requested_bytes',
  'num_alloc_retries',
  'num_ooms',
  'num_oom_rejections',
] as const
const stats = (from: unknown): AllocatorStats | undefined => (isFields(from) ? optional(from, STATS, isNumber) : undefined)

function allocatorSample(t: number, from: Fields): AllocatorSample | undefined {
  const { pid, uuid, mig_uuid: mig, container, backend, expandable, limit_bytes: limit, peaks } = from
  const known = stats(from['stats'])
  if (!isNumber(pid) || !isText(uuid) || known === undefined) return undefined
  const highest = isFields(peaks) ? optional(peaks, ['allocated_bytes', 'reserved_bytes'], isNumber) : undefined
  return {
    type: 'allocator',
    t,
    pid,
    uuid,
    ...(isText(mig) ? { mig_uuid: mig } : {}),
    ...(isText(container) ? { container } : {}),
    ...(backend === 'native' || backend === 'cudaMallocAsync' || backend === 'other' ? { backend } : {}),
    ...(typeof expandable === 'boolean' ? { expandable } : {}),
    ...(isNumber(limit) || limit === null ? { limit_bytes: limit } : {}),
    stats: known,
    ...(highest === undefined ? {} : { peaks: highest }),
  }
}

function allocatorOom(t: number, from: Fields): AllocatorOom | undefined {
  const { pid, uuid, mig_uuid: mig, container, request_bytes: request, limit_bytes: limit, free_bytes: free } = from
  const known = stats(from['stats'] ?? {})
  if (!isNumber(pid) || !isText(uuid) || !isNumber(request) || known === undefined) return undefined
  return {
    type: 'allocator_oom',
    t,
    pid,
    uuid,
    ...(isText(mig) ? { mig_uuid: mig } : {}),
    ...(isText(container) ? { container } : {}),
    request_bytes: request,
    ...(isNumber(limit) ? { limit_bytes: limit } : {}),
    ...(isNumber(free) ? { free_bytes: free } : {}),
    stats: known,
    ...poolsOf(from['pools']),
  }
}

function operatorEvent(t: number, from: Fields): OperatorEvent | undefined {
  const { action, incident, by, note } = from
  if (action !== 'set_healthy' || !isText(incident)) return undefined
  return { type: 'operator', t, action, incident, ...(isText(by) ? { by } : {}), ...(isText(note) ? { note } : {}) }
}

const POOL_NUMBERS = [
  'stream',
  'segments',
  'total_bytes',
  'active_bytes',
  'pending_bytes',
  'free_bytes',
  'free_blocks',
  'largest_free_bytes',
  'free_segments',
  'fitting_bytes',
] as const
type PoolNumbers = Readonly<Record<(typeof POOL_NUMBERS)[number], number>>
const hasPoolNumbers = (found: Readonly<Record<string, number>> | undefined): found is PoolNumbers =>
  found !== undefined && POOL_NUMBERS.every((name) => found[name] !== undefined)

/** A list with one entry that is no pool is no list. */
function poolsOf(from: unknown): { readonly pools?: readonly AllocatorPool[] } {
  if (!Array.isArray(from)) return {}
  const pools: AllocatorPool[] = []
  for (const entry of from) {
    const { pool, kind, expandable, ...rest }: Fields = isFields(entry) ? entry : {}
    const numbers = optional(rest, POOL_NUMBERS, isNumber)
    const [first, second]: readonly unknown[] = Array.isArray(pool) ? pool : []
    if (!isNumber(first) || !isNumber(second) || (kind !== 'small' && kind !== 'large') || typeof expandable !== 'boolean' || !hasPoolNumbers(numbers))
      return {}
    const known: PoolNumbers = numbers
    pools.push({ pool: [first, second], kind, expandable, ...known })
  }
  return { pools }
}

const READERS: ReadonlyMap<string, (t: number, from: Fields) => Event | undefined> = new Map<string, (t: number, from: Fields) => Event | undefined>([
  ['log', logLine],
  ['container', containerEvent],
  ['process', processEvent],
  ['exec', execEvent],
  ['hang', hangEvent],
  ['allocator', allocatorSample],
  ['allocator_oom', allocatorOom],
  ['log_tail', logTail],
  ['operator', operatorEvent],
])
