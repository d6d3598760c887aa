// Reads `nvidia-smi pmon` and `nvidia-smi dmon`: columns by their first header line, one line per sample, the last sample counts.
import type { FieldId } from './field-id.ts'
import type { ParsedGpu, ParsedProcess } from './gpu.ts'
import { wholeNumber } from './gpu.ts'
import type { Dimension, Missing } from './value.ts'
import { isMissing, parseValue } from './value.ts'

type Monitor = { readonly kind: 'pmon' | 'dmon'; readonly gpus: readonly ParsedGpu[] }

/** dmon's columns; `-` is no value. */
const COLUMNS: Readonly<Record<string, readonly [FieldId, Dimension]>> = {
  pwr: ['power', 'watts'],
  gtemp: ['temperature', 'celsius'],
  mtemp: ['memory_temperature', 'celsius'],
  sm: ['utilization', 'ratio'],
  mem: ['memory_utilization', 'ratio'],
  enc: ['encoder_utilization', 'ratio'],
  dec: ['decoder_utilization', 'ratio'],
  mclk: ['clock_memory', 'hertz'],
  pclk: ['clock_sm', 'hertz'],
  fb: ['memory_used', 'bytes'],
}

/** Splits into as many words as there are columns; the last one, a process name, keeps its blanks. */
function words(line: string, columns: number): readonly string[] {
  const found = line.trim().split(/\s+/)
  return found.length <= columns ? found : [...found.slice(0, columns - 1), found.slice(columns - 1).join(' ')]
}

export function readMonitor(text: string): Monitor | undefined {
  let columns: readonly string[] = []
  const rows: (readonly string[])[] = []
  for (const line of text.split('\n')) {
    const header = /^#\s*gpu\s+(.*)$/i.exec(line)
    if (header?.[1] !== undefined) columns = ['gpu', ...header[1].trim().toLowerCase().split(/\s+/)]
    else if (line.trim() !== '' && !line.startsWith('#') && columns.length > 0) rows.push(words(line, columns.length))
  }
  if (columns.length === 0) return undefined
  const cell = (row: readonly string[], name: string): string | undefined => row[columns.indexOf(name)]
  if (columns.includes('pid')) {
    const gpus = new Map<number, Map<number, ParsedProcess>>()
    for (const row of rows) {
      const index = wholeNumber(cell(row, 'gpu'))
      if (index === undefined) continue
      const processes = gpus.get(index) ?? new Map<number, ParsedProcess>()
      gpus.set(index, processes)
      const pid = wholeNumber(cell(row, 'pid'))
      if (pid === undefined) continue // an idle GPU prints one line of dashes
      const name = cell(row, 'command') ?? cell(row, 'name')
      const bytes = parseValue(cell(row, 'fb') ?? '-', 'bytes')
      processes.set(pid, {
        pid,
        type: cell(row, 'type') ?? 'C',
        ...(name === undefined || name === '-' ? {} : { name }),
        bytes: isMissing(bytes) ? null : bytes,
      })
    }
    return {
      kind: 'pmon',
      gpus: [...gpus].map(([index, processes]) => ({ index, values: new Map(), missing: new Map(), migs: [], processes: [...processes.values()] })),
    }
  }
  const gpus = new Map<number, ParsedGpu>()
  for (const row of rows) {
    const index = wholeNumber(cell(row, 'gpu'))
    if (index === undefined) continue
    const values = new Map<FieldId, number>()
    const missing = new Map<FieldId, Missing>()
    for (const [column, [id, dimension]] of Object.entries(COLUMNS)) {
      const found = cell(row, column)
      if (found === undefined) continue
      const value = parseValue(found, dimension)
      if (isMissing(value)) missing.set(id, value)
      else values.set(id, value)
    }
    gpus.set(index, { index, values, missing, migs: [] })
  }
  return { kind: 'dmon', gpus: [...gpus.values()] }
}
