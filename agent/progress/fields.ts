// The figures of a line with what is before and behind each: `loss: 2.31`, `'lr': 1e-5`, `Iter 26/3489`, `| 2741.47 ms |`. No name is known here.
import { ofOneStep } from './many-steps.ts'
import { memo } from './memo.ts'
import { DURATION, durationOf, NUMBER, numberOf } from './quantity.ts'

export type Field = {
  /** Lower case words: `elapsed time per iteration`, `train loss`. Empty where the figure is alone. */
  readonly key: string
  readonly value: number
  /** So many steps the line speaks of: `[40-49]`. */
  readonly span?: number
  /** What the figure counts to: `26/3489`, `3 of 10`. */
  readonly total?: number
  /** What is behind, or in brackets behind the name: `it/s`, `ms`, `samples/sec`, `%`. */
  readonly unit?: string
  /** The figure is a length of time: seconds. */
  readonly duration?: number
  /** Stands in round brackets: the mean beside the current value, or a share. */
  readonly aside: boolean
  /** A whole number as printed. */
  readonly whole: boolean
  /** Printed in thousands or millions: `30K`. */
  readonly kilo?: true
  /** Where its text begins and ends. */
  readonly from: number
  readonly to: number
}

const MAX_FIELDS = 96
const VALUE = new RegExp(
  `(?=[-+.\\dni])(?:(?<![\\w.@])|(?<=[a-zA-Z_])(?=\\d{1,9}\\s?/\\s?\\d)|(?<=[xX=:_]))(?:(${DURATION})|(${NUMBER})([kKMGB](?=it\\b|[\\s/,|\\])]|$))?)`,
  'gi',
)
const GLUED = /(?<=^|[\s[|,;(])(epochs?|iters?|iterations?|steps?|batch|ep|it|itr|round|e(?=\d{1,5}[\s|,:]{1,3}(?:it|iter|step|batch|i|b|s)[\s:=]?\d?))(?=\d)/gi
const LETTER_FIGURE = /[a-z]\d/i
/** `7 epoch / 20 epochs`: the name is behind both. */
const PAIRED = /(?<![\w.])(\d[\d,]{0,12}) (epoch|iter|iteration|step|batch|round)(?:e?s)? ?\/ ?(\d[\d,]{0,12})(?: \2(?:e?s)?\b)?/gi
/** `[00:12<02:25]`: how long it took, how long it will take. */
const CLOCKS = new RegExp(String.raw`\[\s?(${DURATION})\s?<\s?(${DURATION})\s?\]`, 'g')
/** The same without brackets. */
const BARE_CLOCKS = /(?<=\s)(\d{1,3}(?::\d\d){1,2})<(\d{1,3}(?::\d\d){1,2})(?=\s)/g
const HAS_CLOCKS = /\d\s?<\s?\d/
/** Of a date the first two parts, in any order: `05/11/24`, `2024/05/11`. */
const isDay = (first: number, second = Infinity): boolean => (first <= 31 || (first >= 1_900 && first < 2_100)) && second <= 31
/** `05/11/24`: a date. */
const DATE = /^\/\d{2,4}(?![\d,.]\d|\/)/
const TOTAL = new RegExp(
  `^ ?(?:it)? ?(?:/|of |out of |von |de |sur |di |van |из |[轮步] ?[/，,(（]? ?共 ?)\\s*(${NUMBER})([kKMGB](?=it\\b|[\\s/,|\\])\\[]|$))?`,
  'i',
)
const UNIT =
  /^ ?(?:\([^()]{0,24}\))? ?(?:(?:src|tgt|source|target|total|global|avg|real|new) (?=[a-z]{1,12}\/s))?(%|\/ ?s(?:ec)?\b|\/(?:step|iter)\b|(?![Tt]ime ?\/)[a-zA-Zµ]{1,12} ?\/ ?[a-zA-Z]{1,12}(?:\/[a-zA-Z]{1,8})?(?![a-zA-Z/_]|: ?[-+]?\d)|[a-zA-Z]{1,12} per [a-zA-Z]{1,10}|[\u0400-\u04ff]{1,12} ?\/ ?[\u0400-\u04ff]{1,8}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,6} ?\/ ?[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,3}|(?:ms|us|µs|msec|secs?|seconds?|s|mins?|minutes|m|hours?|hrs?|days|h|[KMGT]i?B|B|reqs?|[KM](?=\s{2,}|\s*$))(?![a-zA-Z_]| ?\/ ?[a-zA-Z]))(?! ?[=:](?![ :]))/
/** What must be before the word nan for it to be a figure: `number of nan iterations` is none. */
const SAID = /(?:[=:([{"'|,<]|\t|\b(?:loss|norm|cost|reward|ppl)) {0,8}$/i
/** A name behind its figure, which no figure of its own follows. */
const BEHIND =
  /^(?: (?=[轮步エス스에])(轮|步|エポック|ステップ|스텝|에폭)(?! ?[:=：]? ?\d)|((?:epoch|batch|iter|step|ep)(?:e?s)?|轮|步|エポック|ステップ|스텝|에폭)(?![a-zA-Z=])| ((?:[A-Z]\.){2,4} [A-Za-z]{3,12}|[a-zA-Z][a-zA-Z ]{2,22})(?=[,;|)]|\.?$))/
/** `@ 09:03 AM : 0.95 loss`, ` - root - INFO - 12 epoch`: no name of what comes behind. */
const NO_NAME = /^(?:[ap]m|debug|info|warn|warning)$/
/** `41/250 steps (16%)`: what a counter with a total counts. */
const COUNTED = /^ (?:\* )?(steps?|iters?|iterations?|batch(?:es)?|updates?|epochs?|rounds?)\b(?!\s*[=:/#]?\s*\d|\s*[[(]\s*\d+\s*\/|\s*\/)/i
/** `the 40624th step`. */
const ORDINAL = /^(?:st|nd|rd|th)(?![a-zA-Z])/
/** `about 34 minutes remain`: only a length of time is left, not a step. */
const LEFT = /^ (?:remain\w*|left|to go|übrig|restant\w*)\b(?!\s*[:=]?\s*\d)/i
/** Of a range whose figures are as wide as each other: `[  1-  10]`. */
const PADDED = /^- {1,8}$/
const IN_BRACKET = /\[ {0,8}$/
/** `288 to go`: of what is counted. */
const GOES = /to go/i
/** `Epoch: [12 | 300]`. */
const BARRED = /\b(epoch|iter|iteration|step)s?(\s?[:=]?\s?[[(]\s?\d{1,9})\s?\|\s?(?=\d{1,9}\s?[\])])/gi
const BAR = /[█▉▊▋▌▍▎▏━╸╺─░▒▓■□▰▱⣿⠿]+|#{4,}|={4,}>?|\.{5,}|-{6,}/g

/** `trainLoss`, `train/loss`, `train_loss` → `train loss`. */
export const wordsOf: (key: string) => string = memo((key) =>
  key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/(?<![a-z])time ?(?:\/ ?| x )(?=[a-z])/gi, 'time per ')
    .replace(/(?<![a-z])(step|iter|batch)(?=time(?![a-z]))/gi, '$1 ')
    .replace(/[^\p{L}0-9%#µ]+/gu, ' ')
    .replace(/^#(?=[a-z])|(?<=\p{L}) ?#$/giu, '')
    .trim()
    .toLowerCase(),
)

/** A bracket behind a name holds its unit, or says nothing: `Epoch(train)`. */
const UNIT_LIKE = /^(?:[mu]?s|µs|secs?|seconds|min|%|.{1,12}\/.{1,12}|.{2,12} per .{1,12})$/

const PARTS = /[,;|│┃{}"'\][•·]|\s{2,}|\) |>>|\t| - |: (?=\S)/
/** `[epoch] 12 done`: only the name is in brackets. */
const COUNTER = /^\s*\[(epoch|step|iter|iteration|batch|round|update)s?\]$/i
const PREPOSITION = /^\s*(?:for|at|in|after|on)\s/
/** `('average_q', 0.48)`: a pair of Python. */
const TUPLE = /\(\s?['"]([A-Za-z][\w/. -]{0,60})['"],\s?$/
/** `epoch, 42, loss, 0.06`. */
const COMMA_PAIR = /(?:^\s*|[,;|]\s?)(epoch|step|iter|iteration|batch|loss|train loss|lr|global[ _]step), ?$/i
/** `loss[cross_entropy]=0.31`. */
const PART_OF = /(?<![\w\]])([A-Za-z][\w-]{0,30})\[([A-Za-z][\w .-]{0,40})\]\s?[=:]\s?$/
/** spaCy's `Losses {'ner': 0.54}`. */
const IN_LOSSES = /\bloss(?:es)?\W{0,3}\{\s?['"]([\w-]{1,30})['"]\s?:\s?$/i
/** `Step 100: train loss |  7.34`: only a bar between a name and its figure. */
const BETWEEN = /(?<=[a-z]\s{0,12})[|│┃]\s*$/i
/** The name of a figure: the last piece of what is before it, with a unit in brackets kept apart. */
const nameOf = memo((gap): { readonly key: string; readonly unit?: string } => {
  const paired = (gap.includes('(') ? TUPLE.exec(gap) : null)?.[1] ?? (gap.includes(',') ? COMMA_PAIR.exec(gap) : null)?.[1]
  if (paired !== undefined) return { key: wordsOf(paired) }
  const [, whole, part] = (gap.includes(']') ? PART_OF.exec(gap) : null) ?? []
  if (whole !== undefined && part !== undefined) return { key: wordsOf(`${part} ${whole}`) }
  const ofLosses = (gap.includes('{') ? IN_LOSSES.exec(gap) : null)?.[1]
  if (ofLosses !== undefined) return { key: `${wordsOf(ofLosses)} loss` }
  const cut = gap.replace(/[\s:=[({"'`<>~@-]+$/, '')
  const bracket = /\(([^()]{1,24})\)$/.exec(cut)
  const counter = COUNTER.exec(cut)?.[1]
  if (counter !== undefined) return { key: counter.toLowerCase() }
  const text = bracket === null ? cut : cut.slice(0, bracket.index)
  const piece = text.split(PARTS).at(-1) ?? ''
  // `Average objective for 'output' for minibatches`: the quoted word is one of the name.
  const last = PREPOSITION.test(piece) ? (text.replace(/["']/g, '').split(PARTS).at(-1) ?? '') : piece
  const key = wordsOf(last.slice(-48)).replace(/ (?:is|are|was|were)$/, '')
  const unit = (bracket !== null && UNIT_LIKE.test(bracket[1] ?? '') ? bracket[1] : undefined) ?? / in (m?s|secs?|seconds)$/.exec(key)?.[1]
  return unit === undefined ? { key } : { key, unit }
})

/** `Verlust 0,4120`, `perte : 1,25`: a comma where others put the point, on a line that has no point in a figure. */
const COMMA_FIGURE = /(?<=[\p{L}][ :=]{1,3})0,\d{2,9}(?![\d,.])|(?<=[\p{L}][ :=]{1,3})\d{1,6},(?:\d{1,2}|\d{4,9})(?![\d,.])/u
const POINT_FIGURE = /\d\.\d/
const COMMAS = /(?<=[\s:=(])(\d{1,6}),(\d{1,9})(?=[\s;|)%]|,\s|$)/g
const pointed = (text: string): string => (text.includes(',') && !POINT_FIGURE.test(text) && COMMA_FIGURE.test(text) ? text.replace(COMMAS, '$1.$2') : text)

/** `cost=0.55..298.19`, `2018-10-31 15:17`: a range, a date. */
const NO_FIGURE = /^(?:\d{1,12}(?:\.\d{1,12})?\.\.\d[\d.]{0,20}|(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?)/

/** With so many places a word behind it was only glued to it: `0.2893642169passed: 17.7 sec`. */
const LONG_DECIMAL = /\.\d{5,}$/
/** `Step 300Loss 2.31`: the next name is only glued on. */
const GLUED_NAME = /^[A-Z][a-z]{2,14}\s?[:=]?\s?[-+]?\d/
/** `--rounds 3`: an option of a command, no figure. */
const OPTION = /(?:^|[\s'"])--[a-zA-Z][\w-]{0,60}[ =]$/

/** Without any of these there is no figure. */
const FIGURE = /\d|nan|inf/i

/** `[avg loss, loss]: [6.21, 6.17]`: the names in one bracket, their figures in the next. */
const LISTED = /\[([A-Za-z][^[\]\d]{2,120})\] ?[:=] ?[[(]([-+\d.e, naif]{3,120})[\])]/i
function unlisted(text: string): string {
  const [all, names = '', figures = ''] = (text.includes(']') ? LISTED.exec(text) : null) ?? []
  if (all === undefined) return text
  const values = figures.split(/,\s*/)
  const named = names.split(/,\s*/)
  return named.length === values.length ? text.replace(all, named.map((name, at) => `${name}: ${values[at] ?? ''}`).join(', ')) : text
}
/** `loss/perplexity = 4.41/82.46`: two names, two figures. */
const TWO_BY_TWO =
  /(?<![\w/])([A-Za-z_]{2,24}(?: [A-Za-z_]{2,24})?)\/([A-Za-z_]{2,24}) ?[:=] ?(-?\d{1,9}\.\d{1,12}|nan|inf) ?\/ ?(-?\d{1,9}\.\d{1,12}|nan|inf)(?![\w/.])/gi
/** Without it there are none of them: a cheap look at most lines. */
const TWO_SIGN = /\.\d{1,12} ?\/ ?-?\d{1,9}\.|(?:nan|inf) ?\/ ?[-\dni]/i
/** `Iteration 2 (20 requested)`. */
const REQUESTED = /\b(epoch|iteration|step|generation|cycle|round)( ?[:=]? ?)(\d{1,9}) \((\d{1,9}) (?:requested|planned|scheduled|to do)\)/i

/** DeepSpeed's timer: `0/50, SamplesPerSec=83.5`: the epoch and the step. */
const OF_TIMER = /(?<![\w/])(\d{1,6})\/(\d{1,12}), (?=(?:RunningAvg)?SamplesPerSec=)/

/** DeepFaceLab's: the iteration, how long it took, the losses of source and target. */
const IN_BRACKETS = /\[#(\d{1,9})\]\[(\d{1,9}(?:\.\d{1,5})?)(ms|s)\]\[(\d{1,6}\.\d{1,8})\]/

/** `loss 2.31 imgs/s 312`: what seems to be the unit of a result names the next figure. */
const RESULT = /(?:loss|acc|accuracy|lr|ppl|perplexity|norm|cost|nll|reward|psnr|auc|error)$/
const ENDS_NAME = /^ ?[:=] {0,3}[-+]?(?:\d|nan\b|inf\b)/
const COUNTS = /(?:^|[^a-z])(?:epochs?|ep|iters?|iterations?|it|steps?|batch|round|chunk|fold|rank|gpu|worker)_$/i
const NAMES_NEXT = /^\s?\d/
/** `82.46 secs/batch = 0.21`. */
const IS_NAME = /^ ?= ?[-+]?\d/

export function fieldsOf(printed: string): readonly Field[] {
  if (!FIGURE.test(printed)) return []
  const pairs = TWO_SIGN.test(printed) ? printed.replace(TWO_BY_TWO, '$1: $3, $2: $4') : printed
  const text = ofOneStep(
    pointed(unlisted(pairs.replace(REQUESTED, '$1$2$3/$4').replace(OF_TIMER, 'epoch $1, step $2, ').replace(IN_BRACKETS, 'iter $1, $2 $3/iter, loss $4, '))),
  )
  const timed = HAS_CLOCKS.test(text) ? text.replace(CLOCKS, ', elapsed $1, eta $2,').replace(BARE_CLOCKS, ', elapsed $1, eta $2,') : text
  const parted = LETTER_FIGURE.test(timed) ? timed.replace(GLUED, '$1 ') : timed
  const paired = parted.includes('/') ? parted.replace(PAIRED, '$2 $1/$3') : parted
  const line = (paired.includes('|') ? paired.replace(BARRED, '$1$2/') : paired).replace(BAR, ' | ')
  /** A row of a table drawn with bars, its name in a cell of its own. */
  const boxed = /^\s*[|│┃]/.test(text)
  const oneBar = line.includes('|') && line.indexOf('|') === line.lastIndexOf('|')
  const fields: Field[] = []
  let end = 0
  VALUE.lastIndex = 0
  for (let found = VALUE.exec(line); found !== null && fields.length < MAX_FIELDS; found = VALUE.exec(line)) {
    const [, time, figure, suffix = ''] = found
    // `1.45m` is a time; millions are written with a capital.
    const kilo = suffix === 'm' ? '' : suffix
    const all = found[0].slice(0, found[0].length - (suffix.length - kilo.length))
    const from = found.index
    const gap = line.slice(end, from)
    const duration = time === undefined ? undefined : durationOf(time)
    const value = duration ?? (figure === undefined ? undefined : numberOf(figure + kilo))
    if (value === undefined) continue
    let to = from + all.length
    if (gap.includes('--') && OPTION.test(gap)) {
      end = to
      continue
    }
    const next = line[to]
    const none = next === '.' || next === '-' || all.endsWith('.') ? NO_FIGURE.exec(line.slice(from, from + 48)) : null
    if (none !== null) {
      end = from + none[0].length
      VALUE.lastIndex = end
      continue
    }
    if (!Number.isFinite(value) && duration === undefined && !SAID.test(gap) && !/^\s*(?:$|[|,;)\]}])/.test(line.slice(to, to + 8))) continue
    const ordinal = figure === undefined || kilo !== '' ? null : ORDINAL.exec(line.slice(to, to + 4))
    to += ordinal?.[0].length ?? 0
    // A word that only begins with a figure: `3D`, `2x4090`, `0x7f`, `v1.5`.
    const rest = line.slice(to, to + 32)
    if (
      duration === undefined &&
      /^[a-zA-Z_]/.test(rest) &&
      !LONG_DECIMAL.test(all) &&
      !GLUED_NAME.test(rest) &&
      !BEHIND.test(rest) &&
      !UNIT.test(rest) &&
      !/^it\b/.test(rest)
    )
      continue
    // `loss_ce_0: 0.8`: the figure ends a name.
    if (duration === undefined && gap.endsWith('_') && ENDS_NAME.test(rest) && !COUNTS.test(gap)) continue
    const behind = fields.at(-1)
    if (behind !== undefined && behind.whole && value >= behind.value && (gap === '-' || (PADDED.test(gap) && IN_BRACKET.test(line.slice(0, behind.from))))) {
      // [40000-40020], [  1-  10]: where the range ends.
      const name = BEHIND.exec(line.slice(to, to + 32))
      to += name?.[0].length ?? 0
      fields[fields.length - 1] = {
        ...behind,
        value,
        span: value - behind.value + 1,
        to,
        ...(name === null ? {} : { key: wordsOf(name[1] ?? name[2] ?? name[3] ?? '') }),
      }
      end = to
      VALUE.lastIndex = to
      continue
    }
    const total = duration === undefined ? TOTAL.exec(line.slice(to, to + 40)) : null
    const of = total === null ? undefined : numberOf((total[1] ?? '') + (total[2] ?? ''))
    // `4/0` counts to nothing.
    const totalValue = of === 0 && value > 0 ? undefined : of
    const date = total === null || !isDay(value, of) ? null : DATE.exec(line.slice(to + total[0].length))
    if (total !== null && date !== null) {
      end = to + total[0].length + date[0].length
      VALUE.lastIndex = end
      continue
    }
    if (total !== null && totalValue !== undefined) to += total[0].length
    const barred = oneBar || (kilo === '' && (figure ?? '').includes('.'))
    const before = nameOf(boxed ? gap.replace(/[\s|│┃]+$/, '') : barred ? gap.replace(BETWEEN, '') : gap)
    const measured = UNIT.exec(line.slice(to, to + 60))
    const behindUnit = measured === null ? '' : line.slice(to + measured[0].length, to + measured[0].length + 4)
    const unit = behindUnit !== '' && (IS_NAME.test(behindUnit) || (NAMES_NEXT.test(behindUnit) && RESULT.test(before.key))) ? null : measured
    const named = before.unit
    let { key } = before
    if (unit !== null) to += unit[0].length
    // `3epoch:`, `2.38 avg loss,`, `12.4 hours left`: the name is behind.
    const name = BEHIND.exec(line.slice(to, to + 32))
    const counted = totalValue === undefined || unit !== null ? null : COUNTED.exec(line.slice(to, to + 32))
    const left = LEFT.exec(line.slice(to, to + 32))
    if (left !== null) {
      key = unit === null && duration === undefined && GOES.test(left[0]) ? 'steps remaining' : 'remaining'
      to += left[0].length
    } else if (counted !== null) {
      key = wordsOf(counted[1] ?? '')
      to += counted[0].length
    } else if (name !== null && (key === '' || NO_NAME.test(key) || ordinal !== null || name[1] !== undefined || name[2] !== undefined)) {
      key = wordsOf(name[1] ?? name[2] ?? name[3]?.replace(/\.(?=[A-Z ])/g, '') ?? '')
      to += name[0].length
    }
    const said = unit?.[1] ?? named
    // `10.2+0.5s`: the first is a time, too.
    if (behind !== undefined && gap === '+' && said !== undefined && behind.unit === undefined) fields[fields.length - 1] = { ...behind, unit: said }
    fields.push({
      key,
      value,
      // `k(   19) = …`: the index of an element.
      aside: (/\(\s*$/.test(gap) && (key === '' || /^\s{0,4}\)\s{0,4}=/.test(line.slice(to, to + 12)))) || /^(?:±|\+\/?-)\s?$/.test(gap),
      whole: /^\d[\d,]*$/.test(figure ?? '') || kilo !== '',
      from,
      to,
      ...(kilo === '' ? {} : { kilo: true as const }),
      ...(totalValue === undefined ? {} : { total: totalValue }),
      ...(said === undefined ? {} : { unit: said }),
      ...(duration === undefined ? {} : { duration }),
    })
    end = to
    VALUE.lastIndex = to
  }
  return fields
}
