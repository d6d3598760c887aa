// How many steps a training will take, said once before its first: `Total optimization steps = 9000`, `Training for 4000 iterations`.
import { numberOf } from '../quantity.ts'
import type { Format, Line, Read } from './format.ts'

const STEPS = '(?:steps|iters|iterations|updates)'
/** Without it there is none of them: a cheap look at most lines. */
const SIGN = new RegExp(String.raw`\d (?:total |training |optimi[sz]ation )?${STEPS}\b|${STEPS}["']? {0,40}(?:[:=]|is|are)|\bnstlim\b`, 'i')
const NAMED = new RegExp(
  String.raw`(?<![a-z])(?:(?:total|max|maximum)[ _-]?(?:num(?:ber of)?[ _-])?(?:train(?:ing)?[ _-]|optimi[sz]ation[ _-]|update[ _-])?|(?:num|n|number of)[ _-](?:train(?:ing)?[ _-]|optimi[sz]ation[ _-]))${STEPS}["']? ?(?:[:=]|is|are) ?(\d[\d,_]{0,12})\b(?![./]\d)`,
  'i',
)
const WORDED = new RegExp(
  String.raw`\b(?:train(?:ing)?|fine-?tun(?:e|ing)|running|will run|optimi[sz]ing)\b[^\n\d]{0,24}?(?:\d{1,6} epochs?,? ?(?:\(|and )?)?(\d[\d,]{0,12}) (?:total |training |optimi[sz]ation |gradient )?${STEPS}\b(?! ?(?:per|/|in|took|takes?|ago|so far|left|done|remain))`,
  'i',
)
/** `Starting training..., iters: 1000`. */
const STARTED = new RegExp(
  String.raw`^\W{0,8}(?:start|begin)\w* (?:the )?(?:re-?|pre-?)?train\w*\W{1,8}(?:(?:num|total|max)[ _])?${STEPS}["']? ?[:=] ?(\d[\d,]{0,12})\b`,
  'i',
)
/** Simulators of molecules: GROMACS' `nsteps = 50000` and `50000 steps,    100.0 ps.`, Amber's `nstlim  = 50000,`. */
const SIMULATED = /^\s*(?:nsteps|nstlim) {0,40}= {0,12}(\d{1,12})\b|^(\d{1,12}) steps, {1,12}\d[\d.]{0,16} (?:[pn]s|us)\.?$/
/** Says how long something else lasts, or how often it happens. */
const OTHER =
  /warm|sav|eval|valid|test|log|every|per[ _]|each|resum|checkpoint|ckpt|after|from|accumul|skip|episode|diffusion|sampl|infer|denois|decay|loss|\b(?:step|iter|itr|iteration|epoch|update|round)[ =:#]{1,3}\d/i
const MAX_LENGTH = 200

export function plannedIn(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !SIGN.test(text)) return undefined
  const simulated = SIMULATED.exec(text)
  if (simulated === null && OTHER.test(text)) return undefined
  const figure = simulated === null ? (NAMED.exec(text) ?? WORDED.exec(text) ?? STARTED.exec(text))?.[1] : (simulated[1] ?? simulated[2])
  const total = figure === undefined ? undefined : numberOf(figure.replaceAll('_', ''))
  return total === undefined || total < 2 ? undefined : total
}

function read({ text }: Line): Read | undefined {
  const total = plannedIn(text)
  return total === undefined ? undefined : { observation: { shape: 'plan', form: 'plan', metrics: 0, total } }
}

export const plan: Format = { name: 'plan', create: () => read }
