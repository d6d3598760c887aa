// Paints segments to scale, pixel by pixel: a column of pixels shows what its bytes are, however many blocks share it. Without a canvas, so that a test can look.
import { firstPiece, ROW, type Layout } from './layout.ts'
import { blockAt, NO_SITE, type Packed } from '../packed.ts'
import type { Palette } from '../../../../parts/chart/palette.ts'

/** Colours as a canvas has them in memory on every machine that browsers run on: ABGR. */
export type Paints = {
  readonly ground: number
  /** Live blocks by allocation site; the last one is for all other places. */
  readonly sites: readonly number[]
  readonly pending: readonly [line: number, ground: number]
  readonly hole: readonly [line: number, ground: number]
  readonly cache: number
}

const channel = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 2), 16)
function colour(hex: string, ground: string, part = 1): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Math.round(channel(hex, at) * part + channel(ground, at) * (1 - part)))
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0
}

/** Without a history there is one colour for all that lives. `site`: the one that is not dimmed. */
export function paintsOf(palette: Palette, alarm: string, recorded: boolean, site: number | undefined): Paints {
  const { surface, host, peak, containers } = palette
  const all = recorded ? [...containers, host] : [...containers, containers[0] ?? host]
  return {
    ground: colour(surface, surface),
    sites: all.map((hex, rank) => colour(hex, surface, site === undefined || site === rank ? 0.85 : 0.18)),
    pending: [colour(peak, surface, 0.9), colour(peak, surface, 0.35)],
    hole: [colour(alarm, surface, 0.9), colour(alarm, surface, 0.08)],
    cache: colour(host, surface, 0.34),
  }
}

export type Canvas = { readonly pixels: Uint32Array; readonly width: number; readonly height: number; readonly ratio: number; readonly top: number }

/** Blocks so wide have a border of their own. */
const BORDER_FROM = 5

export function paintMap({ pixels, width, height, ratio, top }: Canvas, packed: Packed, layout: Layout, paints: Paints): void {
  pixels.fill(paints.ground)
  const row = Math.round(ROW * ratio)
  const bytesPerColumn = layout.bytesPerPixel / ratio
  const hatchStep = Math.round(5 * ratio)
  const hatchLine = Math.max(1, Math.round(1.2 * ratio))
  const other = paints.sites.length - 1
  const { offset, size, state, site, returned } = packed

  for (let piece = firstPiece(layout, top); piece < layout.y.length; piece++) {
    const y = Math.round(((layout.y[piece] ?? 0) - top) * ratio)
    if (y >= height) break
    const [segment = 0, from = 0, to = 0] = [layout.segment[piece], layout.from[piece], layout.to[piece]]
    const left = Math.round((layout.x[piece] ?? 0) * ratio)
    const columns = Math.max(2, Math.round((to - from) / bytesPerColumn))
    const perColumn = (to - from) / columns
    const end = packed.first[segment + 1] ?? 0
    let block = blockAt(packed, segment, from)
    for (let column = 0; column < columns && left + column < width; column++) {
      const [low, high] = [from + column * perColumn, from + (column + 1) * perColumn]
      // What is in this column, in bytes.
      let [live, pending, cache, hole, most, colourOf, border] = [0, 0, 0, 0, 0, other, false]
      for (; block < end; block++) {
        const [start = 0, bytes = 0] = [offset[block], size[block]]
        const stop = start + bytes
        const part = Math.min(high, stop) - Math.max(low, start)
        if (part > 0) {
          if (state[block] === 0) {
            live += part
            if (part > most) {
              most = part
              const rank = site[block] ?? NO_SITE
              colourOf = rank < other ? rank : other
            }
          } else if (state[block] === 1) pending += part
          else {
            // Whole pages are between what stays at both ends; drawn behind it, as the exact border is finer than a picture.
            const back = Math.max(0, Math.min(high, stop) - Math.max(low, stop - (returned[block] ?? 0)))
            cache += back
            hole += part - back
          }
        }
        if (stop > high) break
        if (stop === high || (stop <= high && bytes >= BORDER_FROM * perColumn)) border = bytes >= BORDER_FROM * perColumn
      }
      const all = live + pending + cache + hole
      if (all <= 0) continue
      // From the top down: live, waiting, cache, holes. What is there at all is at least one pixel high.
      const rows = (bytes: number): number => (bytes === 0 ? 0 : Math.max(1, Math.round((row * bytes) / all)))
      const holeFrom = row - rows(hole)
      const cacheFrom = Math.max(0, holeFrom - rows(cache))
      const pendingFrom = live === 0 ? 0 : Math.max(0, cacheFrom - rows(pending))
      const x = left + column
      for (let i = Math.max(0, -y); i < row && y + i < height; i++) {
        const hatched = (x + y + i + top * ratio) % hatchStep < hatchLine
        const paint =
          i >= holeFrom && hole > 0
            ? paints.hole[hatched ? 0 : 1]
            : i >= cacheFrom && cache > 0
              ? paints.cache
              : i >= pendingFrom && pending > 0
                ? paints.pending[hatched ? 0 : 1]
                : (paints.sites[colourOf] ?? paints.ground)
        pixels[(y + i) * width + x] = border && column + 1 < columns ? paints.ground : paint
      }
    }
  }
}
