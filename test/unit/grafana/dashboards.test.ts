// Grafana's dashboards as they are committed: valid by Grafana's own schemas, and sound where a schema cannot tell.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as units from '@grafana/grafana-foundation-sdk/units'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { catalogue } from '../../../agent/catalogue.ts'
import { RULES } from '../../../scripts/generators/rules.ts'
import { committed, linksOf, variablesIn } from './committed.ts'

/** The schemas write "anything" as an open object, where Grafana itself has texts and numbers too. */
const anything = (_: string, value: unknown): unknown => (JSON.stringify(value) === '{"type":"object","additionalProperties":{}}' ? true : value)
const schema = z.custom<Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>>((value) => typeof value === 'object' && value !== null)
function schemaOf(name: string, definition?: string): z.ZodType {
  const text = readFileSync(join(import.meta.dirname, 'schemas', `${name}.json`), 'utf8')
  const whole = schema.parse(JSON.parse(text, anything))
  return z.fromJSONSchema(definition === undefined ? whole : { ...whole, $ref: `#/definitions/${definition}` })
}
const whole = schemaOf('dashboard')
const query = schemaOf('prometheus')
const panelSchemas = {
  timeseries: { options: schemaOf('timeseries', 'Options'), custom: schemaOf('timeseries', 'FieldConfig') },
  table: { options: schemaOf('table', 'Options'), custom: schemaOf('table', 'FieldConfig') },
  'state-timeline': { options: schemaOf('statetimeline', 'Options'), custom: schemaOf('statetimeline', 'FieldConfig') },
  // A figure has no field options of its own.
  stat: { options: schemaOf('stat', 'Options'), custom: z.undefined() },
}
const BUILT_IN = ['__rate_interval', '__range', '__url_time_range', '__data', '__field', '__all']

test('the schemas refuse what Grafana does not know', () => {
  const [first] = committed
  expect(whole.safeParse({ ...first?.json, titel: 'x' }).success).toBe(false)
  expect(panelSchemas.timeseries.custom.safeParse({ spanNull: true }).success).toBe(false)
  expect(query.safeParse({ refId: 'A', expresion: 'up' }).success).toBe(false)
})

