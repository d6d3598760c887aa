// Finished rows as the types of model/live.ts: what identifies a row is there, all else is a measure.
import type { AllocatorRow, ContainerRow, GpuRow, HostRow, ProcessRow, ProgressRow, ServerRow } from '../../model/live.ts'

const has = (row: object, field: string, type: 'string' | 'number'): boolean => typeof Reflect.get(row, field) === type

export const isGpuRow = (row: object): row is GpuRow => has(row, 'uuid', 'string') && has(row, 'index', 'number')
export const isContainerRow = (row: object): row is ContainerRow => has(row, 'container_id', 'string') && has(row, 'container', 'string')
export const isProcessRow = (row: object): row is ProcessRow =>
  has(row, 'pid', 'number') && has(row, 'process', 'string') && has(row, 'uuid', 'string') && has(row, 'gpu', 'string')
export const isAllocatorRow = (row: object): row is AllocatorRow =>
  has(row, 'pid', 'number') && has(row, 'process', 'string') && has(row, 'uuid', 'string') && has(row, 'gpu', 'string')
export const isServerRow = (row: object): row is ServerRow => has(row, 'name', 'string') && has(row, 'server', 'string')
/** A job without progress has a row of its own figures only. */
export const isJobProgressRow = (row: object): row is ProgressRow => has(row, 'job', 'string') && has(row, 'last_progress_timestamp_seconds', 'number')
const isHostRow = (row: object): row is HostRow => has(row, 'hostname', 'string')

export const only = <Row extends object>(rows: readonly object[], is: (row: object) => row is Row): readonly Row[] => rows.filter(is)

export function checkedHost(row: object): HostRow {
  if (!isHostRow(row)) throw new Error('the host row has no hostname')
  return row
}
