// The committed dashboards, read as Grafana reads them, with what the tests look at.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

const FOLDER = join(import.meta.dirname, '../../../grafana/dashboards')

const ref = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') })
const link = z.object({ title: z.string().min(3), url: z.string().optional() })
const place = z.object({ x: z.int().min(0), y: z.int().min(0), w: z.int().min(1), h: z.int().min(1) })
const properties = z.array(z.object({ id: z.string(), value: z.unknown() }))
const row = z.object({ type: z.literal('row'), id: z.int(), title: z.string().min(1), gridPos: place, panels: z.array(z.never()) })
const chart = z.object({
  type: z.enum(['timeseries', 'stat', 'table', 'state-timeline']),
  id: z.int(),
  title: z.string().min(3),
  description: z.string().min(20),
  datasource: ref,
  gridPos: place,
  targets: z
    .array(
      z.object({ refId: z.string(), datasource: ref, expr: z.string().min(2), legendFormat: z.string().optional(), instant: z.boolean(), range: z.boolean() }),
    )
    .min(1),
  options: z.record(z.string(), z.unknown()),
  fieldConfig: z.object({
    defaults: z.looseObject({ unit: z.string().optional(), noValue: z.string().min(4), custom: z.record(z.string(), z.unknown()).optional() }),
    overrides: z.array(z.object({ matcher: z.object({ id: z.string(), options: z.string() }), properties })),
  }),
  transformations: z.array(z.object({ id: z.string(), options: z.record(z.string(), z.unknown()) })).optional(),
})
export type Chart = z.infer<typeof chart>
const variable = z.object({
  type: z.enum(['datasource', 'query']),
  name: z.string(),
  description: z.string().min(10),
  query: z.union([z.literal('prometheus'), z.object({ query: z.string(), refId: z.string() })]),
  regex: z.string().optional(),
  allValue: z.string().optional(),
  multi: z.boolean().optional(),
})
export type Variable = z.infer<typeof variable>
const board = z.object({
  uid: z.string().min(8).max(40),
  title: z.string(),
  tags: z.array(z.string()),
  panels: z.array(z.union([row, chart])),
  templating: z.object({ list: z.array(variable) }),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), datasource: ref, expr: z.string() })) }),
  links: z.array(link),
})
export type Committed = z.infer<typeof board> & { readonly file: string; readonly charts: readonly Chart[]; readonly json: Readonly<Record<string, unknown>> }

export const committed: readonly Committed[] = readdirSync(FOLDER).map((file) => {
  const json = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')))
  const read = board.parse(json)
  return { ...read, file, json, charts: read.panels.filter((panel): panel is Chart => panel.type !== 'row') }
})

/** Every link in a dashboard: those at its top, and those of fields. */
export const linksOf = ({ links, charts }: Committed): readonly { readonly title: string; readonly url?: string | undefined }[] => [
  ...links,
  ...charts.flatMap(({ fieldConfig }) =>
    fieldConfig.overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'links').flatMap(({ value }) => z.array(link).parse(value))),
  ),
]

/** `$name`, `${name}` and `${name:format}` in a text, by their names. */
export const variablesIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\$(?:\{(\w+)(?::\w+)?\}|(\w+))/g), (match) => match[1] ?? match[2] ?? '')
