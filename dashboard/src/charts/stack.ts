// Stacks a GPU's memory for its chart: containers from the bottom up, then processes outside containers, then what nobody owns up to what is used.
import { LANE } from '../state/lanes.ts'
import type { Timeline } from '../state/timeline.ts'

export type Layer = { readonly kind: 'container' | 'host' | 'unattributed'; readonly key: string }
export const HOST_LAYER: Layer = { kind: 'host', key: 'processes outside containers' }
export const UNATTRIBUTED_LAYER: Layer = { kind: 'unattributed', key: 'unattributed' }

/** Below this a layer is noise of two counters read microseconds apart, not memory. */
const NOISE_BYTES = 1024 * 1024

/** The layers of a GPU in the window, bottom first; by name, so that a container stays in its place while others come and go. */
export function layersOf(timeline: Timeline, uuid: string): readonly Layer[] {
  const prefix = LANE.containers(uuid)
  const layers: Layer[] = timeline
    .keys(prefix)
    .map((lane) => lane.slice(prefix.length))
    .toSorted()
    .map((key) => ({ kind: 'container', key }))
  return [...layers, HOST_LAYER, UNATTRIBUTED_LAYER]
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

/** Columns as uPlot takes them: seconds, then values. */
export type Rows = [x: number[], ...y: (number | null)[][]]
export const noRows = (): Rows => [[]]

/**
 * Rows for uPlot: the seconds, then the cumulated layers from the top one (all that is used) down to the lowest.
 * `into` is reused from call to call.
 */
export function stackRows(timeline: Timeline, uuid: string, layers: readonly Layer[], into: Rows): Rows {
  const used = timeline.values(LANE.used(uuid))
  const unattributed = timeline.values(LANE.unattributed(uuid))
  const lanes = layers.filter((layer) => layer.kind === 'container').map((layer) => timeline.values(LANE.container(uuid, layer.key)))
  const size = used?.length ?? 0
  const start = timeline.end() - size + 1
  while (into.length < layers.length + 1) into.push([])
  for (const row of into) row.length = size
  const held: number[] = lanes.map(() => NaN)
  for (let i = 0; i < size; i++) {
    into[0][i] = start + i
    // A lone missed second is thinner than a pixel: it is drawn over, not cut out.
    const at = used !== undefined && Number.isNaN(used[i]) && !Number.isNaN(used[i + 1] ?? NaN) && i > 0 ? i - 1 : i
    const usedBytes = used?.[at] ?? NaN
    if (Number.isNaN(usedBytes)) {
      for (let row = 1; row <= layers.length; row++) (into[row] ?? [])[i] = null
      continue
    }
    for (const [lane, values] of lanes.entries()) held[lane] = values?.[at] ?? NaN
    const rest = layerBytes(usedBytes, held, unattributed?.[at] ?? NaN)
    let sum = 0
    for (let layer = 0; layer < layers.length; layer++) {
      const bytes = layer < held.length ? held[layer] : layers[layer]?.kind === 'host' ? rest.host : rest.unattributed
      if (bytes !== undefined && !Number.isNaN(bytes)) sum += bytes
      ;(into[layers.length - layer] ?? [])[i] = sum
    }
  }
  return into
}

/** Seconds per point of a small chart: about a pixel. */
const TRACE_STEP_S = 3

/**
 * The values of one lane for a small chart, the highest of each step. Steps stand on whole multiples of their length,
 * so that the curve moves on without changing its shape.
 */
export function traceRows(timeline: Timeline, lane: string, into: Rows): Rows {
  const values = timeline.values(lane)
  const size = values?.length ?? 0
  const start = timeline.end() - size + 1
  if (into.length < 2) into.push([])
  const [x, y = []] = into
  let count = 0
  for (let i = 0; i < size;) {
    const step = Math.floor((start + i) / TRACE_STEP_S)
    let highest = NaN
    for (; i < size && Math.floor((start + i) / TRACE_STEP_S) === step; i++) {
      const value = values?.[i] ?? NaN
      if (!(value <= highest) && !Number.isNaN(value)) highest = value
    }
    x[count] = step * TRACE_STEP_S
    y[count++] = Number.isNaN(highest) ? null : highest
  }
  x.length = y.length = count
  return into
}
