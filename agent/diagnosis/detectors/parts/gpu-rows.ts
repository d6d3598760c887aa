// The newest readings as one row per GPU, for detectors that look at several metrics of a card. Rows are reused: no garbage per look.
import type { Labels, Series } from '../../../model/series.ts'
import type { Present } from './present.ts'

/** `labels`: those that a series must carry; a series of a MIG instance belongs to no column unless `instances` says so. */
export type Column = { readonly metric: string; readonly labels?: Labels; readonly instances?: boolean }
export type GpuRow<Name extends string> = {
  readonly uuid: string
  /** The host's number of the GPU. */
  index: number
  /** The newest value of `warpwatch_gpu_info`; undefined before the first. */
  name: string | undefined
  /** Absent = not read now. Of several series of a column (MIG instances) the highest. */
  readonly now: { [Key in Name]?: number | undefined }
  /** When the column that sets the pace was read; undefined = not read now, or no column does. */
  readT: number | undefined
}
type Place<Name extends string> = { readonly row: GpuRow<Name>; readonly name: Name; readonly index: number }
export type GpuRows<Name extends string> = { readonly read: () => ReadonlyMap<string, GpuRow<Name>> }

/** More GPUs than any host has: UUIDs that come and go must not pile up. */
const MAX_ROWS = 1_024

export const metricsOf = (columns: Readonly<Record<string, Column>>): readonly string[] => [...new Set(Object.values(columns).map(({ metric }) => metric))]

function fits({ labels = {}, instances = false }: Column, of: Labels): boolean {
  if (of['gi'] !== undefined && !instances) return false
  return Object.entries(labels).every(([name, value]) => of[name] === value)
}

/** `pace`: the column whose time shows whether a look is a new one; after a lost scrape the values before it stay. */
export function createGpuRows<Name extends string>(present: Present, columns: Readonly<Record<Name, Column>>, pace?: NoInfer<Name>): GpuRows<Name> {
  const isName = (key: string): key is Name => Object.hasOwn(columns, key)
  const names = Object.keys(columns).filter(isName)
  const metrics = [...new Set(names.map((name) => columns[name].metric))]
  const rows = new Map<string, GpuRow<Name>>()
  /** Sources use the same Series in each tick: where its value goes is found once. */
  const places = new WeakMap<Series, Place<Name> | 'none'>()

  const rowOf = (uuid: string, index: number): GpuRow<Name> => {
    const known = rows.get(uuid)
    if (known !== undefined) return known
    if (rows.size >= MAX_ROWS) for (const oldest of rows.keys()) if (rows.delete(oldest)) break
    const row: GpuRow<Name> = { uuid, index, name: undefined, now: {}, readT: undefined }
    rows.set(uuid, row)
    return row
  }
  const placeOf = (series: Series): Place<Name> | 'none' => {
    const { uuid, gpu } = series.labels
    const name = names.find((candidate) => columns[candidate].metric === series.metric.name && fits(columns[candidate], series.labels))
    const place = uuid === undefined || name === undefined ? ('none' as const) : { row: rowOf(uuid, Number(gpu)), name, index: Number(gpu) }
    places.set(series, place)
    return place
  }

  return {
    read() {
      rows.forEach((row) => {
        row.readT = undefined
        for (let at = 0; at < names.length; at++) {
          const name = names[at]
          if (name !== undefined) row.now[name] = undefined
        }
      })
      for (let of = 0; of < metrics.length; of++) {
        const metric = metrics[of]
        if (metric === undefined) continue
        const readings = present.of(metric)
        const times = pace !== undefined && columns[pace].metric === metric ? present.timesOf(metric) : undefined
        for (let at = 0; at < readings.length; at++) {
          const reading = readings[at]
          if (reading === undefined) continue
          const { series, value } = reading
          let place = places.get(series)
          // A row that was given up is made again.
          if (place === undefined || (place !== 'none' && rows.get(place.row.uuid) !== place.row)) place = placeOf(series)
          if (place === 'none') continue
          const before = place.row.now[place.name]
          place.row.now[place.name] = before === undefined ? value : Math.max(before, value)
          if (place.name === pace) place.row.readT = times?.[at]
          place.row.index = place.index
        }
      }
      for (const { uuid, name } of present.inventory.gpus()) {
        const row = rows.get(uuid)
        if (row !== undefined) row.name = name ?? row.name
      }
      return rows
    },
  }
}

/** `GPU 3 (NVIDIA H100 80GB HBM3)`. */
export const gpuText = ({ index, name }: { readonly index: number; readonly name: string | undefined }): string =>
  `GPU ${Number.isInteger(index) ? index : '?'}${name === undefined ? '' : ` (${name})`}`
