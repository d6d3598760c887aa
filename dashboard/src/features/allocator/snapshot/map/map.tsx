// The map of the segments: a canvas of what is in sight, in a box that scrolls; pointer and keyboard go from block to block.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { paintMap, paintsOf } from './paint.ts'
import { PALETTES } from '../../../../parts/chart/palette.ts'
import { boxesOf, layOut, pieceAt, ROW, type Layout } from './layout.ts'
import { blockAt, segmentOf, type Packed } from '../packed.ts'
import { choice, device, lookedAt, pick, pickedBlock, point, report, segments, site, zoom } from '../state.ts'
import { setParams } from '../../../../parts/route.ts'
import { theme } from '../../../../parts/theme.ts'
import { poolName } from '../../../../text/allocator.ts'
import { memory } from '../../../../text/format.ts'

export const ALARM = { dark: '#ff7a52', light: '#b8390e' } as const
/** Between the frame of the box and the picture, as in snapshot.css. */
const MARGIN = 12
const FONT = '12px Inter, system-ui, sans-serif'
const MOST_BOXES = 300

function draw(canvas: HTMLCanvasElement, box: HTMLElement, packed: Packed, layout: Layout): void {
  const ratio = Math.min(2, Math.max(1, devicePixelRatio))
  const [width, height] = [Math.round(layout.width * ratio), Math.round(box.clientHeight * ratio)]
  const pen = canvas.getContext('2d')
  if (pen === null || width < 1 || height < 1) return
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width
    canvas.height = height
    canvas.style.width = `${layout.width}px`
    canvas.style.height = `${box.clientHeight}px`
  }
  const image = pen.createImageData(width, height)
  const palette = PALETTES[theme.peek()]
  const recorded = (device.peek()?.live.recorded_bytes ?? 0) > 0
  const top = box.scrollTop
  paintMap(
    { pixels: new Uint32Array(image.data.buffer), width, height, ratio, top },
    packed,
    layout,
    paintsOf(palette, ALARM[theme.peek()], recorded, site.peek()),
  )
  pen.putImageData(image, 0, 0)
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.font = FONT
  for (const head of layout.heads) {
    const pool = packed.pools[head.pool]
    if (pool === undefined || head.y - top < -30 || head.y - top > box.clientHeight) continue
    const counted = `${memory(pool.bytes)} in ${pool.segments} ${pool.expandable ? 'mapped run' : 'segment'}${pool.segments === 1 ? '' : 's'}`
    pen.fillStyle = palette.peak
    pen.fillText(poolName(pool), 0, head.y - top + 16)
    pen.fillStyle = palette.axis
    const after = pen.measureText(poolName(pool)).width + 12
    const fitting = [counted, memory(pool.bytes)].find((text) => after + pen.measureText(text).width <= layout.width)
    if (fitting !== undefined) pen.fillText(fitting, after, head.y - top + 16)
  }
  pen.setTransform(1, 0, 0, 1, 0, 0)
}

/** The block beside another one in the order of the picture; by segments with `far`. */
function neighbour(packed: Packed, shown: readonly number[], from: number | undefined, step: 1 | -1, far: boolean): number | undefined {
  const [first = 0] = shown
  if (from === undefined) return shown.length === 0 ? undefined : packed.first[first]
  const segment = segmentOf(packed, from)
  const [start = 0, end = 0] = [packed.first[segment], packed.first[segment + 1]]
  if (!far && from + step >= start && from + step < end) return from + step
  const next = shown[shown.indexOf(segment) + step]
  if (next === undefined) return undefined
  return far || step === 1 ? packed.first[next] : (packed.first[next + 1] ?? 1) - 1
}

function Outline({
  layout,
  packed,
  block,
  kind,
  top,
  height,
}: {
  readonly layout: Layout
  readonly packed: Packed
  readonly block: number | undefined
  readonly kind: string
  readonly top: number
  readonly height: number
}) {
  if (block === undefined) return null
  const from = packed.offset[block] ?? 0
  const boxes = boxesOf(layout, segmentOf(packed, block), from, from + (packed.size[block] ?? 0)).filter(({ y }) => y > top - height && y < top + 2 * height)
  return (
    <>
      {boxes.slice(0, MOST_BOXES).map((one, i) => (
        <span key={i} class={`map-outline ${kind}`} style={{ left: `${one.x}px`, top: `${one.y}px`, width: `${one.width}px`, height: `${ROW}px` }} />
      ))}
    </>
  )
}

