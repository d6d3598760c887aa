// Which figure is the whole of a loss whose parts are beside it.
import type { Field } from './fields.ts'
import type { Figures } from './record.ts'

/** A decimal called a total that is no less than the parts beside it, or the letter of a loss beside the counter of the steps. */
export function isWholeLoss(
  { key, whole, value, unit, total, duration, aside }: Field,
  { step, loss, total: of, learningRate }: Figures,
  parts: readonly number[],
): boolean {
  if (whole || unit !== undefined || total !== undefined || duration !== undefined || aside) return false
  if (key === 'l') return loss === undefined && step !== undefined && of !== undefined
  if (key !== 'total') return false
  return parts.length > 0 ? parts.every((part) => part <= value) : loss === undefined && step !== undefined && learningRate !== undefined
}

/** `avg_loss_tgt: 56.777 origin_loss_tgt: 53.379 cluster_loss_tgt: 3.273 trans_loss_tgt: 0.125`: one is the sum of the others. */
export function sumOf(parts: readonly number[]): number | undefined {
  if (parts.length < 3) return undefined
  const whole = Math.max(...parts)
  const others = parts.reduce((sum, part) => sum + part, -whole)
  return whole > 0 && Math.abs(others - whole) <= 0.001 * whole ? whole : undefined
}
