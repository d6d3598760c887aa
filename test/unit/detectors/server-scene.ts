// A host with inference servers on one or two cards, second by second, as events.
import type { Event } from '../../../agent/model/event.ts'
import { seriesOf, scrapeOf, timeOf, type Values } from '../../setup/rule-scenes/scene.ts'
import { uuid } from '../incidents/scene.ts'
import { oomOf } from './memory-scene.ts'

export type ServerNow = {
  readonly name: string
  readonly server?: string
  readonly container?: string
  readonly gpu?: string
  /** Empty: not known. */
  readonly state?: 'loading' | 'ready' | 'sleeping' | 'dead' | ''
  readonly share?: number
  readonly context?: number
  readonly layers?: string
  readonly values?: Values
  /** GiB that its process holds, and its pid on the card. */
  readonly gib?: number
  readonly enginePid?: number
  /** CPU cores that its container uses. */
  readonly cores?: number
}
export type HostNow = {
  readonly utilization?: number
  /** Busy by its counter and idle by power and traffic. */
  readonly spins?: boolean
  readonly servers: readonly ServerNow[]
  /** Others on card 0. */
  readonly others?: readonly { readonly pid: number; readonly container: string; readonly gib: number; readonly fails?: boolean }[]
}
const GIB = 2 ** 30
const TOTAL = 80 * GIB
const CARD = { gpu: '0', uuid: uuid(0) }
const pidOf = ({ enginePid, name }: ServerNow): number => enginePid ?? 1_000 + name.length

export function hostEvents(second: number, { utilization = 0.9, spins, servers, others = [] }: HostNow): readonly Event[] {
  const held = [
    ...servers.flatMap((server) =>
      server.gib === undefined ? [] : [{ pid: pidOf(server), container: server.container ?? server.name, bytes: server.gib * GIB }],
    ),
    ...others.map(({ pid, container, gib }) => ({ pid, container, bytes: gib * GIB })),
  ]
  const used = held.reduce((sum, { bytes }) => sum + bytes, GIB / 2)
  const card = scrapeOf(
    second,
    'gpu',
    {
      ...(spins === undefined ? {} : { gpu_spinning: Number(spins) }),
      gpu_info: 1,
      gpu_utilization_ratio: utilization,
      gpu_memory_used_bytes: used,
      gpu_memory_free_bytes: TOTAL - used,
      gpu_memory_total_bytes: TOTAL,
    },
    { labels: CARD, group: 'fast' },
  )
  const processes = held.map(({ pid, container, bytes }) => ({
    series: seriesOf('process_gpu_memory_bytes', {
      ...CARD,
      pid: String(pid),
      process: 'python3',
      container,
      container_id: container.padEnd(12, '0'),
      type: 'C',
    }),
    value: bytes,
  }))
  const list: Event = { type: 'scrape', t: timeOf(second), source: 'gpu', group: 'processes', ttlMs: 3_000, durationMs: 0, readings: processes, gaps: [] }
  const fails = others.flatMap(({ pid, fails: now }) => (now === true ? [oomOf(second, pid, 2, { active: 10, reserved: 10, ooms: 1 })] : []))
  return [card, list, ...fails, ...(second % 5 === 0 ? [serversSay(second, servers), cpuOf(second, servers)] : [])]
}

const seconds = new Map<string, { t: number; sum: number }>()
function cpuOf(second: number, servers: readonly ServerNow[]): Event {
  const readings = servers.flatMap(({ container, name, cores }) => {
    if (cores === undefined) return []
    const id = (container ?? name).padEnd(12, '0')
    const before = second === 0 ? undefined : seconds.get(id)
    const sum = (before?.sum ?? 0) + cores * (second - (before?.t ?? second))
    seconds.set(id, { t: second, sum })
    return [{ series: seriesOf('container_cpu_seconds_total', { container: container ?? name, container_id: id }), value: sum }]
  })
  return { type: 'scrape', t: timeOf(second), source: 'containers', group: '', ttlMs: 30_000, durationMs: 0, readings, gaps: [] }
}

function serversSay(second: number, servers: readonly ServerNow[]): Event {
  const readings = servers.flatMap(({ name, server = 'vllm', container = name, gpu = '0', state = 'ready', share, context, layers, values = {} }) => {
    const labels = { name, container, pid: '900', gpu, server }
    const info = { ...labels, model: 'org/model', state, memory_share: String(share ?? ''), context: String(context ?? ''), layers: layers ?? '' }
    return [
      { series: seriesOf('inference_server_info', info), value: 1 },
      ...Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ series: seriesOf(key, labels), value }])),
    ]
  })
  return { type: 'scrape', t: timeOf(second), source: 'inference-servers', group: '', ttlMs: 30_000, durationMs: 0, readings, gaps: [] }
}

/** As a server says it: requests, KV cache and counters. */
export const says = (of: {
  readonly running?: number
  readonly waiting?: number
  readonly kv?: number
  readonly preempted?: number
  readonly generated?: number
  readonly offloaded?: number
  readonly weightsGib?: number
  readonly cacheGib?: number
  readonly context?: number
  readonly longest?: number
  readonly unanswered?: number
}): Values => ({
  inference_requests_running: of.running,
  inference_requests_waiting: of.waiting,
  inference_context_tokens: of.context,
  inference_longest_request_tokens: of.longest,
  inference_unanswered_seconds: of.unanswered,
  inference_kv_cache_usage_ratio: of.kv,
  inference_kv_cache_capacity_tokens: of.cacheGib === undefined ? undefined : 100_000,
  inference_preemptions_total: of.preempted,
  'inference_tokens_total type=generation': of.generated,
  inference_offloaded_ratio: of.offloaded,
  'inference_memory_bytes part=weights source=log': of.weightsGib === undefined ? undefined : of.weightsGib * GIB,
  'inference_memory_bytes part=kv_cache source=log': of.cacheGib === undefined ? undefined : of.cacheGib * GIB,
})
