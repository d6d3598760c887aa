// The quick way to read a scrape: the same series come again each second in the same order, so their text is compared with that of the
// previous scrape of the group instead of being parsed. Whatever does not fit goes the ordinary way, through JSON.parse.
import type { Reading } from '../../model/reading.ts'
import type { Series } from '../../model/series.ts'

type Fields = Readonly<Record<string, unknown>>
/** The fields of a scrape beside its readings, and the readings. */
export type QuickScrape = { readonly fields: Fields; readonly readings: readonly Reading[] }

export type QuickReader = {
  /** undefined: not readable this way, which says nothing about the line. */
  readonly read: (line: string) => QuickScrape | undefined
  /** Remembers the series of a scrape that went the ordinary way, for the next of its group. */
  readonly learn: (source: string, group: string, readings: readonly Reading[]) => void
}

const START = '{"type":"scrape",'
const READINGS = '"readings":['
/** JSON's numbers; what is not finite is refused below. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

function parseFields(text: string): Fields | undefined {
  try {
    const found: unknown = JSON.parse(text)
    return isFields(found) ? found : undefined
  } catch {
    return undefined // the ordinary way will say what is wrong with the line
  }
}

/** Groups beyond this are not remembered: a recording of that many sources is none of ours. */
const MAX_GROUPS = 10_000

export function createQuickReader(): QuickReader {
  const known = new Map<string, readonly { readonly text: string; readonly series: Series }[]>()

  return {
    learn(source, group, readings) {
      const key = `${source}\n${group}`
      if (known.size >= MAX_GROUPS && !known.has(key)) return
      const expected = readings.map(({ series }) => ({ text: `[${JSON.stringify(series.metric.name)},${JSON.stringify(series.labels)},`, series }))
      known.set(key, expected)
    },
    read(line) {
      const at = line.startsWith(START) ? line.indexOf(READINGS) : -1
      if (at < 0) return undefined
      // Closing the object here only gives JSON when these readings are the scrape's own.
      const head = parseFields(`${line.slice(0, at)}"readings":[]}`)
      if (head === undefined) return undefined
      const { source, group = '' } = head
      const expected = typeof source === 'string' && typeof group === 'string' ? known.get(`${source}\n${group}`) : undefined
      if (expected === undefined) return undefined

      const readings: Reading[] = []
      let from = at + READINGS.length
      while (line.charCodeAt(from) !== 0x5d /* ] */) {
        const next = expected[readings.length]
        if (next === undefined || !line.startsWith(next.text, from)) return undefined
        const start = from + next.text.length
        const end = line.indexOf(']', start)
        const text = line.slice(start, end)
        const value = Number(text)
        if (end < 0 || !NUMBER.test(text) || !Number.isFinite(value)) return undefined
        readings.push({ series: next.series, value })
        from = end + 1
        if (line.charCodeAt(from) === 0x2c /* , */) {
          from += 1
          if (line.charCodeAt(from) === 0x5d) return undefined
        } else if (line.charCodeAt(from) !== 0x5d) return undefined
      }
      const rest = line.slice(from + 1)
      if (rest === '}' || rest === ',"gaps":[]}') return { fields: head, readings }
      const tail = rest.startsWith(',') ? parseFields(`{${rest.slice(1)}`) : undefined
      if (tail === undefined || 'readings' in tail) return undefined
      return { fields: { ...head, ...tail }, readings }
    },
  }
}
