// Prints a bench's figures as a table: what, figure, limit or peer, verdict.

export type Row = { readonly what: string; readonly figure: string; readonly limit?: string; readonly ok?: boolean }

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => [row.what, row.figure, row.limit ?? '', row.ok === undefined ? '' : row.ok ? 'ok' : 'MISSED'])
  const all = [['figure', 'measured', 'limit or peer', ''], ...cells]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => (line[column] ?? '').length))) ?? []
  for (const line of all)
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
  if (rows.some((row) => row.ok === false)) process.exitCode = 1
}

/** The value below which the share `p` of the sorted figures lies. */
export function percentile(figures: readonly number[], p: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN
}
