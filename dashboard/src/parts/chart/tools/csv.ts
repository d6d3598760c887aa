// A chart as a table of text: one row for each time, one column for each line (RFC 4180). Pure.
export type Table = {
  /** Without a kind of file: `gpu-3-memory`. */
  readonly name: string
  readonly columns: readonly string[]
  /** Unix seconds. */
  readonly seconds: ArrayLike<number>
  readonly values: readonly ArrayLike<number | null | undefined>[]
}

/** A text that a spreadsheet would run as a formula is kept a text. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
const figure = (value: number | null | undefined): string =>
  value === null || value === undefined || Number.isNaN(value) ? '' : String(Number(value.toPrecision(12)))

/** Times in UTC; what was not read is empty. */
export function csvOf({ columns, seconds, values }: Table): string {
  const rows = Array.from({ length: seconds.length }, (_, i) =>
    [new Date((seconds[i] ?? 0) * 1000).toISOString().replace('.000Z', 'Z'), ...values.map((column) => figure(column[i]))].join(','),
  )
  return `${[['time', ...columns].map(cell).join(','), ...rows].join('\r\n')}\r\n`
}
