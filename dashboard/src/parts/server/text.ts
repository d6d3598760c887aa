// One inference server in two short lines, and which of them belong to a GPU or to a job.
import type { ServerRow } from '../../../../agent/model/live.ts'
import { memory, percent } from '../../text/format.ts'

export const MEMORY_PARTS = [
  ['weights', 'weights'],
  ['kv_cache', 'KV cache'],
  ['graphs', 'graphs'],
  ['other', 'other'],
] as const

const whole = (value: number): string => Math.round(value).toLocaleString('en')

/** `4 running, 2 waiting · KV cache 63 % · 120 tokens/s`; its state where it is not ready. */
export function nowText(row: ServerRow): string {
  const { state = 'state not known', requests_running: running, requests_waiting: waiting, kv_cache_usage_ratio: kv } = row
  const tokens = row.tokens_rate?.['generation']
  const queue = [running === undefined ? [] : `${whole(running)} running`, waiting === undefined || waiting === 0 ? [] : `${whole(waiting)} waiting`].flat()
  const parts = [
    ...(queue.length === 0 ? [] : [queue.join(', ')]),
    ...(kv === undefined ? [] : [`KV cache ${percent(kv)}`]),
    ...(tokens === undefined ? [] : [`${whole(tokens)} tokens/s`]),
  ]
  return [...(state === 'ready' && parts.length > 0 ? [] : [state]), ...parts].join(' · ')
}

export const gpusOf = ({ gpu = '' }: ServerRow): readonly string[] => (gpu === '' ? [] : gpu.split(','))

/** What its memory is for: of all its GPUs together, for no server says it by GPU. */
export function splitText(row: ServerRow): string {
  const { memory_bytes: split = {} } = row
  const parts = MEMORY_PARTS.flatMap(([part, name]) => (split[part] === undefined ? [] : [`${name} ${memory(split[part])}`]))
  const { length } = gpusOf(row)
  return parts.length === 0 ? '' : `${parts.join(', ')}${length > 1 ? ` on its ${length} GPUs` : ''}`
}

type Holder = { readonly key: string; readonly containers: readonly string[]; readonly pids: readonly number[]; readonly gpus: readonly number[] }

/**
 * Whether a job is this server's. Outside of containers the process that listens is mostly another one than those that hold memory: there it is the
 * job if no other holds memory of the server's GPUs outside of containers.
 */
export function isServerOf(row: ServerRow, job: Holder, all: readonly Holder[]): boolean {
  if (row.container !== undefined) return job.containers.includes(row.container)
  if (job.containers.length > 0) return false
  if (row.pid !== undefined && job.pids.includes(row.pid)) return true
  if (all.some(({ pids }) => row.pid !== undefined && pids.includes(row.pid))) return false
  const gpus = gpusOf(row).map(Number)
  const holders = all.filter(({ containers, gpus: held }) => containers.length === 0 && gpus.some((gpu) => held.includes(gpu)))
  return gpus.length > 0 && holders.length === 1 && holders[0]?.key === job.key
}
