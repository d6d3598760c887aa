// A loss that is no number any more: said by its lines, step after step, whatever prints them.
import type { ReadLine } from '../../traceback/line.ts'
import type { DivergedSign } from '../evidence.ts'

const KEY = String.raw`(?<![\w])((?:[A-Za-z]\w{0,30}[ _/-])?(?:loss\w{0,20}|\w{1,20}loss)|grad[ _]?norm|nll|cost)['"]?`
const PAIR = new RegExp(
  String.raw`${KEY}\s{0,4}(?:[:=|]|is|->)?\s{0,12}['"]?([-+]?(?:nan|inf(?:inity)?|\d(?:[\d.,]{0,20}\d)?(?:e[-+]?\d{1,3})?)(?![\w]))`,
  'gi',
)
/** Of a validation set that may be empty, and of the scale of mixed precision. */
const ASIDE = /^(?:val|valid|validation|eval|test)[\s_/-]|loss_?scale|lossscale/i
const MAY = /loss|norm|nll|cost/i
/** Until one is gone, the others need no look. */
const GONE = /\bnan\b|\binf/i
const STEP = /\b(?:global_step|step|iter(?:ation)?|iteration|it)s?\b['"]?[\s:=#[]{0,12}(\d{1,9})/i
const BAR = /\b(?:steps?|iter(?:ation)?s?)\b: {1,4}\d{1,3}%\|[^|\n]{0,400}\| {0,3}(\d{1,9})\/\d/i
const NOT_A_NUMBER = /nan|inf/i
const TRIAL = /\b[Tt]rial \S{1,40} (?:failed|errored|was pruned|pruned)\b/
/** Of mixed precision one overflow is part of the work. */
const NORM_LINES = 2

/** `tensor(2.31, device='cuda:0')`, as a loop prints its loss without a name: a line of its own, again and again. */
const BARE = /^tensor\((-?(?:nan|inf|\d[\d.e+-]{0,20}))(?:, [\w=':., <>()]{0,80})?\)$/
/** So many in a row after one that was a number. */
const BARE_LINES = 3

/** The scaler of mixed precision halves its scale for each gradient that overflows. One is sought so; far below 1 no gradient is small enough, because it is not a number. */
const SCALED = /\b(?:reduc|decreas|lower)\w{2,4}\b.{0,40}\bto (\d[\d.]{0,24}(?:e-?\d{1,4})?)\s*$/i
/** Keras' TerminateOnNaN, in a bar. */
const TERMINATES = /Batch \d{1,9}: Invalid loss, terminating training\b/
/** A program's own words: what is no number, and that it ends for it. */
const STOPS =
  /^(?=[^\n]{0,300}\b(?:nan|non-?finite|not finite|inf(?:inite|inity)?|not a number)s?\b)(?=[^\n]{0,300}(?:loss|grad|weight|param|activation|logit|diverg))(?![^\n]{0,300}\b(?:(?:skip|ignor|continu|retr|restor|rewind|roll|warn)\w{0,6}|early|val|valid|validation|trial|fold|set(?:ting)? to|if|when|would|could|will be|(?:no|without|0) (?:nan|inf|non|of))\b)[^\n]{0,300}\b(?:abort|stopp|exit|terminat|end|quitt|halt|giv)ing\b/i
const STOPS_MAY = /(?:abort|stopp|exit|terminat|end|quitt|halt|giv)ing\b/i
const LEAST_SCALE = 1e-3
const SCALE_LINES = 3

export type LossReader = { readonly add: (line: ReadLine) => void; readonly diverged: () => DivergedSign | undefined }

export function createLossReader(): LossReader {
  let run = 0
  let byLoss = 0
  let sign: DivergedSign | undefined
  let counted = false
  let gone = 0
  let bare: DivergedSign | undefined
  let lowered = 0
  let scaled: DivergedSign | undefined
  let terminated: DivergedSign | undefined
  let stopped = false
  const addScale = (line: ReadLine): void => {
    const scale = SCALED.exec(line.text)?.[1]
    if (scale === undefined) return
    lowered = Number(scale) < LEAST_SCALE ? lowered + 1 : 0
    scaled = lowered === 0 ? undefined : (scaled ?? { type: 'diverged', at: line.number, text: line.raw, facts: {} })
  }
  const addBare = (line: ReadLine): void => {
    const value = BARE.exec(line.text)?.[1]
    if (value === undefined) return
    if (!NOT_A_NUMBER.test(value)) {
      counted = true
      gone = 0
      bare = undefined
    } else if (counted) {
      gone += 1
      bare ??= { type: 'diverged', at: line.number, text: line.raw, facts: {} }
    }
  }
  return {
    add(line) {
      if (line.text.startsWith('tensor(')) addBare(line)
      if (line.text.includes('loss scale')) addScale(line)
      if (TERMINATES.test(line.raw.slice(-8_000))) terminated ??= { type: 'diverged', at: line.number, text: line.raw, facts: {} }
      if (line.text.length < 400 && STOPS_MAY.test(line.text) && STOPS.test(line.text)) {
        const step = STEP.exec(line.text)?.[1]
        terminated ??= { type: 'diverged', at: line.number, text: line.raw, facts: step === undefined ? {} : { step: Number(step) } }
        stopped = true
        return
      }
      // A trial of a study that failed: the study goes on.
      if (TRIAL.test(line.text)) return
      if (line.text.length > 8_000 || !(run > 0 || stopped ? MAY : GONE).test(line.text)) return
      let loss: string | undefined
      let norm: string | undefined
      for (const [, key = '', value = ''] of line.text.matchAll(PAIR)) {
        if (ASIDE.test(key)) continue
        if (/norm/i.test(key)) norm ??= value
        else loss ??= value
      }
      if (loss === undefined && norm === undefined) return
      const lossGone = loss !== undefined && NOT_A_NUMBER.test(loss)
      const normGone = norm !== undefined && NOT_A_NUMBER.test(norm) && (loss === undefined || Number(loss) === 0)
      if (!lossGone && !normGone) {
        if (loss !== undefined) {
          lowered = 0
          // It went on.
          if (stopped) terminated = undefined
        }
        // A norm alone says nothing of a loss that is printed elsewhere.
        if (norm !== undefined && NOT_A_NUMBER.test(norm)) return
        run = 0
        byLoss = 0
        sign = undefined
        return
      }
      run += 1
      if (lossGone && /nan/i.test(loss ?? '')) byLoss += 1
      // A bar's percentage is no step; its `10/2000` is.
      const step = BAR.exec(line.text)?.[1] ?? STEP.exec(line.text)?.[1]
      sign ??= { type: 'diverged', at: line.number, text: line.raw, facts: step === undefined ? {} : { step: Number(step) } }
    },
    diverged: () => (byLoss > 0 || run >= NORM_LINES ? sign : gone >= BARE_LINES ? bare : lowered >= SCALE_LINES ? scaled : terminated),
  }
}
