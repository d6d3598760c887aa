// The rows of the page: one per series, kept from tick to tick so that only families that changed are rewritten.
import { UNIT_WORDS, type MetricDef } from '../../model/metric.ts'
import type { Bytes } from './bytes.ts'

/** One family as the page shows it: its declaration in both formats and its rows. */
export type Family = {
  readonly name: string
  readonly textHead: string
  readonly openMetricsHead: string
  /** Rows of the newest rendering, in the order in which they came; the first `count` are of the one that is going on. */
  readonly live: Row[]
  count: number
  dirty: boolean
  /** Where the family's lines begin and end in the newest rendering's bytes. */
  start: number
  end: number
}

export type Row = {
  readonly family: Family
  /** `name{labels} `, what is before the value. */
  readonly prefix: string
  readonly prefixBytes: number
  value: number
  /** Time of the scrape that brought the value. */
  t: number
  /** Number of the rendering that saw the row last. */
  generation: number
}

export type FamilyKind = MetricDef['kind'] | 'unknown'
export type FamilyText = { readonly name: string; readonly kind: FamilyKind; readonly unit: string; readonly help: string }

export function createFamily(def: FamilyText): Family {
  return { name: def.name, textHead: textHead(def), openMetricsHead: openMetricsHead(def), live: [], count: 0, dirty: true, start: 0, end: 0 }
}

export function createRow(family: Family, key: string): Row {
  const prefix = `${key} `
  return { family, prefix, prefixBytes: Buffer.byteLength(prefix), value: Number.NaN, t: 0, generation: -1 }
}

/** Enters a value; of two readings with one key in one rendering the newer one counts, and of equally old ones the later. */
export function enterRow(row: Row, value: number, t: number, generation: number): void {
  const { family } = row
  if (row.generation === generation) {
    if (t < row.t) return
  } else {
    row.generation = generation
    if (family.live[family.count] !== row) {
      family.live[family.count] = row
      family.dirty = true
    }
    family.count += 1
  }
  row.t = t
  if (row.value === value) return
  row.value = value
  family.dirty = true
}

/** Ends a rendering of the family: writes its lines, or takes them over from the rendering before when nothing changed. */
export function closeFamily(family: Family, bytes: Bytes, before: Bytes): void {
  if (family.live.length !== family.count) {
    family.live.length = family.count
    family.dirty = true
  }
  family.count = 0
  const start = bytes.length()
  if (family.dirty) for (const row of family.live) bytes.line(row.prefix, row.prefixBytes, row.value)
  else bytes.copy(before, family.start, family.end)
  family.dirty = false
  family.start = start
  family.end = bytes.length()
}

// https://prometheus.io/docs/instrumenting/exposition_formats/: in HELP, backslash and line feed are escaped.
const escapeHelp = (help: string): string => help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function textHead({ name, kind, help }: FamilyText): string {
  const type = kind === 'info' ? 'gauge' : kind === 'unknown' ? 'untyped' : kind
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
}

function openMetricsHead({ name, kind, unit, help }: FamilyText): string {
  // OpenMetrics 1.0: counters and infos are declared without the suffix that their samples carry. A counter of another
  // exporter that lacks `_total` cannot be a counter there; its samples keep their names as `unknown`.
  const suffix = kind === 'counter' ? '_total' : kind === 'info' ? '_info' : ''
  const legal = name.endsWith(suffix)
  const family = legal ? name.slice(0, name.length - suffix.length) : name
  // A family may declare a unit only when its name ends in it.
  const unitName = UNIT_WORDS[unit]
  const unitLine = kind !== 'info' && unitName !== undefined && family.endsWith(`_${unitName}`) ? `# UNIT ${family} ${unitName}\n` : ''
  return `# TYPE ${family} ${legal ? kind : 'unknown'}\n${unitLine}# HELP ${family} ${escapeHelp(help).replaceAll('"', '\\"')}\n`
}
