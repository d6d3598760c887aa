// The MIG instances of one GPU: what is measured of a whole GPU instance (GPM) goes to each of its compute instances.
import type { MutableRow } from './builder.ts'

const gapsOf = (...rows: readonly MutableRow[]): Pick<MutableRow, 'gaps'> => {
  const gaps = rows.flatMap((row) => row.gaps ?? [])
  return gaps.length === 0 ? {} : { gaps }
}

/** A GPU instance without a compute instance keeps a row of its own, with an empty `ci`. */
export function finishMig(rows: readonly MutableRow[]): MutableRow[] {
  const whole = new Map(rows.flatMap((row) => (row['ci'] === '' ? [[row['gi'], row] as const] : [])))
  const parted = new Set(rows.flatMap((row) => (row['ci'] === '' ? [] : [row['gi']])))
  return rows.flatMap((row) => {
    if (row['ci'] === '') return parted.has(row['gi']) ? [] : [row]
    const instance = whole.get(row['gi'])
    return [instance === undefined ? row : { ...instance, ...row, ...gapsOf(row, instance) }]
  })
}
