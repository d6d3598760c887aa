// Bytes as people write them: `2.00 GiB` out, `2GiB`, `500 MB` or `1048576` in.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(2)} ${UNITS[power] ?? 'B'}`
}

const PREFIXES = ['', 'k', 'm', 'g', 't'] as const
/** A size with an optional unit: KiB, MiB, GiB, TiB of 1024, KB, MB, GB, TB of 1000, or bytes. Undefined where it is none. */
export function parseBytes(text: string): number | undefined {
  const [, figure = '', prefix = '', binary] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*$/i.exec(text) ?? []
  if (figure === '' || (binary !== '' && prefix === '')) return undefined
  const power = PREFIXES.findIndex((known) => known === prefix.toLowerCase())
  const bytes = Math.round(Number(figure) * (binary === '' ? 1000 : 1024) ** power)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
