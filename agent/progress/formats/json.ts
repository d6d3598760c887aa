// One JSON object a line: fairseq's and many loggers' own, MLPerf's `:::MLLOG {"key": "loss", "value": …, "metadata": {"step_num": …}}`.
import { wordsOf, type Field } from '../fields.ts'
import { durationOf, numberOf } from '../quantity.ts'
import type { Observation } from '../observation.ts'
import { figuresOf } from '../record.ts'
import type { Format, Line, Read } from './format.ts'

const MAX_KEYS = 96

/** `"iter": "120/1870"`. */
const OF_TOTAL = /^(\d{1,12}) ?\/ ?(\d{1,12})$/

function flatten(value: unknown, key: string, depth: number, out: Field[]): void {
  if (out.length >= MAX_KEYS) return
  const figure = typeof value === 'number' ? value : typeof value === 'string' && value.length < 32 ? numberOf(value) : undefined
  const duration = figure === undefined && typeof value === 'string' && /^\d/.test(value) && value.length < 32 ? durationOf(value) : undefined
  const pair = typeof value === 'string' && value.length < 32 ? OF_TOTAL.exec(value) : null
  if (pair !== null) out.push({ key: wordsOf(key), value: Number(pair[1]), total: Number(pair[2]), aside: false, whole: true, from: 0, to: 0 })
  else if (duration !== undefined) out.push({ key: wordsOf(key), value: duration, duration, aside: false, whole: false, from: 0, to: 0 })
  else if (figure !== undefined) {
    const whole = Number.isInteger(figure) && !(typeof value === 'string' && /[.e]/.test(value))
    out.push({ key: wordsOf(key), value: figure, aside: false, whole, from: 0, to: 0 })
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 3)
    for (const [name, inner] of Object.entries(value)) flatten(inner, name, depth + 1, out)
}

/** `{"name": "loss", "data": {"step": 3, "value": 4.29}}`, `{"tag": "train/loss", "step": 3, "value": 4.29}`: the value has its name beside it. */
function nameValue(value: object, fields: Field[]): void {
  const name = ['name', 'tag', 'metric']
    .map((key) => Object.entries(value).find(([other]) => other === key)?.[1] as unknown)
    .find((each) => typeof each === 'string')
  const at = fields.findIndex(({ key }) => key === 'value')
  const field = fields[at]
  if (typeof name === 'string' && field !== undefined) fields[at] = { ...field, key: wordsOf(name) }
}

/** `NaN` and `Infinity`, which Python writes and JSON does not know. */
const legal = (text: string): string => text.replace(/(?<=[:[,]\s?)(-?(?:NaN|Infinity))(?=\s?[,}\]])/g, '"$1"')

function read({ text, at }: Line): Read | undefined {
  const from = text.indexOf('{"')
  const to = text.lastIndexOf('}')
  if (from < 0 || to < from) return undefined
  let value: unknown
  try {
    value = JSON.parse(legal(text.slice(from, to + 1)))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const fields: Field[] = []
  if ('key' in value && 'value' in value && typeof value.key === 'string') {
    flatten(value.value, value.key, 0, fields)
    if ('metadata' in value) flatten(value.metadata, 'metadata', 0, fields)
  } else {
    flatten(value, '', 0, fields)
    nameValue(value, fields)
  }
  const figures = figuresOf(fields)
  if (figures.step === undefined && figures.loss === undefined && figures.rate === undefined) return undefined
  const time = 'time_ms' in value && typeof value.time_ms === 'number' ? value.time_ms / 1_000 : undefined
  const stamp = time ?? at
  const observation: Observation = {
    ...figures,
    metrics: figures.metrics ?? 0,
    shape: `json ${'key' in value && typeof value.key === 'string' ? value.key : Object.keys(value).slice(0, 4).join(' ')}`,
    form: 'record',
    ...(stamp === undefined ? {} : { at: stamp }),
  }
  return { observation }
}

export const json: Format = { name: 'json', create: () => read }
