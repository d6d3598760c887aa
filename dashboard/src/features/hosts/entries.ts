// The rows of /api/v1/hosts, looked at before they are shown, and the order in which they stand.
import type { HostEntry } from '../../../../agent/model/hosts.ts'
import { isObject } from '../../parts/connection/api.ts'

const isSummary = (value: unknown): boolean =>
  isObject(value) &&
  ['host', 'version'].every((key) => typeof value[key] === 'string') &&
  ['t', 'gpus', 'memory_used_bytes', 'memory_total_bytes', 'jobs_running'].every((key) => typeof value[key] === 'number') &&
  Array.isArray(value['silent']) &&
  isObject(value['firing'])
const isEntry = (value: unknown): value is HostEntry =>
  isObject(value) && typeof value['name'] === 'string' && (value['summary'] === undefined || isSummary(value['summary']))

export function parseEntries(value: unknown): readonly HostEntry[] {
  if (!Array.isArray(value) || !value.every(isEntry)) throw new Error('hosts must be a list of hosts')
  return value
}

/** How much a row wants to be looked at: one that does not answer first, then what fires. */
export function trouble({ problem, summary }: HostEntry): number {
  if (problem !== undefined) return 3
  if (summary === undefined) return 0
  if (summary.firing.critical > 0 || summary.silent.length > 0) return 2
  return summary.firing.warning > 0 ? 1 : 0
}
/** This host first, then the troubled ones; within them the order of the configuration, so that rows do not jump. */
export const inOrder = (entries: readonly HostEntry[]): readonly HostEntry[] =>
  entries.toSorted((a, b) => Number(b.self === true) - Number(a.self === true) || trouble(b) - trouble(a))
