// Amounts of bytes as text, and read from text. Binary units (KiB, MiB, GiB of 1024) unless a function says otherwise.

export const KIB = 2 ** 10
export const MIB = 2 ** 20
export const GIB = 2 ** 30

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** One decimal from ten on, two below, without zeros at the end: `62.7`, `4.85`, `2`. */
const short = (value: number): string => value.toFixed(Math.abs(value) < 9.995 ? 2 : 1).replace(/\.?0+$/, '')

/** For tables, reports and messages: the largest unit that fits, bytes whole. `62.7 GiB`, `1.5 KiB`, `512 B`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${power === 0 ? bytes : short(bytes / 1024 ** power)} ${UNITS[power] ?? 'B'}`
}

/** At least ten: whole. Below: one decimal, without `.0`. */
const trimmed = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, ''))

const inGib = (bytes: number, figure: (value: number) => string): string => {
  const size = Math.abs(bytes)
  const sign = bytes < 0 ? '-' : ''
  if (size >= 1000 * GIB) return `${sign}${figure(size / 2 ** 40)} TiB`
  if (size >= GIB) return `${sign}${figure(size / GIB)} GiB`
  if (size >= MIB) return `${sign}${trimmed(size / MIB)} MiB`
  if (size >= KIB) return `${sign}${trimmed(size / KIB)} KiB`
  return `${bytes} bytes`
}
/** For sentences about memory. Below 10 GiB with two decimals, since a request fails for a few MiB. `21.9 GiB`, `4.85 GiB`, `20 MiB`, `512 bytes`. */
export const gib = (bytes: number): string => inGib(bytes, short)
/** For what a log says: with two decimals, as PyTorch prints it, so that a reader finds the figure there again. `21.90 GiB`. */
export const gibAsPrinted = (bytes: number): string => inGib(bytes, (value) => value.toFixed(2))

/** A figure and its unit apart: the dashboard sets the unit smaller. */
export type Figure = { readonly value: string; readonly unit: string }

/**
 * How much memory there is, on the dashboard and in checks: GiB with one decimal from 1 GiB on (whole from 1000 GiB on), MiB and KiB whole.
 * The decimal stays when it is 0, so that a live figure does not jump.
 */
export function memoryFigure(bytes: number): Figure {
  const size = Math.abs(bytes)
  if (size >= 0.9995 * GIB) return { value: (bytes / GIB).toFixed(size >= 999.5 * GIB ? 0 : 1), unit: 'GiB' }
  if (size >= MIB || size === 0) return { value: (bytes / MIB).toFixed(0), unit: 'MiB' }
  return { value: (bytes / KIB).toFixed(0), unit: 'KiB' }
}

/** `memoryFigure` in one text: `79.7 GiB`, `64 MiB`. */
export function memoryText(bytes: number): string {
  const { value, unit } = memoryFigure(bytes)
  return `${value} ${unit}`
}

/** Room on a disk, which is reported in GiB however small it is: one decimal below 10 GiB, whole above. `0.4 GiB`, `212 GiB`. */
export const diskText = (bytes: number): string => `${(bytes / GIB).toFixed(bytes < 10 * GIB ? 1 : 0)} GiB`

/** The size of a file as file managers count: powers of 1000, one decimal below 10. `4.2 MB`, `980 kB`. */
export function fileSizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [unit, size] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9]
  return `${(bytes / size).toFixed(bytes / size < 10 ? 1 : 0)} ${unit}`
}

const PREFIXES = ['', 'k', 'm', 'g', 't'] as const
/** A size with an optional unit: KiB, MiB, GiB, TiB of 1024, KB, MB, GB, TB of 1000, or bytes. Undefined when the text is no size. */
export function parseBytes(text: string): number | undefined {
  const [, figure = '', prefix = '', binary] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*$/i.exec(text) ?? []
  if (figure === '' || (binary !== '' && prefix === '')) return undefined
  const power = PREFIXES.findIndex((known) => known === prefix.toLowerCase())
  const bytes = Math.round(Number(figure) * (binary === '' ? 1000 : 1024) ** power)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
