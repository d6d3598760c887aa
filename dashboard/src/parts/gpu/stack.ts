// Stacks a GPU's memory for its chart: containers, and jobs outside containers, from the bottom up, each with what its PyTorch keeps without using it on top,
// then what processes hold that were not read, then what nobody owns up to what is used.
import { type ColumnBook, type Columns, held, HOLDS_S } from '../chart/columns.ts'
import { ALLOCATOR_MEASURES, LANE } from '../live/lanes.ts'
import type { Timeline } from '../live/timeline.ts'

export type Layer = {
  /** `container`: a job outside containers too, whose key tells it apart (`outsideKey`). */
  readonly kind: 'container' | 'stranded' | 'cache' | 'host' | 'unattributed'
  readonly key: string
  /** Containers that share a layer: the smallest, where a long range has seen very many. */
  readonly members?: readonly string[]
}
export const HOST_LAYER: Layer = { kind: 'host', key: 'processes outside containers' }
export const UNATTRIBUTED_LAYER: Layer = { kind: 'unattributed', key: 'unattributed' }

/** Below this a layer is noise of two counters read microseconds apart, not memory. */
const NOISE_BYTES = 1024 * 1024

/** More layers than that cannot be distinguished; a month of a busy host sees hundreds of containers. */
const MOST_CONTAINERS = 12

const sumOf = (values: Float64Array | undefined): number => values?.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + value), 0) ?? 0

/** The layers of a GPU in the window, bottom first; by name, so that a container stays in its place while others come and go. */
export function layersOf(timeline: Timeline, uuid: string): readonly Layer[] {
  const prefix = LANE.containers(uuid)
  const all = timeline.keys(prefix).map((lane) => lane.slice(prefix.length))
  const sums = new Map(all.length > MOST_CONTAINERS ? all.map((key) => [key, sumOf(timeline.values(LANE.container(uuid, key)))]) : [])
  const bySize = all.length > MOST_CONTAINERS ? all.toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0)) : all
  const members = bySize.slice(MOST_CONTAINERS)
  const layers = bySize
    .slice(0, MOST_CONTAINERS)
    .toSorted()
    .flatMap((key): Layer[] => {
      const probed = timeline.values(LANE.allocator('reserved_bytes', uuid, key)) !== undefined
      return [
        { kind: 'container', key },
        ...(probed
          ? ([
              { kind: 'stranded', key },
              { kind: 'cache', key },
            ] as const)
          : []),
      ]
    })
  const others: readonly Layer[] = members.length === 0 ? [] : [{ kind: 'container', key: `${members.length} others`, members }]
  return [...layers, ...others, HOST_LAYER, UNATTRIBUTED_LAYER]
}

export const membersOf = ({ key, members = [key] }: Layer): readonly string[] => members

/** What a layer holds, of its one container or its many, at a place of their lanes; NaN where none of them was there. */
function ownedAt(lanes: readonly (Float64Array | undefined)[], place: number): number {
  let sum = NaN
  for (const values of lanes) {
    const value = values?.[place] ?? NaN
    if (!Number.isNaN(value)) sum = Number.isNaN(sum) ? value : sum + value
  }
  return sum
}

/** Bytes of each layer at one place of the window; undefined where it is not known how much was used. */
export function layerBytes(used: number, containers: readonly number[], unattributed: number): { readonly host: number; readonly unattributed: number } {
  let held = 0
  for (const bytes of containers) if (!Number.isNaN(bytes)) held += bytes
  const rest = Math.max(0, used - held)
  // Where the processes could not be read, all that no container holds is unattributed.
  const nobody = Number.isNaN(unattributed) ? rest : Math.min(rest, Math.max(0, unattributed))
  const host = rest - nobody
  return host < NOISE_BYTES ? { host: 0, unattributed: rest } : { host, unattributed: nobody }
}

export type Kept = { readonly cache: number; readonly stranded: number }
/**
 * What PyTorch's allocators keep without using it: the cache can be given back, what is stranded is beside live blocks and cannot.
 * Never more than the driver counts for the container: the two are read at different moments.
 */
