// A block on its way from memory to the database: made from a group, and written as raw seconds, minutes and hours.
import { createRawScratch, decodeRaw, encodeRaw, packBlock, MAX_STEPS } from './block.ts'
import { ROLLUPS } from './disk.ts'
import type { Disk } from './disk.ts'
import { createRollup, rollSeconds } from './rollup.ts'
import type { Rollup } from './rollup.ts'
import type { Column, Group } from './window.ts'

export type SealedBlock = {
  readonly metric: string
  readonly part: number
  /** Unix s of the first step, and how many steps. */
  readonly start: number
  readonly length: number
  readonly segments: readonly { readonly column: Column; readonly bytes: Uint8Array; readonly samples: number }[]
  readonly bytes: number
  /** Which journal samples it replaces; see `Marker`. */
  readonly before: number
  readonly until: number
  /** First journal record that it needs as long as it is not written. */
  readonly firstSeq: number
}

/** The first `length` seconds of a group; undefined when they are empty. */
export function sealGroup(group: Group, length: number, before: number, until: number): SealedBlock | undefined {
  const segments: { column: Column; bytes: Uint8Array; samples: number }[] = []
  let bytes = 0
  for (const column of group.columns) {
    if (column.filled === 0) continue
    const encoded = encodeRaw(column.values, length)
    if (encoded === undefined) continue
    segments.push({ column, ...encoded })
    bytes += encoded.bytes.length
  }
  return segments.length === 0
    ? undefined
    : { metric: group.metric, part: group.part, start: group.start, length, segments, bytes, before, until, firstSeq: group.firstSeq }
}

const scratch = createRawScratch()
const values = new Float64Array(MAX_STEPS)

/** Writes a block whose series all have their ids; to be called inside a transaction. */
export function writeBlock(disk: Disk, block: SealedBlock): void {
  const { metric, part, start, length, segments } = block
  let samples = 0
  const updates = ROLLUPS.map((rollup) => {
    const origins: {
      readonly table: 'minutes' | 'hours'
      readonly step: number
      readonly t0: number
      readonly from: number
      readonly until: number
      readonly steps: Map<number, Rollup>
    }[] = []
    for (let t0 = Math.floor(start / rollup.row) * rollup.row; t0 < start + length; t0 += rollup.row) {
      const from = Math.max(start, t0)
      origins.push({ table: rollup.table, step: rollup.step, t0, from, until: Math.min(start + length, t0 + rollup.row), steps: new Map() })
    }
    return origins
  }).flat()
  for (const segment of segments) {
    const count = decodeRaw(segment.bytes, scratch)
    samples += count
    values.fill(Number.NaN, 0, length)
    for (let i = 0; i < count; i++) values[scratch.at[i] ?? 0] = scratch.value[i] ?? 0
    for (const { step, t0, from, until, steps } of updates) {
      const rolled = createRollup(Math.ceil((until - from) / step) + 1)
      rollSeconds(rolled, values.subarray(from - start, until - start), from, until - from, t0, step)
      if (rolled.length > 0) steps.set(segment.column.id, rolled)
    }
  }
  disk.addRaw(metric, start, start + length, samples, packBlock(segments.map(({ column, bytes }) => ({ id: column.id, bytes }))))
  for (const { table, t0, steps } of updates) if (steps.size > 0) disk.mergeRollups(table, metric, t0, part, steps)
}