export function SegmentMap() {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [top, setTop] = useState(0)
  const anchor = useRef<{ readonly segment: number; readonly byte: number; readonly y: number } | undefined>(undefined)
  const packed = report.value?.packed
  const shown = segments.value
  const layout = useMemo(() => (packed === undefined || width === 0 ? undefined : layOut(packed, shown, width, zoom.value)), [packed, shown, width, zoom.value])

  useEffect(() => {
    const host = box.current
    if (host === null) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.max(0, host.clientWidth - 2 * MARGIN)))
    observer.observe(host)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    const host = box.current
    if (host === null || layout === undefined) return
    const held = anchor.current
    const [stands] = held === undefined ? [] : boxesOf(layout, held.segment, held.byte, held.byte + 1)
    if (stands !== undefined && held !== undefined) host.scrollTop = stands.y - held.y
    anchor.current = undefined
    setTop(host.scrollTop)
  }, [layout])
  useEffect(() => {
    if (canvas.current !== null && box.current !== null && packed !== undefined && layout !== undefined) draw(canvas.current, box.current, packed, layout)
  }, [packed, layout, top, theme.value, site.value, choice.value])

  if (packed === undefined) return null
  const under = (event: MouseEvent): number | undefined => {
    const host = box.current
    if (host === null || layout === undefined) return undefined
    const frame = host.getBoundingClientRect()
    const [x, y] = [event.clientX - frame.left - host.clientLeft - MARGIN, event.clientY - frame.top - host.clientTop + host.scrollTop]
    const piece = pieceAt(layout, x, y)
    return piece === undefined
      ? undefined
      : blockAt(packed, layout.segment[piece] ?? 0, (layout.from[piece] ?? 0) + (x - (layout.x[piece] ?? 0)) * layout.bytesPerPixel)
  }
  const zoomTo = (next: number, block: number | undefined): void => {
    const host = box.current
    if (layout !== undefined && host !== null && block !== undefined) {
      const [segment, byte] = [segmentOf(packed, block), packed.offset[block] ?? 0]
      const [stands] = boxesOf(layout, segment, byte, byte + 1)
      anchor.current = {
        segment,
        byte,
        y: stands === undefined ? host.clientHeight / 3 : Math.min(host.clientHeight - 40, Math.max(20, stands.y - host.scrollTop)),
      }
    }
    setParams({ zoom: next <= 0 ? undefined : String(next) })
  }
  const go = (block: number | undefined): void => {
    if (block === undefined) return
    pick(block)
    const host = box.current
    if (host === null || layout === undefined) return
    const from = packed.offset[block] ?? 0
    const [stands] = boxesOf(layout, segmentOf(packed, block), from, from + 1)
    if (stands !== undefined && (stands.y < host.scrollTop || stands.y + ROW > host.scrollTop + host.clientHeight))
      host.scrollTop = stands.y - host.clientHeight / 3
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => go(neighbour(packed, shown, pickedBlock.peek(), 1, false)),
    ArrowLeft: () => go(neighbour(packed, shown, pickedBlock.peek(), -1, false)),
    ArrowDown: () => go(neighbour(packed, shown, pickedBlock.peek(), 1, true)),
    ArrowUp: () => go(neighbour(packed, shown, pickedBlock.peek(), -1, true)),
    '+': () => zoomTo(zoom.peek() + 1, pickedBlock.peek()),
    '-': () => zoomTo(zoom.peek() - 1, pickedBlock.peek()),
    Escape: () => pick(undefined),
  }
  return (
    <div
      ref={box}
      class="map-box"
      style={{ '--content': `${(layout?.height ?? 0) + 10}px` }}
      tabIndex={0}
      role="application"
      aria-label="Segment map: the arrow keys go from block to block and from segment to segment, plus and minus zoom. The same is in the table of segments."
      aria-describedby="block-title"
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onPointerMove={(event) => event.pointerType === 'mouse' && point(under(event))}
      onPointerLeave={() => point(undefined)}
      onClick={(event) => pick(under(event))}
      onDblClick={(event) => zoomTo(zoom.peek() + 2, under(event))}
      onKeyDown={(event) => {
        const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
        if (act === undefined) return
        event.preventDefault()
        event.stopPropagation()
        act()
      }}
    >
      <canvas ref={canvas} class="map-canvas" aria-hidden="true" />
      {layout !== undefined && (
        <div class="map-height" style={{ height: `${layout.height}px` }}>
          <Outline layout={layout} packed={packed} block={pickedBlock.value} kind="picked" top={top} height={box.current?.clientHeight ?? 0} />
          <Outline layout={layout} packed={packed} block={lookedAt.value} kind="pointed" top={top} height={box.current?.clientHeight ?? 0} />
        </div>
      )}
    </div>
  )
}
