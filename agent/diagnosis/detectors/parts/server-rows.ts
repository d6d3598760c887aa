// What each inference server says of itself now, one row a server, with the cards that its processes hold.
import * as inference from '../../../metrics/inference.ts'
import type { MemoryPart, ServerState } from '../../../servers/model.ts'
import type { About } from '../../../model/finding.ts'
import type { Labels } from '../../../model/series.ts'
import type { Present } from './present.ts'

export type ServerRow = {
  readonly key: string
  readonly name: string
  /** The family's id: `vllm`. */
  readonly server: string
  readonly model: string | undefined
  readonly container: string | undefined
  readonly pid: number | undefined
  readonly uuids: readonly string[]
  readonly gpus: readonly string[]
  readonly state: ServerState | undefined
  /** Of each card, as it was told to take. */
  readonly memoryShare: number | undefined
  readonly context: number | undefined
  readonly layers: string | undefined
  readonly running: number | undefined
  readonly waiting: number | undefined
  /** Tokens of the longest request since it started. */
  readonly longest: number | undefined
  readonly kvUsage: number | undefined
  readonly kvTokens: number | undefined
  readonly preemptions: number | undefined
  readonly generated: number | undefined
  readonly offloaded: number | undefined
  /** Seconds. */
  readonly unanswered: number | undefined
  /** Of all its cards together. */
  readonly memory: Readonly<Partial<Record<MemoryPart, number>>>
}
type Draft = { -readonly [Key in keyof ServerRow]: ServerRow[Key] }

const SCALARS: Readonly<Record<string, 'running' | 'waiting' | 'longest' | 'kvUsage' | 'kvTokens' | 'preemptions' | 'offloaded' | 'unanswered'>> = {
  [inference.inferenceRequestsRunning.name]: 'running',
  [inference.inferenceRequestsWaiting.name]: 'waiting',
  [inference.inferenceLongestRequestTokens.name]: 'longest',
  [inference.inferenceKvCacheUsageRatio.name]: 'kvUsage',
  [inference.inferenceKvCacheCapacityTokens.name]: 'kvTokens',
  [inference.inferencePreemptionsTotal.name]: 'preemptions',
  [inference.inferenceOffloadedRatio.name]: 'offloaded',
  [inference.inferenceUnansweredSeconds.name]: 'unanswered',
}
const [INFO, MEMORY, TOKENS] = [inference.inferenceServerInfo.name, inference.inferenceMemoryBytes.name, inference.inferenceTokensTotal.name]
export const SERVER_METRICS: readonly string[] = [INFO, MEMORY, TOKENS, ...Object.keys(SCALARS)]
const SOURCE = 'inference-servers'
const HEARD_MS = 20_000

const STATES: ReadonlySet<string> = new Set<ServerState>(['loading', 'ready', 'sleeping', 'dead'])
const isState = (text: string | undefined): text is ServerState => text !== undefined && STATES.has(text)
const isPart = (text: string | undefined): text is MemoryPart => text === 'weights' || text === 'kv_cache' || text === 'graphs' || text === 'other'
const worth = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
const numberOf = (text: string | undefined): number | undefined =>
  text === undefined || text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text)
/** Servers' series are the same from round to round. */
const keys = new WeakMap<Labels, string>()
function keyOf(labels: Labels): string {
  let key = keys.get(labels)
  if (key === undefined) {
    const { name = '', container = '', pid = '' } = labels
    keys.set(labels, (key = `${name} ${container} ${pid}`))
  }
  return key
}

function draftOf(present: Present, labels: Labels): Draft {
  const gpus = (labels['gpu'] ?? '').split(',').filter((index) => index !== '')
  const state = labels['state']
  return {
    key: keyOf(labels),
    name: labels['name'] ?? '',
    server: labels['server'] ?? '',
    model: worth(labels['model']),
    container: worth(labels['container']),
    pid: numberOf(labels['pid']),
    gpus,
    uuids: gpus.flatMap((index) => present.inventory.byIndex(Number(index))?.uuid ?? []),
    state: isState(state) ? state : undefined,
    memoryShare: numberOf(labels['memory_share']),
    context: numberOf(labels['context']),
    layers: worth(labels['layers']),
    running: undefined,
    waiting: undefined,
    longest: undefined,
    kvUsage: undefined,
    kvTokens: undefined,
    preemptions: undefined,
    generated: undefined,
    offloaded: undefined,
    unanswered: undefined,
    memory: {},
  }
}

type Known = { readonly t: number; readonly heard: number | undefined; readonly rows: readonly ServerRow[] }
const known = new WeakMap<Present, Known>()
/** Made once for all detectors that ask in the same judgment. */
export function serverRowsOf(present: Present): readonly ServerRow[] {
  const [t, heard] = [present.t(), present.heard(SOURCE)]
  const last = known.get(present)
  if (last !== undefined && last.t === t && last.heard === heard) return last.rows
  const rows = rowsOf(present)
  known.set(present, { t, heard, rows })
  return rows
}

function rowsOf(present: Present): readonly ServerRow[] {
  const rows = new Map<string, Draft>()
  for (const { series } of present.of(INFO)) if (series.labels['name'] !== undefined) rows.set(keyOf(series.labels), draftOf(present, series.labels))
  for (const [metric, field] of Object.entries(SCALARS))
    for (const { series, value } of present.of(metric)) {
      const row = rows.get(keyOf(series.labels))
      if (row !== undefined) row[field] = value
    }
  for (const { series, value } of present.of(MEMORY)) {
    const [row, part] = [rows.get(keyOf(series.labels)), series.labels['part']]
    if (row !== undefined && isPart(part)) row.memory = { ...row.memory, [part]: value }
  }
  for (const { series, value } of present.of(TOKENS)) {
    const row = rows.get(keyOf(series.labels))
    if (row !== undefined && series.labels['type'] === 'generation') row.generated = value
  }
  return [...rows.values()]
}

/** A server that is not among the rows has ended, if servers are looked for at all. */
export const serversAreRead = (present: Present, t: number): boolean => Math.abs(t - (present.heard(SOURCE) ?? -Infinity)) <= HEARD_MS

export function aboutServer({ name, container, pid, uuids }: ServerRow): About {
  const [uuid] = uuids
  return {
    named: name,
    ...(uuids.length === 1 && uuid !== undefined ? { uuid } : {}),
    ...(container === undefined ? {} : { container }),
    ...(pid === undefined ? {} : { pid }),
  }
}
