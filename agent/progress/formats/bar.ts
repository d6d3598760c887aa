// Bars: tqdm in all its forms (nested, without total, Colab, kilo steps, NeMo's without a rate), tqdm_loggable, rich, pip.
import { DURATION, durationOf, numberOf, rateOf } from '../quantity.ts'
import type { Observation, Rate } from '../observation.ts'
import { doesOther, phaseOf } from '../phases.ts'
import { recordOf } from '../record.ts'
import { fieldsOf, wordsOf } from '../fields.ts'
import type { Format, Line, Read } from './format.ts'

const COUNT = String.raw`\d[\d,]{0,15}(?:\.\d{1,15})?[kKMGTP]?`
const UNIT = String.raw`[A-Za-z\u00B5][\w #-]{0,24}`
const RATE = String.raw`\??(?:${COUNT}(?:e[-+]?\d+)?)?\s?(?:${UNIT}|)/[A-Za-z\u00B5][\w-]{0,15}`
/** `N/TOTAL [ELAPSED<REMAINING, RATE, postfix]`; a cut or glued line may lack the bracket. */
const TQDM = new RegExp(String.raw`(${COUNT})(${UNIT})?/(${COUNT}|\?)(${UNIT})? \[(${DURATION}|\?)<(${DURATION}|\?|[^,\]]{0,20}),?\s*(?:(${RATE})|\?)?`)
/** `[33/110 00:21<00:50 0.55]`, `[31/60 02:11 < 02:06, 0.23 it/s, Epoch 0.5/1]`: all in one bracket, as notebooks draw it. */
const BRACKET = new RegExp(String.raw`\[\s?(${COUNT})/(${COUNT})\s+(${DURATION}|\?)\s?<\s?(${DURATION}|\?),?\s*(${RATE})?`)
/** What fastai puts behind the times: its loss. */
const LONE_FIGURE = /^\s*(\d{1,9}\.\d{1,9}|nan|inf)\s*$/
const OPEN = new RegExp(String.raw`(${COUNT})\s?(${UNIT}) \[(${DURATION}),\s*(${RATE})`)
const LOGGABLE = new RegExp(
  String.raw`(${COUNT})(${UNIT})?/(${COUNT})(${UNIT})?\s+rate:\s?(${RATE})\s+remaining:\s?(${DURATION}|\?)\s+elapsed:\s?(${DURATION}|\?)`,
)
const RICH = new RegExp(
  String.raw`[\u2501\u2578\u257A\u2500]{3}.{0,40}?(${COUNT})/(${COUNT}|\?|--)(?: ?([kKMGT]?i?B|bytes)\b)?\s+(?:(${DURATION}|-:--:--)\s*[\u2022\u00B7]?\s*(${DURATION}|-:--:--)?)?\s*[\u2022\u00B7]?\s*(${RATE})?`,
)
const LONG_BAR = /[━╸╺─]{4,}/g
/** Bytes, or what only installers print. */
const TRANSFER = /^(?:[kKMGT]?i?B|[kKMGT]?i?B\/s|bytes|b)$/i
const PERCENT_BAR = /\s*\d{1,3}(?:\.\d+)?\s?%\s*(?:\|.*)?$/

function rateText(text: string | undefined): Rate | undefined {
  if (text === undefined) return undefined
  const [, figure, left = '', right = ''] = new RegExp(String.raw`^(${COUNT}(?:e[-+]?\d+)?)?\s?([^/]*)/(.+)$`).exec(text.trim()) ?? []
  const value = figure === undefined ? undefined : numberOf(figure)
  if (value === undefined) return undefined
  // Bars count whatever the program names: `2.3 answers/s` is steps all the same.
  return rateOf(value, `${left}/${right}`) ?? generic(value, left.trim(), right.trim())
}
const generic = (value: number, left: string, right: string): Rate | undefined =>
  right === 's'
    ? { value, unit: 'it/s', of: 'step', secondsEach: value > 0 ? 1 / value : undefined }
    : left === 's'
      ? { value, unit: 's/it', of: 'step', secondsEach: value }
      : undefined

