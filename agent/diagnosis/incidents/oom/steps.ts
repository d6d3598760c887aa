// What a young process had in use, in steps of ten seconds: a job that fails within minutes has too few minutes for a trend.
import type { Growth } from './past.ts'
import { risePerStep } from './trend.ts'

const STEP_MS = 10_000
/** Weights and optimizer come in the first minute, which says nothing. */
const FROM_MS = 60_000
/** After so long there are minutes enough. */
const UNTIL_MS = 600_000
/** A job that works frees between its steps what its step took; what only loads does not. */
const FREED = 0.02

export type Steps = {
  readonly note: (ageMs: number, used: number) => void
  readonly growth: () => Growth | undefined
  readonly highest: () => number | undefined
}

export function createSteps(): Steps {
  const steps: { readonly at: number; peak: number; floor: number }[] = []
  let highest: number | undefined
  return {
    note(ageMs, used) {
      highest = Math.max(highest ?? 0, used)
      if (ageMs < FROM_MS || ageMs > UNTIL_MS) return
      const at = Math.floor(ageMs / STEP_MS)
      const step = steps.at(-1)
      if (step?.at !== at) steps.push({ at, peak: used, floor: used })
      else {
        step.peak = Math.max(step.peak, used)
        step.floor = Math.min(step.floor, used)
      }
    },
    growth() {
      const works = steps.filter(({ peak, floor }) => floor < (1 - FREED) * peak).length >= steps.length / 2
      const rise = works ? risePerStep(steps.map(({ peak }) => peak)) : undefined
      if (rise === undefined) return undefined
      return { bytes: rise * steps.length, perHour: rise * (3_600_000 / STEP_MS), overMs: steps.length * STEP_MS }
    },
    highest: () => highest,
  }
}
