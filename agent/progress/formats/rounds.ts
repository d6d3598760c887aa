// Boosting: `[50]	train-logloss:0.2448	valid-logloss:0.31` (XGBoost), `[300]	training's binary_logloss: 0.5242` (LightGBM). No total, and no time.
import type { Observation } from '../observation.ts'
import type { Format, Line, Read } from './format.ts'

const ROUND = /^\s*\[(\d{1,8})\]\s+(\S[^:\t]{0,60}):\s?([-+\d.eE]+|nan|inf)/
const FIRST_METRIC = /^(?:train\w*|training's|learn\w*)/i

function read({ text, at }: Line): Read | undefined {
  const found = ROUND.exec(text)
  if (found === null || /loss\b.*\bstep|\bepoch/i.test(text)) return undefined
  const [, round, name = '', figure] = found
  if (!/-|'s |[a-z]_\d/.test(name)) return undefined
  const value = Number(figure)
  const observation: Observation = {
    shape: 'rounds',
    form: 'record',
    metrics: 1,
    sure: true,
    step: Number(round),
    ...(FIRST_METRIC.test(name) ? { loss: value } : {}),
    ...(at === undefined ? {} : { at }),
  }
  return { observation }
}

export const rounds: Format = { name: 'rounds', create: () => read }
