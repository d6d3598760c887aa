// What Grafana makes of a dashboard's variables and queries, as far as ours use it: substitution, and what it then asks of the engine.
import * as z from 'zod'
import type { Variable } from '../unit/grafana/committed.ts'

/** Values of variables; a list is several choices, a text a regular expression that means all. */
export type Values = Readonly<Record<string, string | readonly string[]>>

/** Grafana escapes for a regular expression within a PromQL string, and joins several choices. */
const escaped = (value: string): string => value.replaceAll('\\', '\\\\\\\\').replace(/[$^*{}[\]'+?.()|]/g, '\\\\$&')
const matcherOf = (value: string | readonly string[]): string => (typeof value === 'string' ? value : `(${value.map(escaped).join('|')})`)

/** Grafana's own: $__rate_interval is four scrapes, here with room for a late one. */
const OWN: Values = { __rate_interval: '10s', __range: '5m' }
export function substituted(text: string, values: Values): string {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced: string | undefined, bare: string | undefined) => {
    const value = { ...OWN, ...values }[braced ?? bare ?? '']
    if (value === undefined) throw new Error(`expected a value for ${whole}, came none`)
    return matcherOf(value)
  })
}

async function ask(url: string, path: string, params: Readonly<Record<string, string>>): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(params) })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${params['query'] ?? path}: expected 200, came ${answer.status} ${text}`)
  return z.object({ status: z.literal('success'), data: z.unknown() }).parse(JSON.parse(text)).data
}

const sample = z.tuple([z.number(), z.string()])
const series = z.object({ metric: z.record(z.string(), z.string()), value: sample.optional(), values: z.array(sample).optional() })
export type Series = z.infer<typeof series>
/** NaN is no reading either: Grafana draws nothing. */
const tells = ({ value, values = [] }: Series): boolean => [...(value === undefined ? [] : [value]), ...values].some(([, text]) => text !== 'NaN')

/** What a panel, or an annotation, would show. */
export async function dataOf(url: string, expr: string, instant: boolean): Promise<readonly Series[]> {
  const now = Date.now() / 1000
  const data = instant
    ? await ask(url, '/api/v1/query', { query: expr, time: String(now) })
    : await ask(url, '/api/v1/query_range', { query: expr, start: String(now - 300), end: String(now), step: '2' })
  return z
    .object({ result: z.array(series) })
    .parse(data)
    .result.filter(tells)
}

/** The choices of a variable, by its query and regular expression. */
export async function choicesOf(url: string, variable: Variable, values: Values): Promise<readonly string[]> {
  if (typeof variable.query === 'string') return []
  const text = substituted(variable.query.query, values)
  const label = /^label_values\((.+), (\w+)\)$/.exec(text)
  const now = Date.now() / 1000
  if (label !== null) {
    // GET: VictoriaMetrics takes both, Prometheus has no POST here.
    const search = new URLSearchParams({ 'match[]': label[1] ?? '', start: String(now - 300), end: String(now) })
    const answer = await fetch(`${url}/api/v1/label/${label[2] ?? ''}/values?${search.toString()}`)
    if (answer.status !== 200) throw new Error(`${text}: expected 200, came ${answer.status} ${await answer.text()}`)
    return z.object({ data: z.array(z.string()) }).parse(await answer.json()).data
  }
  const query = /^query_result\((.+)\)$/.exec(text)?.[1]
  if (query === undefined) throw new Error(`expected label_values or query_result, came ${text}`)
  const [, pattern = ''] = /^\/(.+)\/$/.exec(variable.regex ?? '') ?? []
  // A series as Grafana writes it before it applies the regular expression: labels in the order in which they came.
  return (await dataOf(url, query, true)).flatMap(({ metric, value }) => {
    const written = `{${Object.entries(metric)
      .map(([name, text]) => `${name}="${text}"`)
      .join(',')}} ${value?.[1] ?? ''} ${(value?.[0] ?? 0) * 1000}`
    const found = new RegExp(pattern).exec(written)?.groups
    return found?.['text'] === undefined || found['value'] === undefined ? [] : [found['value']]
  })
}
