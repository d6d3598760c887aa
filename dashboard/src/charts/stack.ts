// Stacks a GPU's memory for its chart: containers from the bottom up, each with what its PyTorch keeps without using it on top, then processes outside
// containers, then what nobody owns up to what is used.
import { ALLOCATOR_MEASURES, LANE } from '../state/lanes.ts'
import type { Timeline } from '../state/timeline.ts'

export type Layer = {
  readonly kind: 'container' | 'stranded' | 'cache' | 'host' | 'unattributed'
  readonly key: string
  /** Containers that share a layer: the smallest, where a long range has seen very many. */
  readonly members?: readonly string[]
}
export const HOST_LAYER: Layer = { kind: 'host', key: 'processes outside containers' }
export const UNATTRIBUTED_LAYER: Layer = { kind: 'unattributed', key: 'unattributed' }

/** Below this a layer is noise of two counters read microseconds apart, not memory. */
const NOISE_BYTES = 1024 * 1024

/** More layers than that cannot be told apart; a month of a busy host sees hundreds of containers. */
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
  const others: readonly Layer[] = members.length === 0 ? [] : [{ kind: 'container', key: `${members.length} other containers`, members }]
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
 * What PyTorch's allocators keep without using it: the cache can be given back, what is stranded lies beside live blocks and cannot.
 * Never more than the driver counts for the container: the two are read at different moments.
 */
export function keptBytes(held: number, reserved: number, active: number, split: number): Kept {
  if (Number.isNaN(reserved) || Number.isNaN(active)) return { cache: 0, stranded: 0 }
  const idle = Math.min(Math.max(0, reserved - active), held)
  const stranded = Math.min(Number.isNaN(split) ? 0 : Math.max(0, split), idle)
  return { cache: idle - stranded, stranded }
}

/** Columns as uPlot takes them: seconds, then values. */
export type Rows = [x: number[], ...y: (number | null)[][]]
export const noRows = (): Rows => [[]]

/** Probes, links and clocks are read less often than once a second: what they said holds until the next word. */
export const HOLDS_S = 10

/** The value at a place, or where there is none the last of so many cells before it. */
function held(values: Float64Array | undefined, place: number, cells: number): number {
  if (values === undefined) return NaN
  for (let at = place; at >= 0 && at >= place - cells; at--) {
    const value = values[at] ?? NaN
    if (!Number.isNaN(value)) return value
  }
  return NaN
}

/** The seconds of all places, and as many rows behind them. */
function prepare(timeline: Timeline, size: number, rows: number, into: Rows): void {
  while (into.length < rows + 1) into.push([])
  for (const row of into) row.length = size
  const { step } = timeline
  const start = timeline.end() - size + 1
  for (let i = 0; i < size; i++) into[0][i] = step === 1 ? start + i : timeline.secondAt(i)
}

/**
 * Rows for uPlot: the seconds, then the cumulated layers from the top one (all that is used) down to the lowest; where cells are coarse, the highest
 * use of each at the end. `into` is reused from call to call.
 */
export function stackRows(timeline: Timeline, uuid: string, layers: readonly Layer[], into: Rows): Rows {
  const used = timeline.values(LANE.used(uuid))
  const unattributed = timeline.values(LANE.unattributed(uuid))
  const peaks = timeline.peaks(LANE.used(uuid))
  const containers = layers.filter((layer) => layer.kind === 'container')
  const lanes = containers.map((layer) => membersOf(layer).map((key) => timeline.values(LANE.container(uuid, key))))
  const allocators = containers.map(({ key }) => ALLOCATOR_MEASURES.map((measure) => timeline.values(LANE.allocator(measure, uuid, key))))
  const size = used?.length ?? 0
  const rows = layers.length + (timeline.step > 1 ? 1 : 0)
  const hold = Math.ceil(HOLDS_S / timeline.step)
  prepare(timeline, size, rows, into)
  const owned: number[] = containers.map(() => NaN)
  for (let i = 0; i < size; i++) {
    // A lone missed second is thinner than a pixel: it is drawn over, not cut out.
    const at = used !== undefined && Number.isNaN(used[i]) && !Number.isNaN(used[i + 1] ?? NaN) && i > 0 ? i - 1 : i
    const usedBytes = used?.[at] ?? NaN
    if (Number.isNaN(usedBytes)) {
      for (let row = 1; row <= rows; row++) (into[row] ?? [])[i] = null
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
      ;(into[layers.length - layer] ?? [])[i] = sum
    }
    if (peaks !== undefined) (into[layers.length + 1] ?? [])[i] = peaks[at] ?? null
  }
  return into
}

/** Seconds per point of a small chart: about a pixel. */
const TRACE_STEP_S = 3

/**
 * The values of one lane for a small chart, the highest of each step. Steps stand on whole multiples of their length,
 * so that the curve moves on without changing its shape. Coarse cells are drawn as they are: their mean, and their highest.
 */
export function traceRows(timeline: Timeline, lane: string, into: Rows): Rows {
  const values = timeline.values(lane)
  const size = values?.length ?? 0
  if (timeline.step > 1) return cellRows(timeline, [lane], into)
  if (into.length < 2) into.push([])
  const [x, y = []] = into
  let count = 0
  const start = timeline.end() - size + 1
  for (let i = 0; i < size;) {
    const step = Math.floor((start + i) / TRACE_STEP_S)
    let highest = NaN
    for (const next = (step + 1) * TRACE_STEP_S - start; i < size && i < next; i++) {
      const value = values?.[i] ?? NaN
      if (!(value <= highest) && !Number.isNaN(value)) highest = value
    }
    x[count] = step * TRACE_STEP_S
    y[count++] = Number.isNaN(highest) ? null : highest
  }
  x.length = y.length = count
  return into
}

/** Lanes as they are, each value holding for some seconds; where cells are coarse, the highest of each behind them in the same order. */
export function cellRows(timeline: Timeline, lanes: readonly string[], into: Rows, holds: (lane: string) => number = () => HOLDS_S): Rows {
  const found = lanes.map((lane) => timeline.values(lane))
  const holding = lanes.map((lane) => (timeline.step > 1 ? 0 : holds(lane)))
  if (timeline.step > 1) found.push(...lanes.map((lane) => timeline.peaks(lane)))
  const size = Math.max(0, ...found.map((values) => values?.length ?? 0))
  prepare(timeline, size, found.length, into)
  for (const [lane, values] of found.entries()) {
    const row = into[lane + 1] ?? []
    for (let i = 0; i < size; i++) {
      const value = held(values, i, holding[lane] ?? 0)
      row[i] = Number.isNaN(value) ? null : value
    }
  }
  return into
}
