// The picture as an SVG file: memory as a strip that wraps like text, one strip per pool; dark and light, no script.
import { bytesText } from '../../text/bytes.ts'
import { percentOrTrace } from '../../text/figures.ts'
import { counted } from '../../text/grammar.ts'
import type { DeviceAnalysis } from './analyse.ts'
import { placeText } from './frames.ts'
import { DEFAULT_POOL } from './model.ts'
import type { Picture, PicturePool, Run, RunState } from './picture.ts'

const WIDTH = 1200
const MARGIN = 24
const STRIP = WIDTH - 2 * MARGIN
const ROW = 14
const ROW_GAP = 4
/** All memory together takes about so many rows. */
const ROWS = 28
const MAX_ROWS_PER_POOL = 60
/** Colours that differ clearly on dark and light, for the largest allocation sites (after Paul Tol's "bright" and "muted"). */
const GROUPS = ['#4477aa', '#ee6677', '#228833', '#aa3377', '#66ccee', '#cc8822', '#7766cc', '#44aa99'] as const

const STYLE = `
:root{color-scheme:light dark;--back:#fff;--text:#1c2024;--dim:#60646c;--live:#8b9099;--hole:#fff;--edge:#c2410c;--cache:#e4e7eb;--wait:#d97706;--line:#1c2024}
@media(prefers-color-scheme:dark){:root{--back:#111418;--text:#edeef0;--dim:#a5abb4;--live:#767c86;--hole:#111418;--edge:#fb923c;--cache:#2b3038;--wait:#f59e0b;--line:#edeef0}}
text{font:13px system-ui,sans-serif;fill:var(--text)}.title{font-size:18px;font-weight:600}.head{font-weight:600}.dim{fill:var(--dim)}
.back{fill:var(--back)}.allocated{fill:var(--live)}.pending{fill:var(--wait)}.stranded{fill:url(#holes)}.releasable{fill:var(--cache)}.tick{stroke:var(--line);stroke-width:1}
${GROUPS.map((colour, i) => `.g${i}{fill:${colour}}`).join('')}.hatch{stroke:var(--edge);stroke-width:2}.hole{fill:var(--hole)}`

/** Text from a file as XML text; characters that XML forbids become dots. */
export const escapeXml = (text: string): string =>
  text
    .replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '·')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

const at = (value: number): string => String(Math.round(value * 100) / 100)
const write = (x: number, y: number, text: string, kind = ''): string =>
  `<text x="${at(x)}" y="${at(y)}"${kind === '' ? '' : ` class="${kind}"`}>${escapeXml(text)}</text>`
const box = (x: number, y: number, width: number, height: number, kind: string, opacity = 1): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" class="${kind}"${opacity === 1 ? '' : ` opacity="${at(opacity)}"`}/>`

const classOf = (state: RunState, group: number | null): string =>
  state === 'allocated' && group !== null && group < GROUPS.length ? `g${group}` : state === 'mixed' ? 'stranded' : state

/** One run, from `from` to `to` bytes in its pool's strip, over as many rows as it touches. */
function drawRun(run: Run, from: number, perRow: number, top: number): string {
  const [, , state, bytes, group, free] = run
  const parts: string[] = []
  for (let place = from; place < from + bytes;) {
    const row = Math.floor(place / perRow)
    if (row >= MAX_ROWS_PER_POOL) break
    const until = Math.min(from + bytes, (row + 1) * perRow)
    const x = MARGIN + ((place - row * perRow) / perRow) * STRIP
    const width = ((until - place) / perRow) * STRIP
    const y = top + row * (ROW + ROW_GAP)
    parts.push(box(x, y, width, ROW, classOf(state, group)))
    // Several small blocks: live above the holes, as high as their share.
    if (state === 'mixed') parts.push(box(x, y, width, ROW * (1 - free / bytes), 'allocated'))
    if (until <= place) break
    place = until
  }
  return parts.join('')
}