export function keptBytes(held: number, reserved: number, active: number, split: number): Kept {
  if (Number.isNaN(reserved) || Number.isNaN(active)) return { cache: 0, stranded: 0 }
  const idle = Math.min(Math.max(0, reserved - active), held)
  const stranded = Math.min(Number.isNaN(split) ? 0 : Math.max(0, split), idle)
  return { cache: idle - stranded, stranded }
}

/** The place of the highest value in [from, to). A lone missed second is thinner than a pixel: it is drawn over with the one before, not cut out. */
function highest(values: Float64Array, from: number, to: number): number {
  let at = from
  for (let i = from + 1; i < to; i++) if ((values[i] ?? NaN) > (values[at] ?? NaN) || Number.isNaN(values[at])) at = i
  return from > 0 && to - from === 1 && Number.isNaN(values[at]) && !Number.isNaN(values[to] ?? NaN) ? from - 1 : at
}

/**
 * Columns for uPlot: the seconds, then the cumulated layers from the top one (all that is used) down to the lowest; where cells are coarse, the highest
 * use of each at the end. Of cells that share a pixel the one is drawn in which most was used: `every` of them make a point, on whole multiples, so that
 * the chart moves on without changing its shape.
 */
export function stackRows(timeline: Timeline, uuid: string, layers: readonly Layer[], into: ColumnBook, every = 1): Columns {
  const used = timeline.values(LANE.used(uuid)) ?? new Float64Array()
  const unattributed = timeline.values(LANE.unattributed(uuid))
  const peaks = timeline.peaks(LANE.used(uuid))
  const containers = layers.filter((layer) => layer.kind === 'container')
  const lanes = containers.map((layer) => membersOf(layer).map((key) => timeline.values(LANE.container(uuid, key))))
  const allocators = containers.map(({ key }) => ALLOCATOR_MEASURES.map((measure) => timeline.values(LANE.allocator(measure, uuid, key))))
  const hold = Math.ceil(HOLDS_S / timeline.step)
  const columns = into.columns(1 + layers.length + (timeline.step > 1 ? 1 : 0), used.length)
  const put = (column: number, place: number, value: number): void => void ((columns[column] ?? used)[place] = value)
  const owned: number[] = containers.map(() => NaN)
  const first = timeline.end() - used.length + 1
  let count = 0
  for (let i = 0; i < used.length; count++) {
    const end = timeline.step > 1 ? i + 1 : Math.min(used.length, i + every - ((first + i) % every))
    const at = highest(used, i, end)
    put(0, count, timeline.step > 1 ? timeline.secondAt(i) : first + (Number.isNaN(used[at]) ? end - 1 : Math.max(i, at)))
    i = end
    const usedBytes = used[at] ?? NaN
    if (Number.isNaN(usedBytes)) {
      for (let column = 1; column < columns.length; column++) put(column, count, NaN)
      continue
    }
    for (let lane = 0; lane < lanes.length; lane++) owned[lane] = ownedAt(lanes[lane] ?? [], at)
    const rest = layerBytes(usedBytes, owned, unattributed?.[at] ?? NaN)
    let sum = 0
    let container = -1
    let kept: Kept = { cache: 0, stranded: 0 }
    for (let layer = 0; layer < layers.length; layer++) {
      const kind = layers[layer]?.kind
      if (kind === 'container') {
        const bytes = owned[++container] ?? NaN
        const [reserved, active, split] = layers[layer + 1]?.kind === 'stranded' ? (allocators[container] ?? []) : []
        kept = keptBytes(Number.isNaN(bytes) ? 0 : bytes, held(reserved, at, hold), held(active, at, hold), held(split, at, hold))
        if (!Number.isNaN(bytes)) sum += bytes - kept.cache - kept.stranded
      } else sum += kind === 'cache' || kind === 'stranded' ? kept[kind] : kind === 'host' ? rest.host : rest.unattributed
      put(layers.length - layer, count, sum)
    }
    if (peaks !== undefined) put(layers.length + 1, count, peaks[at] ?? NaN)
  }
  return into.filled(count)
}
