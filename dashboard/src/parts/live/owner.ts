// Whose a process is: its container's, Slurm job's or unit's. Apart from the rows of the tables, as the cards need no more than this.
import type { ProcessRow } from '../../../../agent/model/live.ts'
import { containerKey, outsideKey } from '../../text/names.ts'

export const ownerOf = (row: ProcessRow): string | undefined =>
  row.container === undefined ? (row.slurm_job === undefined ? row.unit : `Slurm job ${row.slurm_job}`) : containerKey(row)

/** Who holds memory of a GPU outside containers, the largest first; `key`: of one job (`outsideKey`). */
export function outsideContainers(
  rows: readonly ProcessRow[],
  uuid: string,
  key?: string,
): readonly { readonly owner: string; readonly bytes: number | undefined }[] {
  return rows
    .filter((row) => row.uuid === uuid && row.container === undefined && (key === undefined || outsideKey(row) === key))
    .toSorted((a, b) => (b.gpu_memory_bytes ?? 0) - (a.gpu_memory_bytes ?? 0))
    .map((row) => ({ owner: `${ownerOf(row) ?? 'host'} (${row.process}, PID ${row.pid})`, bytes: row.gpu_memory_bytes }))
}