describe.each(committed)('$file', (board) => {
  const { charts, json, panels, templating, file } = board

  test('is valid by the schema of dashboards, and each panel and query by its own', () => {
    expect(whole.safeParse(json).error?.issues).toBeUndefined()
    for (const { type, title, options, fieldConfig, targets } of charts) {
      expect(panelSchemas[type].options.safeParse(options).error?.issues, `in ${title}`).toBeUndefined()
      expect(panelSchemas[type].custom.safeParse(fieldConfig.defaults.custom).error?.issues, `in ${title}`).toBeUndefined()
      for (const target of targets) expect(query.safeParse(target).error?.issues, `in ${title}`).toBeUndefined()
    }
  })

  test('is called as its file is', () => expect(board.uid).toBe(`warpwatch-${file.replace('.json', '')}`))

  test('has panels with numbers of their own that cover the grid without overlap and without holes', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Map<string, number>()
    for (const { id, gridPos } of panels)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1)
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          const cell = `${x},${y}`
          expect(x, `panel ${id}`).toBeLessThan(24)
          expect(taken.get(cell), `panels ${id} and ${taken.get(cell)} at ${cell}`).toBeUndefined()
          taken.set(cell, id)
        }
    const bottom = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h))
    expect(taken.size).toBe(24 * bottom)
  })

  test('has titles that are told apart', () => {
    const titles = charts.map(({ title }) => title)
    expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([])
  })

  test('uses units that Grafana knows', () => {
    const known = new Set<unknown>(Object.values(units))
    const used = charts.flatMap(({ fieldConfig: { defaults, overrides } }) => [
      defaults.unit,
      ...overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'unit').map(({ value }) => value)),
    ])
    expect(used.filter((unit) => unit !== undefined && !known.has(unit))).toEqual([])
  })

  test('draws no line over a gap', () => {
    const drawn = charts.filter(({ type }) => type === 'timeseries' || type === 'state-timeline')
    expect(drawn.filter(({ fieldConfig }) => fieldConfig.defaults.custom?.['spanNulls'] !== false).map(({ title }) => title)).toEqual([])
  })

  test('names only variables that it has, and each of them is used', () => {
    const has = templating.list.map(({ name }) => name)
    const named = variablesIn(JSON.stringify(json))
    expect([...new Set(named)].filter((name) => !has.includes(name) && !BUILT_IN.includes(name))).toEqual([])
    const asked = variablesIn(JSON.stringify(charts.map(({ targets }) => targets)))
    expect(has.filter((name) => !asked.includes(name))).toEqual([])
  })

  test('leads only to dashboards that exist, with variables that they have', () => {
    const byUid = new Map(committed.map(({ uid, templating }) => [uid, templating.list.map(({ name }) => name)]))
    for (const { url } of linksOf(board)) {
      if (url === undefined || !url.startsWith('/')) continue
      const [path = '', search = ''] = url.split('?')
      const variables = byUid.get(path.replace('/d/', ''))
      expect(variables, `behind ${url}`).toBeDefined()
      const given = Array.from(search.matchAll(/var-(\w+)=|\$\{(\w+):queryparam\}/g), (match) => match[1] ?? match[2] ?? '')
      expect(given.filter((name) => !variables?.includes(name))).toEqual([])
    }
  })

  test('refers in overrides to queries and columns that exist', () => {
    const wrong = charts.flatMap(({ title, targets, fieldConfig, transformations = [] }) => {
      const columns = transformations.flatMap(({ options }) => Object.values(z.record(z.string(), z.string()).parse(options['renameByName'] ?? {})))
      return fieldConfig.overrides
        .map(({ matcher }) => matcher)
        .filter(({ id, options }) => (id === 'byName' ? columns.length > 0 && !columns.includes(options) : !targets.some(({ refId }) => refId === options)))
        .map(({ options }) => `${title}: ${options}`)
    })
    expect(wrong).toEqual([])
  })

  test('asks for metrics that the agent declares, and for records of the rules', () => {
    const declared = new Set(catalogue.map(({ name }) => name))
    const rules = z
      .object({ groups: z.array(z.object({ rules: z.array(z.object({ record: z.string().optional() })) })) })
      .parse(parse(readFileSync(RULES, 'utf8')))
    const records = new Set(rules.groups.flatMap((group) => group.rules.map(({ record }) => record)))
    const texts = [
      ...charts.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query)),
    ]
    const named = texts.flatMap((text) => text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/\b(?:\w+:)?(?:warpwatch|process)_\w+(?::\w+)?/g) ?? [])
    expect(named.length).toBeGreaterThan(5)
    expect([...new Set(named)].filter((name) => !declared.has(name) && !records.has(name))).toEqual([])
  })
})

test('no panel takes a rainbow of colours', () => {
  expect(committed.filter(({ json }) => JSON.stringify(json).includes('palette-')).map(({ file }) => file)).toEqual([])
})

test('provisioning loads them from a folder, and gives a data source of the type that they ask for', () => {
  const read = (path: string): unknown => parse(readFileSync(join(import.meta.dirname, '../../../grafana/provisioning', path), 'utf8'))
  const source = z.object({ name: z.string(), uid: z.string(), type: z.literal('prometheus'), access: z.literal('proxy'), url: z.url() }).loose()
  expect(() => z.object({ apiVersion: z.literal(1), datasources: z.array(source).length(2) }).parse(read('datasources/warpwatch.yml'))).not.toThrow()
  const provider = z.object({ name: z.string(), type: z.literal('file'), options: z.object({ path: z.string().startsWith('/') }) }).loose()
  expect(() => z.object({ apiVersion: z.literal(1), providers: z.array(provider).length(1) }).parse(read('dashboards/warpwatch.yml'))).not.toThrow()
})
