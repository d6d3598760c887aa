// Sizes out of the head of a server's log, where several workers and several loads stand one below the other.
import type { FigureSource, MemoryFigure } from './model.ts'

/** vLLM and SGLang write GB for what they divide by 2^30; llama.cpp writes MiB. */
const UNITS: Readonly<Record<string, number>> = { GiB: 2 ** 30, GB: 2 ** 30, MiB: 2 ** 20, MB: 2 ** 20, KiB: 2 ** 10, B: 1 }
export const bytesOf = (amount: string | undefined, unit: string | undefined): number | undefined => {
  const scale = UNITS[unit ?? '']
  const value = Number((amount ?? '').replaceAll(',', ''))
  return scale === undefined || amount === undefined || !Number.isFinite(value) ? undefined : value * scale
}

export const inLog = (bytes: number | undefined): MemoryFigure | undefined => {
  const source: FigureSource = 'log'
  return bytes === undefined ? undefined : { bytes: Math.round(bytes), source }
}

/** Adds over workers what each says last. */
export function sumOfLast(values: ReadonlyMap<string, number>): number | undefined {
  return values.size === 0 ? undefined : [...values.values()].reduce((sum, value) => sum + value, 0)
}

const MAX_CHARS = 2 ** 20
/** Longer lines hold settings, of which the first part tells what is asked for; patterns take time by the length of a line. */
const MAX_LINE_CHARS = 16 * 2 ** 10
/** One after the other: of a long log no list of its lines is made. */
export function* linesOf(text: string): Generator<string> {
  const last = Math.min(text.length, MAX_CHARS)
  for (let start = 0; start < last;) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 || newline > last ? last : newline
    yield text.slice(start, Math.min(end, start + MAX_LINE_CHARS))
    start = end + 1
  }
}
