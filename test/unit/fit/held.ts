// An estimate of a published footprint, of the parts that were measured there.
import { estimate } from '../../../agent/fit/estimate.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { modelOf } from '../../../agent/fit/model.ts'
import { parseSettings } from '../../../agent/fit/settings.ts'
import type { FitEstimate, FitPartName, Range } from '../../../agent/model/fit.ts'
import { plus } from '../../../agent/fit/range.ts'
import { CONFIGS } from './configs.ts'
import type { Footprint, Scope } from './footprints.ts'

const OUTSIDE: Readonly<Record<Scope, readonly FitPartName[]>> = {
  allocated: ['cuda_context', 'communication', 'allocator'],
  reserved: ['cuda_context', 'communication'],
  process: [],
}

export function estimateOf({ model, words }: Pick<Footprint, 'model' | 'words'>): FitEstimate {
  const parsed = parseSettings(words)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return estimate(modelOf({ name: model, config: readConfig(CONFIGS[model]) }), parsed.settings)
}

export function held(footprint: Footprint): Range & { readonly off: number } {
  const { parts } = estimateOf(footprint)
  const total = plus(...parts.filter(({ part }) => !OUTSIDE[footprint.scope].includes(part)))
  return { ...total, off: total.likely_bytes / footprint.bytes - 1 }
}