/** What is before the bar, without percent and bar itself. */
function titleOf(before: string): string {
  return before
    .replace(PERCENT_BAR, '')
    .replace(/[\s|:[(]+$/, '')
    .slice(-160)
}

type Parts = { title: string; step?: number; total?: number; unit?: string; elapsed?: number; remaining?: number; rate?: string; rest: string }

/** An opening bracket before a length of time. */
const TIME_BRACKET = / \[\d{1,5} ?[:dhm]/
function partsOf(text: string): Parts | undefined {
  // Cheap signs first: most lines are no bars.
  const bracketed = text.includes('[')
  const leftOpen = bracketed && text.includes('<')
  const found = leftOpen ? TQDM.exec(text) : null
  if (found !== null) {
    const [all, step = '', unit, total = '', unit2, elapsed = '', remaining = '', rate] = found
    return {
      title: titleOf(text.slice(0, found.index)),
      rest: text.slice(found.index + all.length),
      ...known({ step: numberOf(step), total: numberOf(total), unit: unit2 ?? unit, elapsed: durationOf(elapsed), remaining: durationOf(remaining), rate }),
    }
  }
  const loggable = text.includes('remaining:') ? LOGGABLE.exec(text) : null
  if (loggable !== null) {
    const [all, step = '', unit, total = '', , rate, remaining = '', elapsed = ''] = loggable
    return {
      title: titleOf(text.slice(0, loggable.index)),
      rest: text.slice(loggable.index + all.length),
      ...known({ step: numberOf(step), total: numberOf(total), unit, rate, remaining: durationOf(remaining), elapsed: durationOf(elapsed) }),
    }
  }
  const rich = text.includes('━━━') ? RICH.exec(text.replace(LONG_BAR, '━━━')) : null
  if (rich !== null) {
    const [all, step = '', total = '', unit, elapsed = '', remaining = '', rate] = rich
    return {
      title: titleOf(rich.input.slice(0, rich.index)),
      rest: rich.input.slice(rich.index + all.length),
      ...known({ step: numberOf(step), total: numberOf(total), unit, elapsed: durationOf(elapsed), remaining: durationOf(remaining), rate }),
    }
  }
  const bracket = leftOpen ? BRACKET.exec(text) : null
  if (bracket !== null) {
    const [all, step = '', total = '', elapsed = '', remaining = '', rate] = bracket
    return {
      title: titleOf(text.slice(0, bracket.index)),
      rest: text.slice(bracket.index + all.length),
      ...known({ step: numberOf(step), total: numberOf(total), elapsed: durationOf(elapsed), remaining: durationOf(remaining), rate }),
    }
  }
  const open = bracketed && TIME_BRACKET.test(text) ? OPEN.exec(text) : null
  if (open === null) return undefined
  const [all, step = '', unit, elapsed = '', rate] = open
  return {
    title: titleOf(text.slice(0, open.index)),
    rest: text.slice(open.index + all.length),
    ...known({ step: numberOf(step), unit, elapsed: durationOf(elapsed), rate }),
  }
}
type Known = {
  step?: number | undefined
  total?: number | undefined
  unit?: string | undefined
  elapsed?: number | undefined
  remaining?: number | undefined
  rate?: string | undefined
}
function known(parts: Known): Omit<Parts, 'title' | 'rest'> {
  const out: Omit<Parts, 'title' | 'rest'> = {}
  if (parts.step !== undefined) out.step = parts.step
  if (parts.total !== undefined) out.total = parts.total
  if (parts.unit !== undefined) out.unit = parts.unit
  if (parts.elapsed !== undefined) out.elapsed = parts.elapsed
  if (parts.remaining !== undefined) out.remaining = parts.remaining
  if (parts.rate !== undefined) out.rate = parts.rate
  return out
}

/** Where a bar begins that was written over this one, and the copy kept no line end: `…, gnorm=9.4, trai| epoch 001:   0%| | 2/10127 [`. */
const NEXT_BAR = /(?:[^|,\]\r\n]{0,40}\s)?\d{1,3}(?:\.\d+)?%\s?\|[^|]{0,200}\|\s{0,8}[\d.,kM]{1,16}\/[\d.,kM?]{1,16} \[/

/** The postfix ends with the bracket of the bar; what follows is glued on. */
function split(rest: string): { readonly postfix: string; readonly behind: string } {
  let depth = 1
  for (let at = 0; at < rest.length && at < 2_000; at++) {
    const char = rest[at]
    if (char === '[') depth++
    else if (char === ']') depth--
    else if (char === '{') return { postfix: rest.slice(0, at), behind: rest.slice(at) }
    if (depth === 0) return { postfix: rest.slice(0, at), behind: rest.slice(at + 1) }
  }
  const next = rest.includes('%') ? (NEXT_BAR.exec(rest)?.index ?? -1) : -1
  return next < 0 ? { postfix: rest, behind: '' } : { postfix: rest.slice(0, next), behind: rest.slice(next).replace(/^\|\s*/, '') }
}

/** YOLO until 2022: box, object and class losses, then the column of their sum. One of them that is none makes it none. */
function sumIn(title: string): number | undefined {
  const columns = title.trim().split(/\s+/).slice(2, 8)
  if (columns.slice(0, 3).some((column) => /^-?nan$/i.test(column))) return Number.NaN
  const figures = columns.map(Number)
  let sum = 0
  for (const [at, figure] of figures.entries()) {
    // They are printed with three or four figures.
    if (at >= 3 && sum > 0 && Math.abs(figure - sum) <= 0.004 * sum && !Number.isInteger(figure)) return figure
    sum += figure
  }
  return undefined
}

const TRAINED = /^\W*train(?:ing)?\s{1,12}(\d{1,6})\W*$/i
/** Names of a bar may count: `Epoch 39`, `loss 11.45`, `  149/299  2.3G  0.0266 …` (YOLO: epoch, memory, losses), `1|52|Loss: 2.37` (torchtune). */
function ofTitle(title: string): Partial<Observation> {
  const columns = /^\s*(\d{1,6})\/(\d{1,6})\s{2,}\S/.exec(title)
  if (columns !== null) {
    const loss = sumIn(title)
    return { epoch: Number(columns[1]), epochs: Number(columns[2]), metrics: 3, ...(loss === undefined ? {} : { loss }) }
  }
  const tune = /^\s*(\d{1,6})\|(\d{1,9})\|/.exec(title)
  const { epoch, epochs: named, loss, gradNorm, metrics } = recordOf(tune === null ? title : title.slice(tune[0].length))
  // `stage 2/50` before the bar of its steps.
  const [first] = fieldsOf(title)
  const stage = epoch === undefined && first?.total !== undefined && first.whole && first.unit === undefined && first.key !== '' ? first : undefined
  // `Train     3:` before a bar: the third epoch.
  const passes = epoch === undefined ? TRAINED.exec(title)?.[1] : undefined
  const epochIs = tune === null ? (stage?.value ?? epoch ?? (passes === undefined ? undefined : Number(passes))) : Number(tune[1])
  const epochs = stage?.total ?? named
  return {
    metrics: metrics ?? 0,
    ...(epochIs === undefined ? {} : { epoch: epochIs }),
    ...(epochs === undefined ? {} : { epochs }),
    ...(loss === undefined ? {} : { loss }),
    ...(gradNorm === undefined ? {} : { gradNorm }),
  }
}

const PASS = /(?<![\d.:/])(\d{1,6}) ?\/ ?(\d{1,6})\W{0,3}$/

/** So many a second, without a rate that says of what: bytes. */
const MANY = 1e5
const isTransfer = (parts: Parts): boolean =>
  (parts.rate === undefined && (parts.step ?? 0) > MANY * Math.max(1, parts.elapsed ?? Infinity)) ||
  TRANSFER.test((parts.unit ?? '').trim()) ||
  /(?:^|\s|\d)[kKMGT]?i?B\/s$/i.test(parts.rate ?? '') ||
  /\b(?:examples|Dicts|rows|records?|docs|documents|lines|urls|messages|files?)\/s$/i.test(parts.rate ?? '')

function read({ text, at }: Line): Read | undefined {
  const parts = partsOf(text)
  if (parts === undefined) return undefined
  const { postfix, behind } = split(parts.rest)
  const own = recordOf(postfix)
  const title = ofTitle(parts.title)
  const rate = rateText(parts.rate) ?? own.rate
  const words = wordsOf(parts.title.replace(/[\d.]+/g, ''))
    .replace(/\b(?:loss|nan|inf)\b/g, '')
    .trim()
  const phase = isTransfer(parts)
    ? parts.rate === undefined || /B\/s$/i.test(parts.rate) || TRANSFER.test((parts.unit ?? '').trim())
      ? 'downloading'
      : 'preparing'
    : (phaseOf(parts.title) ?? (doesOther(parts.title) ? 'preparing' : undefined))
  const lone = BRACKET.test(text) ? LONE_FIGURE.exec(postfix)?.[1] : undefined
  const loss = own.loss ?? title.loss ?? (lone === undefined ? undefined : numberOf(lone))
  const gradNorm = own.gradNorm ?? title.gradNorm
  // `[fold_3] 066/200:` before a bar with a loss.
  const [, pass, passes] = own.loss === undefined || title.epoch !== undefined ? [] : (PASS.exec(parts.title) ?? [])
  const epoch = title.epoch ?? own.epoch ?? (pass === undefined ? undefined : Number(pass))
  const epochs = title.epochs ?? own.epochs ?? (passes === undefined ? undefined : Number(passes))
  const observation: Observation = {
    shape: `bar ${words}${words === '' ? ` of ${parts.total ?? ''}` : ''}`,
    form: 'bar',
    title: parts.title,
    metrics: (own.metrics ?? 0) + (title.metrics ?? 0),
    ...(phase === undefined ? {} : { phase }),
    ...(parts.step === undefined ? {} : { step: parts.step }),
    ...(parts.total === undefined ? {} : { total: parts.total }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(epochs === undefined ? {} : { epochs }),
    ...(loss === undefined ? {} : { loss }),
    ...(gradNorm === undefined ? {} : { gradNorm }),
    ...(own.learningRate === undefined ? {} : { learningRate: own.learningRate }),
    ...(rate === undefined ? {} : { rate }),
    ...(own.samplesRate === undefined ? {} : { samplesRate: own.samplesRate }),
    ...(own.tokensRate === undefined ? {} : { tokensRate: own.tokensRate }),
    ...(parts.remaining === undefined ? {} : { etaSeconds: parts.remaining }),
    ...(parts.elapsed === undefined ? {} : { elapsedSeconds: parts.elapsed }),
    ...(at === undefined ? {} : { at }),
  }
  const worth = behind.trim().length > 8 && fieldsOf(behind).length > 0
  return { observation, ...(worth ? { rest: behind } : {}) }
}

export const bar: Format = { name: 'bar', create: () => read }
