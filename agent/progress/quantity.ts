// Figures as trainers print them: counts with commas or kilo, durations in all forms, rates with their unit.
import type { Rate, RateOf } from './observation.ts'
import { lookup } from '../text/lookup.ts'

/** A number, `nan` or `inf`; `17.8k`, `30K`, `1.49G` as counts. */
export const NUMBER = String.raw`[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d{1,3})?|\.\d+(?:[eE][-+]?\d{1,3})?|(?:nan|inf(?:inity)?)(?![a-z]))`
const DAYS = String.raw`\d{1,4} ?d(?:ays?)?`
const HOURS = String.raw`\d{1,5} ?h(?:(?:ou)?rs?)?`
const MINUTES = String.raw`\d{1,5}(?:\.\d{1,3}(?= ?m(?:in|\b)))? ?m(?:in(?:ute)?s?)?`
const SECS = String.raw`\d{1,5}(?:\.\d{1,6})? ?s(?:ec(?:ond)?s?)?`
const AND = String.raw`(?:,? and |,? ?)`
/** `mm:ss`, `h:mm:ss`, `2 days, 19:52:04`, `1d 09h 51m`, `22h23m24s`, `9 m, 14 s`, `39 s, 300.6 ms`, `1 hour and 2 minutes`. */
export const DURATION = String.raw`(?:\d{1,4} days?,? ?)?\d{1,5}:\d\d(?::\d\d)?(?:\.\d+)?|(?:${DAYS}${AND})?${HOURS}${AND}${MINUTES}(?:${AND}${SECS})?(?![a-zA-Z])|${DAYS}${AND}${HOURS}(?![a-zA-Z])|${MINUTES}${AND}${SECS}(?![a-zA-Z])|${SECS}, ?\d{1,3}(?:\.\d{1,6})? ?ms(?![a-zA-Z])`

const SCALE: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, b: 1e9 }

export function numberOf(text: string): number | undefined {
  const plain = text.trim().replaceAll(',', '').toLowerCase()
  if (/^[-+]?nan$/.test(plain)) return Number.NaN
  if (/^[-+]?inf(?:inity)?$/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity
  const [, figure, suffix] = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([kmgb])?$/.exec(plain) ?? []
  if (figure === undefined) return undefined
  const value = Number(figure) * (suffix === undefined ? 1 : (SCALE[suffix] ?? 1))
  return suffix === undefined ? value : Math.round(value)
}

export function durationOf(text: string): number | undefined {
  const clean = text.trim()
  const [, days, clock] = /^(?:(\d+) days?,? ?)?([\d:.]+)$/.exec(clean) ?? []
  if (clock?.includes(':') === true) {
    const parts = clock.split(':').map(Number)
    if (parts.some((part) => !Number.isFinite(part))) return undefined
    return Number(days ?? 0) * 86_400 + parts.reduce((sum, part) => sum * 60 + part, 0)
  }
  const [, millis] = /s, ?(\d{1,3}(?:\.\d{1,6})?) ?ms$/.exec(clean) ?? []
  if (millis !== undefined) return (durationOf(clean.slice(0, clean.lastIndexOf(','))) ?? 0) + Number(millis) / 1_000
  const plain = clean
    .toLowerCase()
    .replace(/\band\b|[,\s]+/g, '')
    .replace(/([dhms])[a-z]+/g, '$1')
  const [all, d, h, m, s] = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(plain) ?? []
  if (all === undefined || all === '') return undefined
  return Number(d ?? 0) * 86_400 + Number(h ?? 0) * 3_600 + Number(m ?? 0) * 60 + Number(s ?? 0)
}

const SECONDS: Readonly<Record<string, number>> = {
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  msec: 1e-3,
  msecs: 1e-3,
  millis: 1e-3,
  milliseconds: 1e-3,
  s: 1,
  sec: 1,
  secs: 1,
  second: 1,
  seconds: 1,
  min: 60,
  m: 60,
  minute: 60,
  h: 3_600,
  hr: 3_600,
  hrs: 3_600,
  hour: 3_600,
  hours: 3_600,
  mins: 60,
  minutes: 60,
  days: 86_400,
  秒: 1,
  초: 1,
  с: 1,
  сек: 1,
  分: 60,
  分钟: 60,
  小时: 3_600,
}
export const secondsOf = (unit: string): number | undefined => lookup(SECONDS, unit.toLowerCase())

const STEP =
  /^(?:it|its|itr|iter|iteration|step|stp|global step|batch|batche|minibatch|update|tick|round|gradient step|train step|optimizer step|步|迭代|ステップ|스텝)s?$/
const SAMPLE =
  /^(?:sample|smp|image|img|im|example|ex|ins|instance|record|row|seq|sequence|sentence|sent|frame|f|env step|clip|video|utt|utterance|graph|game|episode|样本|图像|枚)s?$/
const TOKEN = /^(?:tok|token|word|w|t)s?$/
function thingOf(text: string): RateOf | undefined {
  const word = text.toLowerCase().replaceAll('_', ' ').trim()
  return STEP.test(word) ? 'step' : SAMPLE.test(word) ? 'sample' : TOKEN.test(word) ? 'token' : undefined
}
const DEVICE = /^(?:device|gpu|chip|rank|node|card|npu|tpu)s?$/i
const NAME: Readonly<Record<RateOf, string>> = { step: 'it', sample: 'samples', token: 'tokens' }

/** A figure beside a unit such as `it/s`, `ms/step`, `sec/iter`, `tokens per second`, `Tokens/s/device`. */
export function rateOf(value: number, unit: string): Rate | undefined {
  const parts = unit
    .replace(/\s+per\s+|_per_/gi, '/')
    .split('/')
    .map((part) => part.trim().replace(/^_+|_+$/g, ''))
  const [left, right] = [parts[0] ?? '', (DEVICE.test(parts[1] ?? '') ? parts[2] : parts[1]) ?? '']
  const done = thingOf(left)
  const over = secondsOf(right)
  if (done !== undefined && over !== undefined) {
    const secondsEach = value > 0 ? over / value : undefined
    return over === 1 ? { value, unit: `${NAME[done]}/s`, of: done, secondsEach } : { value: value / over, unit: `${NAME[done]}/s`, of: done, secondsEach }
  }
  const took = secondsOf(left)
  const each = right === 'b' ? 'step' : thingOf(right.replace(/^(\d+) ?/, ''))
  if (took === undefined || each === undefined) return undefined
  const short = took === 1 ? 's' : took === 1e-3 ? 'ms' : took === 1e-6 ? 'us' : undefined
  const one = each === 'step' ? 'it' : each
  return short === undefined
    ? { value: value * took, unit: `s/${one}`, of: each, secondsEach: value * took }
    : { value, unit: `${short}/${one}`, of: each, secondsEach: value * took }
}
