// Rows while they are built: measures entered by metric and label, gaps beside them.
import type { Gap } from '../../model/reading.ts'
import type { GapRow } from '../../model/live.ts'
import type { Labels } from '../../model/series.ts'
import { IDENTITY_LABELS, placeOf, type Subject } from './classify.ts'

export type RowValue = number | string | Record<string, number> | GapRow[] | MutableRow[] | undefined
export type MutableRow = { gaps?: GapRow[]; mig?: MutableRow[]; [field: string]: RowValue }

/** The value of the labels that are no identity: `sm` for a clock's domain; several are joined by `_`; undefined when there is none. */
export function dimensionOf(subject: Subject, labels: Labels): string | undefined {
  // A container's measures of a GPU are by its UUID, whatever else the series says of the GPU.
  if (subject === 'container' && labels['uuid'] !== undefined) return labels['uuid']
  // A file system is known by where it is mounted; device and type only describe it.
  if (subject === 'host' && labels['mountpoint'] !== undefined) return labels['mountpoint']
  let dimension: string | undefined
  const identity = IDENTITY_LABELS[subject]
  for (const label in labels) {
    const value = labels[label]
    if (value === undefined || value === '' || identity.has(label)) continue
    dimension = dimension === undefined ? value : `${dimension}_${value}`
  }
  return dimension
}

/** With `add`, values of one dimension are summed: a container's memory in several MIG instances of one GPU. */
export function enterMeasure(row: MutableRow, measure: string, dimension: string | undefined, value: number, add = false): void {
  if (dimension === undefined) {
    row[measure] = value
    return
  }
  const known = row[measure]
  if (typeof known === 'object' && !Array.isArray(known)) known[dimension] = add ? (known[dimension] ?? 0) + value : value
  else row[measure] = { [dimension]: value }
}

/** Writes identity labels as text fields, leaving out those in `except` and those that the row has. */
export function enterIdentity(row: MutableRow, subject: Subject, labels: Labels, except: readonly string[] = []): void {
  for (const label of IDENTITY_LABELS[subject]) {
    const value = labels[label]
    if (value !== undefined && value !== '' && row[label] === undefined && !except.includes(label)) row[label] = value
  }
}

export function enterGap(row: MutableRow, gap: Gap): void {
  const place = placeOf(gap.metric)
  const dimension = place === undefined ? undefined : dimensionOf(place.subject, gap.labels)
  const measure = place?.measure ?? gap.metric
  const gapRow: GapRow = {
    measure: dimension === undefined ? measure : `${measure}.${dimension}`,
    reason: gap.reason,
    ...(gap.code === undefined ? {} : { code: gap.code }),
    ...(gap.detail === undefined ? {} : { detail: gap.detail }),
  }
  if (row.gaps === undefined) row.gaps = [gapRow]
  else if (!row.gaps.some((known) => known.measure === gapRow.measure && known.reason === gapRow.reason)) row.gaps.push(gapRow)
}
