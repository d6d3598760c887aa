// Reads amdgpu's binary table `gpu_metrics`: temperatures, activity, power, clocks, link and limits in one question to the card's firmware. Pure.
import { ATTRIBUTES, LAYOUTS, RESIDENCY_ATTRIBUTES, type Field, type Place } from './gpu-metrics-layouts.ts'

export type GpuMetrics = {
  /** `1.3` */
  readonly revision: string
  /** °C, %, W, MHz, lanes; `linkSpeed` in GT/s; `energy` in units of the firmware. Absent: not told. */
  readonly figures: Partial<Record<Field, number>>
  /** 64 bits: the limits that hold the clocks down, in amdgpu's own numbering; absent where the table has counters instead. */
  readonly throttle: bigint | undefined
  readonly residencies: Readonly<Record<string, number>>
}

/** One figure; undefined when all its bits are set. */
function readPlace(table: Buffer, [offset, width]: Place): bigint | undefined {
  if (offset + width > table.length) return undefined
  const value = width === 8 ? table.readBigUInt64LE(offset) : BigInt(table.readUIntLE(offset, width))
  return value === (1n << BigInt(8 * width)) - 1n ? undefined : value
}

const WIDTHS = [1, 1, 2, 2, 4, 4, 8, 8] as const

type Raw = { readonly fields: Map<Field, bigint>; readonly residencies: Map<string, bigint> }

/** Revision 1.9: a list of attributes, each with its number, type and how many values it has; what is not known is stepped over. */
function readAttributes(table: Buffer): Raw | string {
  const fields = new Map<Field, bigint>()
  const residencies = new Map<string, bigint>()
  const count = table.readInt32LE(4)
  let at = 8
  for (let n = 0; n < count; n++) {
    if (at + 8 > table.length) return `expected ${count} attributes, found ${n}`
    const code = Number(table.readBigUInt64LE(at) & 0xffff_ffffn)
    at += 8
    const width = WIDTHS[(code >> 20) & 0xf]
    if (width === undefined) return `attribute ${n} is of type ${(code >> 20) & 0xf}, which is not known`
    const id = (code >> 10) & 0x3ff
    const field = ATTRIBUTES.get(id)
    const residency = RESIDENCY_ATTRIBUTES.get(id)
    // The first value means all: dies of a card, engines of a kind.
    const value = field === undefined && residency === undefined ? undefined : readPlace(table, [at, width])
    if (value !== undefined && field !== undefined) fields.set(field, value)
    if (value !== undefined && residency !== undefined) residencies.set(residency, value)
    at += width * (code & 0x3ff)
  }
  return { fields, residencies }
}

/** The table, or one line that says what is wrong with it. */
export function parseGpuMetrics(table: Buffer): GpuMetrics | string {
  if (table.length < 8) return `expected a table of at least 8 bytes, found ${table.length}`
  const revision = `${table.readUInt8(2)}.${table.readUInt8(3)}`
  const layout = LAYOUTS[revision]
  let raw: Raw
  if (revision === '1.9') {
    const read = readAttributes(table)
    if (typeof read === 'string') return read
    raw = read
  } else {
    if (layout === undefined) return `revision ${revision} of the table is not known`
    if (table.length < layout.size) return `expected at least ${layout.size} bytes of revision ${revision}, found ${table.length}`
    raw = { fields: new Map(), residencies: new Map() }
    for (const [name, place] of Object.entries(layout.residencies ?? {})) {
      const value = readPlace(table, place)
      if (value !== undefined) raw.residencies.set(name, value)
    }
    for (const [name, place] of entriesOf(layout.fields)) {
      const value = readPlace(table, place)
      if (value !== undefined) raw.fields.set(name, value)
    }
  }
  const scale: Partial<Record<Field, number>> = {
    ...(layout?.fine?.temperature === true ? { edge: 0.01, hotspot: 0.01, memory: 0.01 } : {}),
    ...(layout?.fine?.activity === true ? { gfx: 0.01, media: 0.01 } : {}),
    ...(layout?.fine?.power === true ? { power: 0.001 } : {}),
    linkSpeed: 0.1,
  }
  const figures: Partial<Record<Field, number>> = {}
  for (const [name, value] of raw.fields) if (name !== 'throttle') figures[name] = round(Number(value) * (scale[name] ?? 1))
  return {
    revision,
    figures,
    throttle: raw.fields.get('throttle'),
    residencies: Object.fromEntries([...raw.residencies].map(([name, value]) => [name, Number(value)])),
  }
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6
const isField = (name: string): name is Field => FIELDS.has(name)
const FIELDS: ReadonlySet<string> = new Set(Object.values(LAYOUTS).flatMap(({ fields }) => Object.keys(fields)))
function entriesOf(fields: Partial<Record<Field, Place>>): (readonly [Field, Place])[] {
  return Object.entries(fields).flatMap(([name, place]) => (isField(name) ? [[name, place] as const] : []))
}
