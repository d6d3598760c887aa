// Who a simulated host is: its cards, and the containers and processes that run on it at a time. Jobs end and start, and with them ids and pids change.
import { createHash } from 'node:crypto'

const HOUR_MS = 3_600_000
/** How long a container lives, on average. Training, notebooks and experiments come and go; services are rolled out once a day. Assumed, not measured. */
const JOB_MS = 4 * HOUR_MS
const SERVICE_MS = 24 * HOUR_MS
const JOBS = /^(pretrain|finetune|notebook|old-experiment|search-embedder)/

export const lifeOf = (container: string): number => (JOBS.test(container) ? JOB_MS : SERVICE_MS)

export type Life = { readonly generation: number; readonly bornAt: number }

/** Text of `length` hexadecimal digits that always is the same for the same name. */
const hex = (name: string, length: number): string => createHash('sha1').update(name).digest('hex').slice(0, length)
const share = (name: string): number => Number.parseInt(hex(name, 8), 16) / 2 ** 32

export function hostName(host: number): string {
  return `gpu-${String(host).padStart(4, '0')}`
}

export function uuidOf(host: number, gpu: number): string {
  const digits = hex(`${host} gpu ${gpu}`, 32)
  return `GPU-${[digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-')}`
}

/** Each container of each host has its own length of life, half to one and a half times the average, and its own moment of the first change. */
export function lifeAt(host: number, container: string, now: number): Life {
  const name = `${host} ${container}`
  const length = lifeOf(container) * (0.5 + share(`${name} length`))
  const phase = share(`${name} phase`) * length
  const generation = Math.floor((now - phase) / length)
  return { generation, bornAt: generation * length + phase }
}

export const containerId = (host: number, container: string, generation: number): string => hex(`${host} ${container} ${generation}`, 12)

/** Of the whole range that Linux gives on large hosts (kernel.pid_max, 4,194,304). */
export const pidOf = (host: number, pid: string, generation: number): string => String(300 + Math.floor(share(`${host} pid ${pid} ${generation}`) * 4_193_000))
