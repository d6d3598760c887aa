// Saves a chart as a picture or as a table: two buttons that show while the chart has the pointer or the focus.
import type uPlot from 'uplot'
import { timeWithSeconds, utcStamp, zoneName } from '../../../../../agent/text/time.ts'
import { theme } from '../../theme.ts'
import { FONT } from '../values.ts'
import { PALETTES } from '../palette.ts'
import type { Attached } from './attach.ts'
import { csvOf, type Table } from './csv.ts'

export type { Table } from './csv.ts'

function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

const fileName = (name: string, second: number, kind: string): string =>
  `${name.replaceAll(/[^\w.-]+/g, '-')}-${utcStamp(second * 1000).replaceAll(/[^\d]+/g, '-')}.${kind}`

/** The chart on the page's ground, below what it shows and whose lines have which colour. */
function picture({ plot, host }: Pick<Attached, 'plot' | 'host'>, name: string): HTMLCanvasElement {
  const palette = PALETTES[theme.peek()]
  const ratio = devicePixelRatio
  const [pad, head] = [12 * ratio, 44 * ratio]
  const from = plot.ctx.canvas
  const canvas = document.createElement('canvas')
  canvas.width = from.width + 2 * pad
  canvas.height = from.height + head + pad
  const pen = canvas.getContext('2d')
  if (pen === null) return canvas
  pen.fillStyle = palette.surface
  pen.fillRect(0, 0, canvas.width, canvas.height)
  const line = (text: string, y: number, weight: string, colour: string): void => {
    pen.font = FONT.replace('11px', `${weight} ${12 * ratio}px`)
    pen.fillStyle = colour
    pen.fillText(text, pad, y * ratio, canvas.width - 2 * pad)
  }
  const { min = 0, max = 0 } = plot.scales['x'] ?? {}
  const caption = host.closest('figure')?.querySelector('figcaption')
  line(caption?.querySelector('b')?.textContent ?? name, 18, '600', palette.peak)
  const day = new Date(max * 1000).toLocaleDateString('en-CA')
  line(`${day} ${timeWithSeconds(min * 1000)} – ${timeWithSeconds(max * 1000)} ${zoneName(max * 1000)}`, 35, '400', palette.axis)
  pen.drawImage(from, pad, head)
  return canvas
}

function button(text: string, of: string, press: () => void): HTMLButtonElement {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.setAttribute('aria-label', `Save ${of} as ${text}`)
  made.addEventListener('click', press)
  return made
}

export function addSave({ plot, host, table }: Attached & { readonly table: () => Table }): () => void {
  const bar = document.createElement('div')
  bar.className = 'chart-save'
  const end = (of: uPlot): number => of.scales['x']?.max ?? 0
  const { name } = table()
  bar.append(
    button('CSV', name, () => download(fileName(name, end(plot), 'csv'), new Blob([csvOf(table())], { type: 'text/csv' }))),
    button('PNG', name, () => picture({ plot, host }, name).toBlob((blob) => blob !== null && download(fileName(name, end(plot), 'png'), blob), 'image/png')),
  )
  host.append(bar)
  return () => bar.remove()
}
