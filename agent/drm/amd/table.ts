// The table `gpu_metrics` of a card, read at most once in a pass: its collectors share it.
import type { Card } from '../card.ts'
import { isFailure } from '../files.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import { parseGpuMetrics, type GpuMetrics } from './gpu-metrics.ts'
import type { Field } from './gpu-metrics-layouts.ts'

const tables = new WeakMap<Card, { readonly pass: number; readonly table: GpuMetrics | Failure }>()

export function tableOf(card: Card): GpuMetrics | Failure {
  const known = tables.get(card)
  if (known?.pass === card.pass()) return known.table
  const path = `${card.device}/gpu_metrics`
  const bytes = card.ask(path)
  const parsed = isFailure(bytes) ? bytes : parseGpuMetrics(bytes)
  const table = typeof parsed === 'string' ? failureOf(path, -1, 'parse_error', `${path}: ${parsed}`) : parsed
  tables.set(card, { pass: card.pass(), table })
  return table
}

/** One figure of it. */
export function figureOf(card: Card, field: Field): number | Failure {
  const table = tableOf(card)
  if (isFailure(table)) return table
  return (
    table.figures[field] ??
    failureOf(`${card.device}/gpu_metrics ${field}`, -1, 'not_supported', `gpu_metrics ${table.revision} of this card does not tell its ${field}`)
  )
}
