// How figures read on the page: a dash for what is not known, and the unit apart where it is set smaller. Roundings are those of agent/text.
import { GIB, memoryFigure as knownMemoryFigure, type Figure } from '../../../agent/text/bytes.ts'
import { megahertz, percent as knownPercent } from '../../../agent/text/figures.ts'
import { unitsNow } from './units.ts'

export const DASH = '–'
export const NO_FIGURE: Figure = { value: DASH, unit: '' }

const fixed = (value: number, digits: number): string => value.toFixed(digits)
const orDash = (value: number | undefined, text: (value: number) => string): string => (value === undefined ? DASH : text(value))
const orNone = (value: number | undefined, figure: (value: number) => Figure): Figure => (value === undefined ? NO_FIGURE : figure(value))

/** As `memoryFigure` of agent/text, in powers of 1000. */
function decimalMemory(bytes: number): Figure {
  const size = Math.abs(bytes)
  if (size >= 0.9995e9) return { value: fixed(bytes / 1e9, size >= 999.5e9 ? 0 : 1), unit: 'GB' }
  return size >= 1e6 || size === 0 ? { value: fixed(bytes / 1e6, 0), unit: 'MB' } : { value: fixed(bytes / 1e3, 0), unit: 'kB' }
}

/** GPU and host memory: GiB (or GB, where the reader wants those) with one decimal from 1 GiB on, MiB below. */
export const memoryFigure = (bytes: number | undefined): Figure => orNone(bytes, unitsNow().memory === 'GB' ? decimalMemory : knownMemoryFigure)

export function memory(bytes: number | undefined): string {
  const { value, unit } = memoryFigure(bytes)
  return unit === '' ? value : `${value} ${unit}`
}

/** GiB or GB without the unit, for axes and places that name the unit once. */
export const gib = (bytes: number, digits = 1): string => fixed(bytes / (unitsNow().memory === 'GB' ? 1e9 : GIB), digits)

export const percentFigure = (ratio: number | undefined): Figure => orNone(ratio, (known) => ({ value: fixed(known * 100, 0), unit: '%' }))
export const percent = (ratio: number | undefined): string => orDash(ratio, knownPercent)
export const wattsFigure = (watts: number | undefined): Figure => orNone(watts, (known) => ({ value: fixed(known, 0), unit: 'W' }))
export const celsiusFigure = (celsius: number | undefined): Figure =>
  orNone(celsius, (known) => (unitsNow().temperature === '°F' ? { value: fixed((known * 9) / 5 + 32, 0), unit: '°F' } : { value: fixed(known, 0), unit: '°C' }))
export const clock = (hertz: number | undefined): string => orDash(hertz, megahertz)
/** Two decimals below one core, one above. */
export const cores = (value: number | undefined): string => orDash(value, (known) => fixed(known, known < 0.995 ? 2 : 1))

/** Traffic in powers of 1000, as links are sold: MB/s, from 1 GB/s on GB/s; one decimal below ten. */
export const rateFigure = (bytesPerSecond: number | undefined): Figure =>
  orNone(bytesPerSecond, (rate) =>
    rate >= 1e9
      ? { value: fixed(rate / 1e9, rate >= 1e11 ? 0 : 1), unit: 'GB/s' }
      : { value: fixed(rate / 1e6, rate >= 1e7 || rate === 0 ? 0 : 1), unit: 'MB/s' },
  )

/** What is known, on one line that may end between two parts and not within "98 % busy". */
export const dotted = (parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part === undefined || part === '' ? [] : [part.replaceAll(' ', '\u00a0')])).join(' · ')
