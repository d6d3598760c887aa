// Outcomes and amounts of jobs as text.
import type { Outcome } from '../model/job.ts'

export const outcomeText = (outcome: Outcome): string => (outcome === 'lost_gpu' ? 'lost its GPU' : outcome.replaceAll('_', ' '))

const KWH = 3.6e6
/** `940 J`, `12 Wh`, `3.42 kWh`. */
/** Of carbon dioxide: `246 g`, `3.1 kg`. */
export const gramsText = (grams: number): string => (grams < 1_000 ? `${Math.round(grams)} g` : `${(grams / 1_000).toFixed(grams < 100_000 ? 1 : 0)} kg`)

export function energyText(joules: number): string {
  if (joules < 3_600) return `${Math.round(joules)} J`
  return joules < KWH / 10 ? `${(joules / 3_600).toFixed(joules < 36_000 ? 1 : 0)} Wh` : `${(joules / KWH).toFixed(2)} kWh`
}
