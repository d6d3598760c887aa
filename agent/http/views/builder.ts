// Rows while they are built: measures entered by metric and label, gaps beside them.
import { IDENTITY_LABELS } from '../../metrics/labels.ts'
import type { Gap } from '../../model/reading.ts'
import type { GapRow } from '../../model/live.ts'
import type { MetricDef, Subject } from '../../model/metric.ts'
import type { Labels } from '../../model/series.ts'

export type RowValue = number | string | Record<string, number> | GapRow[] | MutableRow[] | undefined
export type MutableRow = { gaps?: GapRow[]; mig?: MutableRow[]; [field: string]: RowValue }

/** `sm` for a clock's domain: the value of the label that the declaration names, else of the labels that name no subject, joined by `_`; undefined when there is none. */
export function dimensionOf({ subject, by }: MetricDef, labels: Labels): string | undefined {
  if (by !== undefined && labels[by] !== undefined) return labels[by]
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

/** `def` is the declaration of what could not be read; undefined for a whole source that is silent. */
export function enterGap(row: MutableRow, gap: Gap, def: MetricDef | undefined): void {
  const dimension = def === undefined ? undefined : dimensionOf(def, gap.labels)
  const measure = def?.field ?? gap.metric
  const gapRow: GapRow = {
    measure: dimension === undefined ? measure : `${measure}.${dimension}`,
    reason: gap.reason,
    ...(gap.code === undefined ? {} : { code: gap.code }),
    ...(gap.detail === undefined ? {} : { detail: gap.detail }),
  }
  if (row.gaps === undefined) row.gaps = [gapRow]
  else if (!row.gaps.some((known) => known.measure === gapRow.measure && known.reason === gapRow.reason)) row.gaps.push(gapRow)
}
