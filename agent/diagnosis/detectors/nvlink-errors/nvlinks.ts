// Which NVLinks of each GPU are up, which were, and whether all cards of the same kind on this host have more of them.
import { gpuNvlinkActive } from '../../../metrics/gpu-links.ts'
import type { Series } from '../../../model/series.ts'
import type { Present } from '../parts/present.ts'

export const NVLINK_ACTIVE = gpuNvlinkActive.name

export type Links = {
  readonly index: number
  /** Links that can be read now, and those of them that are up. */
  total: number
  up: number
  /** Numbers of links that are down though they were up since the agent looks. */
  readonly lost: readonly string[]
  /** All links that are down. */
  readonly down: readonly string[]
}
export type NvLinks = {
  /** What holds at `t`, by UUID; a GPU without readings is not there. */
  readonly read: () => ReadonlyMap<string, Links>
}

type Kept = { readonly wasUp: Set<string>; readonly links: { -readonly [Key in keyof Links]: Links[Key] } }
const NONE: readonly string[] = []
const MAX_GPUS = 1_024

export function createNvLinks(present: Present): NvLinks {
  const kept = new Map<string, Kept>()
  const places = new WeakMap<Series, { readonly uuid: string; readonly link: string }>()
  const read = new Map<string, Links>()
  const keptOf = (uuid: string, index: number): Kept => {
    let known = kept.get(uuid)
    if (known === undefined) {
      if (kept.size >= MAX_GPUS) kept.clear()
      kept.set(uuid, (known = { wasUp: new Set(), links: { index, total: 0, up: 0, lost: NONE, down: NONE } }))
    }
    return known
  }
  return {
    read() {
      read.clear()
      for (const { series, value } of present.of(NVLINK_ACTIVE)) {
        let place = places.get(series)
        if (place === undefined) places.set(series, (place = { uuid: series.labels['uuid'] ?? '', link: series.labels['link'] ?? '' }))
        const { links, wasUp } = keptOf(place.uuid, Number(series.labels['gpu']))
        if (!read.has(place.uuid)) {
          read.set(place.uuid, links)
          links.total = links.up = 0
          links.lost = links.down = NONE
        }
        links.total++
        if (value === 1) {
          links.up++
          wasUp.add(place.link)
          continue
        }
        links.down = [...links.down, place.link]
        if (wasUp.has(place.link)) links.lost = [...links.lost, place.link]
      }
      return read
    },
  }
}

/** Fewer than each of at least so many cards of the same kind. Pairs joined by a bridge, or cards without one, are built so. */
const LEAST_PEERS = 2

/** Whether each peer (at least two) has more links up. A card with none up has no bridge, or waits for its fabric. */
export function fewerThanPeers(uuid: string, all: ReadonlyMap<string, Links>, nameOf: (uuid: string) => string | undefined): boolean {
  const mine = all.get(uuid)
  const name = nameOf(uuid)
  if (mine === undefined || mine.up === 0 || mine.up === mine.total || name === undefined) return false
  let peers = 0
  for (const [other, links] of all) {
    if (other === uuid || nameOf(other) !== name) continue
    if (links.up <= mine.up) return false
    peers++
  }
  return peers >= LEAST_PEERS
}
