// Perplexity of llama.cpp, chunk after chunk on one line that never ends: `[1]4.3765,[2]4.9302,[3]5.7950,`. How many there are and how long it takes is above.
import { durationOf } from '../quantity.ts'
import type { Observation } from '../observation.ts'
import type { Format, Line, Read } from './format.ts'

const TOTAL = /\bover (\d{1,7}) chunks\b/
const PASS = /(\d+(?:\.\d+)?) seconds per pass - ETA (.{1,40})$/
/** `4.08 hours`, `2 hours 50 minutes`. */
const PART = /(\d+(?:\.\d+)?) ?(hours?|minutes?|seconds?)/g
const SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 }
const CHUNKS = /^\s*(?:\[\d{1,7}\]-?(?:\d+(?:\.\d+)?|nan|inf),){2}/
const LAST = /\[(\d{1,7})\]-?(?:\d+(?:\.\d+)?|nan|inf),?[^[\]]{0,24}$/

function secondsIn(text: string): number | undefined {
  const parts = [...text.matchAll(PART)].map(([, figure, unit = '']) => Number(figure) * (SECONDS[unit.slice(0, 1)] ?? Number.NaN))
  return parts.length === 0 ? durationOf(text) : parts.reduce((sum, part) => sum + part, 0)
}

function createReader(): (line: Line) => Read | undefined {
  let total: number | undefined
  let each: number | undefined
  return ({ text, at }) => {
    const of = text.includes(' chunks') ? TOTAL.exec(text)?.[1] : undefined
    if (of !== undefined) total = Number(of)
    const [, seconds, left = ''] = (text.includes('per pass') ? PASS.exec(text) : null) ?? []
    if (seconds !== undefined) each = Number(seconds)
    const step = seconds === undefined && CHUNKS.test(text) ? LAST.exec(text)?.[1] : undefined
    if (seconds === undefined && step === undefined) return undefined
    const etaSeconds = seconds === undefined ? undefined : secondsIn(left)
    const observation: Observation = {
      shape: 'chunks',
      form: 'record',
      metrics: 1,
      sure: true,
      step: Number(step ?? 0),
      ...(total === undefined ? {} : { total }),
      ...(each === undefined ? {} : { rate: { value: each, unit: 's/it', of: 'step', secondsEach: each } }),
      ...(etaSeconds === undefined ? {} : { etaSeconds }),
      ...(at === undefined ? {} : { at }),
    }
    return { observation }
  }
}

export const chunks: Format = { name: 'chunks', create: createReader }
