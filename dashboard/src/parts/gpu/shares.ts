// Who holds how much of a GPU at a second: containers with what their PyTorch keeps, then processes outside containers, then nobody.
import { keptBytes, layerBytes, membersOf, type Kept, type Layer } from './stack.ts'
import { ALLOCATOR_MEASURES, LANE } from '../live/lanes.ts'
import type { Timeline } from '../live/timeline.ts'

/** `kept` only where a probe tells it. */
export type Share = { readonly layer: Layer; readonly bytes: number; readonly kept?: Kept }

/** A probe's word holds for some seconds, as in the chart. */
function lastAt(timeline: Timeline, lane: string, second: number): number {
  for (let back = 0; back <= 10; back += timeline.step) {
    const value = timeline.at(lane, second - back)
    if (value !== undefined) return value
  }
  return NaN
}

/** The largest first, memory without an owner last. */
export function sharesAt(timeline: Timeline, uuid: string, layers: readonly Layer[], second: number): readonly Share[] {
  const used = timeline.at(LANE.used(uuid), second)
  if (used === undefined) return []
  const owners = layers.filter(({ kind }) => kind === 'container')
  const held = owners.map((layer) => {
    const known = membersOf(layer).flatMap((key) => timeline.at(LANE.container(uuid, key), second) ?? [])
    return known.length === 0 ? NaN : known.reduce((sum, bytes) => sum + bytes, 0)
  })
  const rest = layerBytes(used, held, timeline.at(LANE.unattributed(uuid), second) ?? NaN)
  const shares = owners.map((layer, i): Share => {
    const bytes = held[i] ?? NaN
    const [reserved = NaN, active = NaN, split = NaN] = ALLOCATOR_MEASURES.map((measure) => lastAt(timeline, LANE.allocator(measure, uuid, layer.key), second))
    return Number.isNaN(reserved) ? { layer, bytes } : { layer, bytes, kept: keptBytes(bytes, reserved, active, split) }
  })
  for (const layer of layers) if (layer.kind === 'host' || layer.kind === 'unattributed') shares.push({ layer, bytes: rest[layer.kind] })
  return shares
    .filter((share) => share.bytes > 0)
    .sort((a, b) => Number(a.layer.kind !== 'container') - Number(b.layer.kind !== 'container') || b.bytes - a.bytes)
}
