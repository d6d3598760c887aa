// The query of /api/v1/series, checked: what is wrong is told with what was expected and what came.
import * as z from 'zod'
import type { HistoryQuery } from '../../store/history-view.ts'

export const DEFAULT_SPAN_MS = 15 * 60_000
export const DEFAULT_POINTS = 300
export const MAX_POINTS = 5_000

const whole = (expected: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `expected ${expected}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected ${expected}`)

const unixMs = whole('a time in Unix milliseconds', 0, Number.MAX_SAFE_INTEGER)

export const seriesQuery = z.object({
  metric: z
    .string('expected a metric, such as gpu_memory_used_bytes')
    .regex(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$/, 'expected a metric, such as gpu_memory_used_bytes'),
  uuid: z.string().min(1, 'expected the UUID of a GPU').optional(),
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
    if (search.getAll(name).length > 1) return { problem: `${name.slice(0, 50)}: expected once, came ${search.getAll(name).length} times` }
    if (!LABEL.test(name)) return { problem: `${name.slice(0, 50)}: expected metric, from, to, points or the name of a label` }
  }
  const parsed = seriesQuery.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      const name = String(path[0] ?? '')
      const came = given[name]
      return `${name}: ${message}, came ${came === undefined ? 'nothing' : JSON.stringify(came.slice(0, 100))}`
    })
    return { problem: problems.join('; ') }
  }
  const { metric, from, to, points } = parsed.data
  const end = to ?? Math.max(now, from ?? 0)
  const start = from ?? Math.max(0, end - DEFAULT_SPAN_MS)
  if (start > end) return { problem: `from: expected a time not after to (${end}), came ${start}` }
  const labels = Object.fromEntries(Object.entries(given).filter(([name]) => !OWN_NAMES.has(name)))
  return { query: { metric, labels, from: start, to: end, points: points ?? DEFAULT_POINTS } }
}
