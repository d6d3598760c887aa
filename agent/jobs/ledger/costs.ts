// What use cost, by the factors that the user has set; a factor that is 0 is not known, and what needs it is absent. Pure.
import type { JobGroupRow } from '../../model/job.ts'

export type CostFactors = { readonly gpu_hour: number; readonly kwh: number; readonly currency: string; readonly grams_per_kwh: number }
export type Cost = { readonly price?: number; readonly currency?: string; readonly co2_grams?: number }

const HOUR_S = 3_600
const KWH_J = 3.6e6

/** `gpuSeconds`: of a GPU's time, so that two that share one pay half each. */
export function costOf({ gpu_hour: hour, kwh, currency, grams_per_kwh: grams }: CostFactors, gpuSeconds: number, joules: number | undefined): Cost {
  const isPriced = hour > 0 || (kwh > 0 && joules !== undefined)
  const price = (gpuSeconds / HOUR_S) * hour + ((joules ?? 0) / KWH_J) * kwh
  return {
    ...(isPriced ? { price: Math.round(price * 100) / 100, ...(currency === '' ? {} : { currency }) } : {}),
    ...(grams > 0 && joules !== undefined ? { co2_grams: Math.round((joules / KWH_J) * grams) } : {}),
  }
}

/** Of the GPU time that it used or kept from others. */
export const groupsWithCost = (groups: readonly JobGroupRow[], factors: CostFactors): readonly JobGroupRow[] =>
  groups.map((group) => ({ ...group, ...costOf(factors, group.gpu_seconds.active + group.gpu_seconds.idle, group.energy_joules) }))