function drawPool(pool: PicturePool, perRow: number, top: number): { readonly svg: string; readonly height: number } {
  const drawn = pool.segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const rows = Math.min(MAX_ROWS_PER_POOL, Math.max(1, Math.ceil(drawn / perRow)))
  const cut = pool.left_out.segments > 0 || drawn > MAX_ROWS_PER_POOL * perRow
  const name = `${pool.pool === DEFAULT_POOL ? 'default pool' : `private pool ${pool.pool}`}, stream ${pool.stream}, ${pool.kind} blocks${pool.expandable ? ', expandable' : ''}`
  const runs: string[] = []
  const ticks: string[] = []
  let place = 0
  for (const segment of pool.segments) {
    const row = Math.floor(place / perRow)
    if (row < MAX_ROWS_PER_POOL && (segment.bytes / perRow) * STRIP > 2) {
      const x = at(MARGIN + ((place - row * perRow) / perRow) * STRIP)
      const y = top + 10 + row * (ROW + ROW_GAP)
      ticks.push(`<path class="tick" d="M${x} ${at(y - 2)}V${at(y + ROW + 2)}"/>`)
    }
    for (const run of segment.runs) {
      runs.push(drawRun(run, place, perRow, top + 10))
      place += run[3]
    }
  }
  const head = write(MARGIN, top, name, 'head')
  const count = pool.segments.length + pool.left_out.segments
  const figures = `${bytesText(pool.bytes)} in ${counted(count, pool.expandable ? 'mapped run' : 'segment')}${cut ? ', not all drawn' : ''}`
  const said = `<text x="${WIDTH - MARGIN}" y="${at(top)}" text-anchor="end" class="dim">${escapeXml(figures)}</text>`
  return { svg: head + said + runs.join('') + ticks.join(''), height: 10 + rows * (ROW + ROW_GAP) + 28 }
}

function drawLegend(device: DeviceAnalysis, top: number): { readonly svg: string; readonly height: number } {
  const entries: (readonly [kind: string, text: string])[] = device.live.top
    .slice(0, GROUPS.length)
    .flatMap((site, i) => (site.frames.length === 0 ? [] : [[`g${i}`, `${bytesText(site.bytes)}  ${placeText(site, 1)}`] as const]))
  const named = device.live.top.slice(0, GROUPS.length).reduce((sum, site) => sum + (site.frames.length === 0 ? 0 : site.bytes), 0)
  if (device.allocated_bytes - named > 0)
    entries.push(['allocated', `${bytesText(device.allocated_bytes - named)}  ${named === 0 ? 'live' : 'live, other places'}`])
  if (device.pending_bytes > 0) entries.push(['pending', `${bytesText(device.pending_bytes)}  freed, waits for a stream`])
  if (device.stranded_bytes !== undefined) entries.push(['stranded', `${bytesText(device.stranded_bytes)}  free in holes: no flush gives it back`])
  if (device.releasable_bytes !== undefined) entries.push(['releasable', `${bytesText(device.releasable_bytes)}  free, a flush gives it back`])
  const columns = 2
  const svg = entries.map(([kind, text], i) => {
    const [x, y] = [MARGIN + (i % columns) * (STRIP / columns), top + Math.floor(i / columns) * 20]
    return box(x, y - 11, 14, 14, kind) + write(x + 22, y, text.length > 72 ? `${text.slice(0, 71)}…` : text)
  })
  return { svg: svg.join(''), height: Math.ceil(entries.length / columns) * 20 + 16 }
}

/** `of` names the file in the title. */
export function svgOf(picture: Picture, devices: readonly DeviceAnalysis[], of: string): string {
  const parts: string[] = []
  const all = picture.pools.reduce((sum, pool) => sum + pool.bytes, 0)
  // Whole bytes, so that a run ends exactly where a row does.
  const perRow = Math.max(1, Math.ceil(all / ROWS))
  let y = 40
  parts.push(write(MARGIN, y, `GPU memory of PyTorch: ${of}`, 'title'))
  y += 20
  parts.push(write(MARGIN, y, `One row is ${bytesText(perRow)}; a vertical line begins a segment.`, 'dim'))
  y += 34
  for (const device of devices) {
    parts.push(
      write(
        MARGIN,
        y,
        `Device ${device.device}: ${bytesText(device.reserved_bytes)} held, ${percentOrTrace(device.allocated_bytes / Math.max(1, device.reserved_bytes))} live`,
        'title',
      ),
    )
    y += 22
    parts.push(write(MARGIN, y, device.verdict))
    y += 26
    const legend = drawLegend(device, y)
    parts.push(legend.svg)
    y += legend.height + 8
    for (const pool of picture.pools.filter((one) => one.device === device.device)) {
      const drawn = drawPool(pool, perRow, y)
      parts.push(drawn.svg)
      y += drawn.height
    }
    y += 16
  }
  const holes =
    '<defs><pattern id="holes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hole" d="M0 0H6V6H0Z"/><path class="hatch" d="M0 0V6"/></pattern></defs>'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${at(y)}" width="${WIDTH}" height="${at(y)}" role="img"><title>${escapeXml(`GPU memory of PyTorch: ${of}`)}</title><style>${STYLE}</style>${holes}${box(0, 0, WIDTH, y, 'back')}${parts.join('\n')}</svg>\n`
}
