// The driver's list of a GPU's processes with one row for each process and instance. Pure.
import type { ProcessRow } from '../sampler/protocol.ts'

/** A pid or a container's id, with the instance where there is one: most GPUs have none, and no text is made for their rows each second. */
export type Key = string | number
export const keyOf = ({ gi, ci }: ProcessRow, id: Key): Key => (gi === undefined && ci === undefined ? id : `${gi ?? ''}/${ci ?? ''}/${id}`)
export type Listed = { readonly of: readonly ProcessRow[]; readonly rows: readonly (readonly [Key, ProcessRow])[]; readonly pids: readonly number[] }

/**
 * One row per (gi, ci, pid): NVML may list a process for the GPU and again for its instance (nvml-abi section 9.4); the larger figure is the whole,
 * and a row that names no instance says nothing beside one of the same pid that does.
 */
function mergeRows(rows: readonly ProcessRow[]): ReadonlyMap<Key, ProcessRow> {
  const merged = new Map<Key, ProcessRow>()
  const placed = new Set<number>()
  for (const row of rows) if (row.gi !== undefined) placed.add(row.pid)
  for (const row of rows) {
    if (row.gi === undefined && placed.has(row.pid)) continue
    const key = keyOf(row, row.pid)
    const known = merged.get(key)
    if (known === undefined || (known.bytes ?? -1) < (row.bytes ?? -1)) merged.set(key, row)
  }
  return merged
}

export function listedOf(of: readonly ProcessRow[]): Listed {
  const rows = [...mergeRows(of)]
  return { of, rows, pids: [...new Set(rows.map(([, { pid }]) => pid))] }
}
