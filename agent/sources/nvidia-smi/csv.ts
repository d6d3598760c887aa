// Reads the CSV of `nvidia-smi --query-…`: the unit is in the header, values are never quoted, process names may hold commas.
import type { FieldId } from './field-id.ts'
import type { Field } from './fields.ts'
import { FIELDS, TEXTS } from './fields.ts'
import type { ParsedGpu, ParsedProcess, Values } from './gpu.ts'
import { present, readField, readValues, wholeNumber } from './gpu.ts'
import type { ParseGap } from './result.ts'
import { isMissing, parseValue } from './value.ts'

export type Csv = {
  /** Column names with their unit cut off. */
  readonly columns: readonly string[]
  readonly units: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly gaps: readonly ParseGap[]
}

/** Columns that may hold commas. */
const FREE_TEXT = new Set(['process_name', 'name', 'gpu_name'])

/** `memory.used [MiB]`: cut by hand, as a pattern takes quadratic time for a cell full of blanks. */
function headerCell(text: string): { readonly name: string; readonly unit: string } {
  const cell = text.trim()
  const open = cell.lastIndexOf('[')
  if (open < 1 || !cell.endsWith(']') || cell[open - 1]?.trim() !== '') return { name: cell, unit: '' }
  return { name: cell.slice(0, open).trimEnd(), unit: cell.slice(open + 1, -1) }
}

export function readCsv(text: string): Csv {
  const lines = text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
  const header = (lines[0] ?? '').split(',').map(headerCell)
  const columns = header.map(({ name }) => name)
  const free = columns.findIndex((name) => FREE_TEXT.has(name))
  const rows: string[][] = []
  const gaps: ParseGap[] = []
  for (const line of lines.slice(1)) {
    const cells = line.split(',').map((cell) => cell.trim())
    const extra = cells.length - columns.length
    // A process name with commas in it takes the cells that are too many.
    if (extra > 0 && free >= 0) cells.splice(free, extra + 1, cells.slice(free, free + extra + 1).join(', '))
    if (cells.length === columns.length) rows.push(cells)
    else gaps.push({ reason: 'parse_error', detail: `CSV row with ${cells.length} cells; expected ${columns.length}: ${line.slice(0, 120)}` })
  }
  return { columns, units: header.map(({ unit }) => unit), rows, gaps }
}

/** Whether any of the columns is one that `--query-gpu` is read for. */
export function isGpuQuery(columns: readonly string[]): boolean {
  const known = new Set<string>([...FIELDS.flatMap((field) => field.csv), 'uuid', 'index', 'pci.bus_id', 'driver_version'])
  return columns.some((column) => known.has(column))
}

type Row = { readonly cell: (name: string) => string | undefined; readonly unit: (name: string) => string }

const rowsOf = (csv: Csv): readonly Row[] =>
  csv.rows.map((cells) => ({
    cell: (name) => cells[csv.columns.indexOf(name)],
    unit: (name) => csv.units[csv.columns.indexOf(name)] ?? '',
  }))

const firstOf = (row: Row, names: readonly string[]): string | undefined => {
  for (const name of names) {
    const text = present(row.cell(name))
    if (text !== undefined) return text
  }
  return undefined
}

function identity(row: Row): Pick<ParsedGpu, 'index' | 'pciBusId' | 'uuid' | 'name' | 'serial' | 'vbios' | 'driverModel'> {
  const index = wholeNumber(row.cell('index'))
  const pciBusId = firstOf(row, ['pci.bus_id', 'gpu_bus_id'])
  const texts: Partial<Record<'uuid' | 'name' | 'serial' | 'vbios' | 'driverModel', string>> = {}
  for (const key of ['uuid', 'name', 'serial', 'vbios', 'driverModel'] as const) {
    const text = firstOf(row, TEXTS[key].csv)
    if (text !== undefined) texts[key] = text
  }
  return { ...(index === undefined ? {} : { index }), ...(pciBusId === undefined ? {} : { pciBusId }), ...texts }
}

function csvValues(row: Row): Values {
  return readValues(FIELDS, (field: Field) =>
    readField(field, field.csv, (name) => {
      const text = row.cell(name)
      if (text === undefined) return undefined
      // With `nounits` the unit is the header's.
      return { text: /^-?[\d.]+$/.test(text) && row.unit(name) !== '' ? `${text} ${row.unit(name)}` : text, inherited: false }
    }),
  )
}

export function gpusFromQuery(csv: Csv): readonly ParsedGpu[] {
  return rowsOf(csv).map((row) => ({ ...identity(row), ...csvValues(row), migs: [] }))
}

const nothing: Values = { values: new Map(), missing: new Map() }

/** Rows grouped by their GPU, in order of appearance. */
function byGpu(csv: Csv): readonly (readonly Row[])[] {
  const groups = new Map<string, Row[]>()
  for (const row of rowsOf(csv)) {
    const key = firstOf(row, ['gpu_uuid', 'gpu_bus_id']) ?? ''
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return [...groups.values()]
}

/** `--query-compute-apps`: in MIG mode `gpu_uuid` is the parent GPU's and the instance is not reported. */
export function gpusFromApps(csv: Csv): readonly ParsedGpu[] {
  return byGpu(csv).map((rows) => {
    const processes: ParsedProcess[] = []
    for (const row of rows) {
      const pid = wholeNumber(row.cell('pid'))
      if (pid === undefined) continue
      const name = firstOf(row, ['process_name', 'name'])
      const column = row.cell('used_gpu_memory') === undefined ? 'used_memory' : 'used_gpu_memory'
      const bytes = parseValue(row.cell(column) ?? '', 'bytes', row.unit(column))
      processes.push({ pid, type: 'C', ...(name === undefined ? {} : { name }), bytes: isMissing(bytes) ? null : bytes })
    }
    return { ...(rows[0] === undefined ? {} : identity(rows[0])), ...nothing, migs: [], processes }
  })
}

/** `--query-retired-pages`: one row per page, or one per cause with `[N/A]` where the board has no page retirement. */
export function gpusFromRetiredPages(csv: Csv): readonly ParsedGpu[] {
  return byGpu(csv).map((rows) => {
    const values = new Map<FieldId, number>()
    const missing = new Map<FieldId, NonNullable<ReturnType<Values['missing']['get']>>>()
    for (const row of rows) {
      const cause = row.cell('retired_pages.cause') ?? ''
      const id = /double/i.test(cause) ? 'retired_pages_double_bit' : /single/i.test(cause) ? 'retired_pages_single_bit' : undefined
      if (id === undefined) continue
      const address = row.cell('retired_pages.address') ?? ''
      if (/^0x[0-9a-f]+$/i.test(address)) values.set(id, (values.get(id) ?? 0) + 1)
      else {
        const value = parseValue(address, 'count')
        if (isMissing(value)) missing.set(id, value)
      }
    }
    for (const id of values.keys()) missing.delete(id)
    return { ...(rows[0] === undefined ? {} : identity(rows[0])), values, missing, migs: [] }
  })
}
