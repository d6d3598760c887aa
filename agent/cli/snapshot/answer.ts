// The answer of `snapshot` for people: what holds the memory, how fragmented it is, what a request would meet, what to change.
import type { Analysis, DeviceAnalysis } from '../../allocator/snapshot/analyse.ts'
import { callersOf, placeText, type Place } from '../../allocator/snapshot/frames.ts'
import { DEFAULT_POOL } from '../../allocator/snapshot/model.ts'
import type { Site } from '../../allocator/snapshot/sites.ts'
import { bytesText } from '../../text/bytes.ts'
import { percentOrTrace } from '../../text/figures.ts'
import { counted } from '../../text/grammar.ts'

type Paint = (style: 'strong' | 'dim' | 'command', text: string) => string
const STYLES = { strong: '\u001b[1m', dim: '\u001b[2m', command: '\u001b[32m' } as const

/** What a file may contain must not reach the terminal as commands to it. */
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '·')
const MAX_POOLS = 12

/** Columns; the first `left` ones to the left, figures to the right. */
function table(rows: readonly (readonly string[])[], left: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) => `  ${row.map((cell, i) => (i < left ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')}`.trimEnd())
}

const indented = (text: string): string => `               ${text}`
const placeLines = (place: Place, paint: Paint): string[] => [
  indented(paint('strong', printable(placeText(place)))),
  ...callersOf(place, 2).map((caller) => indented(paint('dim', `called from ${printable(caller)}`))),
]

function siteLines(site: Site, paint: Paint): string[] {
  const blocks = site.blocks === 1 ? 'one block' : `${site.blocks} blocks, the largest ${bytesText(site.largest_bytes)}`
  const head = `  ${bytesText(site.bytes).padStart(11)}  ${blocks}`
  return site.frames.length === 0 ? [`${head}  ${paint('dim', '(no history recorded)')}`] : [head, ...placeLines(site, paint)]
}

function memoryLines(device: DeviceAnalysis): string[] {
  const { reserved_bytes: reserved, stranded_bytes: stranded, releasable_bytes: releasable } = device
  const ratio = (bytes: number): string => percentOrTrace(reserved === 0 ? 0 : bytes / reserved)
  const rows: string[][] = [['live', bytesText(device.allocated_bytes), ratio(device.allocated_bytes), '']]
  if (device.pending_bytes > 0) rows.push(['waiting', bytesText(device.pending_bytes), ratio(device.pending_bytes), 'freed, but a stream may still use it'])
  if (stranded === undefined || releasable === undefined) rows.push(['free', bytesText(device.free_bytes), ratio(device.free_bytes), ''])
  else {
    rows.push(['stranded', bytesText(stranded), ratio(stranded), 'free between live blocks: no flush gives it back'])
    rows.push(['cache', bytesText(releasable), ratio(releasable), 'free as a whole: a flush gives it back'])
  }
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map(([name = '', bytes = '', part = '', note = '']) =>
    `  ${name.padEnd(widths[0] ?? 0)}  ${bytes.padStart(widths[1] ?? 0)}  ${part.padStart(widths[2] ?? 0)}  ${note}`.trimEnd(),
  )
  if (device.internal !== undefined)
    lines.push(`  Blocks in use are ${percentOrTrace(device.internal.waste_ratio)} larger than what was asked for (${bytesText(device.internal.waste_bytes)}).`)
  const whole = device.free_below.findIndex(({ ratio: part }) => part === 1)
  const below = device.free_below.filter(({ ratio: part }, i) => part > 0 && (whole === -1 || i <= whole))
  if (below.length > 0) {
    const parts = below.map(({ ratio: part, below_bytes: bound }) => `${percentOrTrace(part)} in blocks below ${bytesText(bound).replace('.00', '')}`)
    lines.push(`  Of what is free: ${parts.join(', ')}.`)
  }
  return lines
}

