// A metric's identity is its declaration: its name stands quoted in agent/metrics and in tests, nowhere else.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'
import { catalogue, metricNamed } from '../../agent/catalogue.ts'
import * as collectors from '../../agent/collectors/index.ts'
import * as metrics from '../../agent/metrics/index.ts'
import * as sources from '../../agent/sources/index.ts'

const root = join(import.meta.dirname, '../..')
const PLACES = ['agent', 'alerts', 'bench', 'dashboard/src', 'deploy', 'grafana', 'scripts']
/** Made by npm run generate. */
const GENERATED = /^\/\/ Generated from /
/** A word that can be a metric; what has a colon beside it is a recording rule of Prometheus (`instance:warpwatch_gpus:count`). */
const WORD = /(?<![\w:])(?:warpwatch|process)_[a-z0-9_]+(?![\w:])/g
/** A name put together from a prefix, so that nobody can look for it: `warpwatch_gpu_${field}`. */
const PIECE = /(?<![\w:])warpwatch_(?:[a-z0-9]+_)*$/

/**
 * Who may: the API takes names with and without the prefix, benches make metrics of their own, and the page has fields of the API (`power_watts`) that it asks
 * the past of.
 */
const MAY = /^(agent\/http\/api\/routes\.ts|bench\/|dashboard\/)/

type Text = { readonly text: string; readonly line: number; readonly goesOn: boolean }

/** All string literals and parts of templates of a source; `goesOn`: an expression follows. */
function textsOf(code: string, jsx: boolean): readonly Text[] {
  const found: Text[] = []
  const add = (text: string, start: number, goesOn: boolean): void => void found.push({ text, line: code.slice(0, start).split('\n').length, goesOn })
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(visit)
    const [type, start, value]: unknown[] = ['type', 'start', 'value'].map((key) => Reflect.get(node, key))
    if (type === 'ImportDeclaration') return
    if (typeof start === 'number') {
      if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') add(value, start, false)
      if (type === 'TemplateElement' && typeof value === 'object' && value !== null)
        add(String(Reflect.get(value, 'raw')), start, Reflect.get(node, 'tail') === false)
    }
    Object.values(node).forEach(visit)
  }
  visit(parseAst(code, { lang: jsx ? 'tsx' : 'ts' }))
  return found
}

const files = PLACES.flatMap((place) =>
  readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .map((name) => `${place}/${name}`),
).filter((file) => !file.startsWith('agent/metrics/') && !file.includes('/dist/'))

/** What a source does wrong, one line each. Comments may name a metric. */
function faultsOf(file: string, code: string): readonly string[] {
  // Few files hold any such word at all, and parsing is what costs time.
  if (GENERATED.test(code) || !/(?:warpwatch|process)_/.test(code)) return []
  const faults: string[] = []
  for (const { text, line, goesOn } of textsOf(code, file.endsWith('x'))) {
    for (const [word] of text.matchAll(WORD)) if (metricNamed(word) !== undefined) faults.push(`${file}:${line} quotes ${word}: import it from agent/metrics`)
    if (goesOn && PIECE.test(text) && !MAY.test(file))
      faults.push(`${file}:${line} puts a metric's name together from "${PIECE.exec(text)?.[0]}": import the declarations`)
  }
  return faults
}

test.each([
  ["const used = 'warpwatch_gpu_power_watts'", 1],
  ['const rule = `sum(warpwatch_gpu_power_watts{${CARD}}) > ${process_open_fds}`', 1],
  ["of('process_open_fds', 'warpwatch_incident_active == 1 and warpwatch_gpu_info')", 3],
  ['of(`warpwatch_gpu_${field}`)', 1],
  ["// warpwatch_gpu_power_watts\nconst rule = 'instance:warpwatch_gpu_power_watts:sum' + gpuPowerWatts.name", 0],
])('%s has %i names quoted', (code, count) => expect(faultsOf('agent/example.ts', code)).toHaveLength(count))

test('no metric is named by quoting: its declaration is imported', () => {
  expect(files.flatMap((file) => faultsOf(file, readFileSync(join(root, file), 'utf8')))).toEqual([])
  expect(files.length, 'the walk must really find the sources').toBeGreaterThan(800)
})

test('a declaration is exported by its name without warpwatch_', () => {
  const wrong = Object.entries(metrics).filter(
    ([key, { name }]) => key !== name.replace(/^warpwatch_/, '').replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  )
  expect(wrong.map(([key, { name }]) => `${name} is exported as ${key}`)).toEqual([])
})

test('each file of declarations has its line in the registry', () => {
  const registry = readFileSync(join(root, 'agent/metrics/index.ts'), 'utf8')
  const declaring = readdirSync(join(root, 'agent/metrics')).filter((file) =>
    readFileSync(join(root, 'agent/metrics', file), 'utf8').includes(' = defineMetric('),
  )
  expect(declaring.filter((file) => !registry.includes(`export * from './${file}'`))).toEqual([])
  expect(new Set(catalogue.map(({ name }) => name)).size, 'two declarations have one name').toBe(catalogue.length)
})

test('each declared metric is emitted by a collector or a source, and the other way round', () => {
  const emitted = new Set([...Object.values(collectors), ...Object.values(sources)].flatMap((entry) => entry.metrics))
  expect(catalogue.filter((def) => !emitted.has(def)).map(({ name }) => name)).toEqual([])
  const declared = new Set(catalogue)
  expect([...emitted].filter((def) => !declared.has(def)).map(({ name }) => name)).toEqual([])
})

test('a field of the API is that of one metric', () => {
  const places = catalogue.flatMap(({ subject, field }) => (field === undefined ? [] : [`${subject} ${field}`]))
  expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([])
})
