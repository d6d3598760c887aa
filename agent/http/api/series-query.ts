// The query of /api/v1/series, checked: an error says what was expected and what was given.
import * as z from 'zod'
import type { HistoryQuery } from '../../store/history-view.ts'

export const DEFAULT_SPAN_MS = 15 * 60_000
export const DEFAULT_POINTS = 300
export const MAX_POINTS = 5_000

const whole = (expected: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be ${expected}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${expected}`)

const unixMs = whole('a time in Unix milliseconds', 0, Number.MAX_SAFE_INTEGER)

export const seriesQuery = z.object({
  metric: z
    .string('must be a metric such as gpu_memory_used_bytes')
    .regex(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$/, 'must be a metric such as gpu_memory_used_bytes'),
  uuid: z.string().min(1, 'must be the UUID of a GPU').optional(),
  from: unixMs.optional(),
  to: unixMs.optional(),
  points: whole(`a whole number from 1 to ${MAX_POINTS}`, 1, MAX_POINTS).optional(),
})

const OWN_NAMES: ReadonlySet<string> = new Set(['metric', 'from', 'to', 'points'])
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]{0,99}$/

export type ParsedQuery = { readonly query: HistoryQuery } | { readonly problem: string }

/** Names other than metric, from, to and points filter by the label of that name. */
export function parseSeriesQuery(search: URLSearchParams, now: number): ParsedQuery {
  const given: Record<string, string> = Object.fromEntries(search)
  for (const name of search.keys()) {
    if (search.getAll(name).length > 1) return { problem: `${name.slice(0, 50)}: is given ${search.getAll(name).length} times: give it once` }
    if (!LABEL.test(name)) return { problem: `${name.slice(0, 50)}: unknown parameter; there are metric, from, to, points, and names of labels` }
  }
  const parsed = seriesQuery.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      const name = String(path[0] ?? '')
      const came = given[name]
      return `${name}: ${message}, not ${came === undefined ? 'nothing' : JSON.stringify(came.slice(0, 100))}`
    })
    return { problem: problems.join('; ') }
  }
  const { metric, from, to, points } = parsed.data
  const end = to ?? Math.max(now, from ?? 0)
  const start = from ?? Math.max(0, end - DEFAULT_SPAN_MS)
  if (start > end) return { problem: `from: ${start} is after to (${end}): exchange them` }
  const labels = Object.fromEntries(Object.entries(given).filter(([name]) => !OWN_NAMES.has(name)))
  return { query: { metric, labels, from: start, to: end, points: points ?? DEFAULT_POINTS } }
}