function poolLines(device: DeviceAnalysis): string[] {
  const head = ['pool', 'stream', 'blocks', 'segments', 'held', 'live', 'free', 'largest free', 'returnable']
  const rows = device.pools
    .slice(0, MAX_POOLS)
    .map((pool) => [
      pool.pool === DEFAULT_POOL ? 'default' : printable(`private ${pool.pool}`),
      printable(pool.stream),
      `${pool.kind}${pool.expandable ? ', expandable' : ''}`,
      String(pool.segments),
      bytesText(pool.reserved_bytes),
      bytesText(pool.allocated_bytes),
      bytesText(pool.free_bytes),
      bytesText(pool.largest_free_bytes),
      pool.releasable_bytes === undefined ? '?' : bytesText(pool.releasable_bytes),
    ])
  const more = device.pools.length - rows.length
  return [...table([head, ...rows], 3), ...(more > 0 ? [`  and ${more} more pools (--json has them)`] : [])]
}

function deviceLines(device: DeviceAnalysis, paint: Paint): string[] {
  const lines = [
    paint('strong', `Device ${device.device}: ${bytesText(device.reserved_bytes)} held by PyTorch`),
    printable(device.verdict),
    ...memoryLines(device),
  ]
  if (device.pools.length > 0) lines.push('', ...poolLines(device))
  const { top, others } = device.live
  if (top.length > 0) lines.push('', `Biggest live allocations, by the place that made them:`, ...top.flatMap((site) => siteLines(site, paint)))
  if (others.sites > 0) lines.push(`  ${bytesText(others.bytes).padStart(11)}  ${counted(others.blocks, 'block')} of ${counted(others.sites, 'other place')}`)
  if (device.remedies.length > 0) lines.push('', 'What to change:')
  for (const { text, command } of device.remedies) {
    lines.push(`- ${printable(text)}`)
    if (command !== undefined) lines.push(`    ${paint('command', command)}`)
  }
  return lines
}

function oomLines(analysis: Analysis, paint: Paint): string[] {
  const oom = analysis.trace?.last_oom
  if (oom === undefined) return []
  const when = oom.time_ms === undefined ? '' : ` at ${new Date(oom.time_ms).toISOString()}`
  const free = oom.device_free_bytes === undefined ? '' : `, with ${bytesText(oom.device_free_bytes)} free on the device`
  return [
    '',
    `Last out-of-memory error in the trace: ${bytesText(oom.rounded_request_bytes)} on device ${oom.device}${when}${free}.`,
    ...(oom.frames.length === 0 ? [] : placeLines(oom, paint)),
  ]
}

export function answerText(analysis: Analysis, file: string, coloured: boolean): string {
  const paint: Paint = (style, text) => (coloured ? `${STYLES[style]}${text}\u001b[0m` : text)
  const segments = analysis.devices.reduce((sum, device) => sum + device.segments, 0)
  const expandable = `expandable segments ${analysis.expandable_segments ? 'on' : 'off'}${analysis.settings?.expandable_segments === undefined ? ' as far as the segments show' : ''}`
  const trace = analysis.trace === undefined || analysis.trace.entries === 0 ? '' : `, ${analysis.trace.entries} trace entries`
  const lines = [printable(`${file}: ${counted(analysis.devices.length, 'device')}, ${counted(segments, 'segment')}${trace}, ${expandable}`)]
  if (analysis.settings?.text !== undefined && analysis.settings.text !== '') lines.push(printable(`Settings: ${analysis.settings.text}`))
  if (analysis.devices.length === 0) lines.push('', 'PyTorch held no memory when this snapshot was taken.')
  for (const device of analysis.devices) lines.push('', ...deviceLines(device, paint))
  lines.push(...oomLines(analysis, paint))
  if (analysis.request !== undefined) lines.push('', paint('strong', printable(analysis.request.verdict)))
  for (const note of analysis.notes) lines.push(printable(`Note: ${note}`))
  if (analysis.unknown.length > 0) lines.push('', paint('dim', 'Not in this file:'), ...analysis.unknown.map((one) => paint('dim', `- ${one}`)))
  return `${lines.join('\n')}\n`
}
