// The shape of the dashboard: a feature is one folder and one line of the registry, shared parts know no feature, and nothing goes in a circle.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../dashboard/src')
/** Beside the features: what a feature is, and the list of them. */
const REGISTRY = ['features/index.ts', 'features/feature.ts']
/** Who may import whom, by the first folder of the path; `features` means the feature itself, of which none imports another. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'main.tsx': ['page', 'parts'],
  page: ['registry', 'parts', 'text'],
  registry: ['features', 'registry'],
  features: ['registry', 'parts', 'text'],
  parts: ['text'],
  text: [],
}

const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
const files = names.filter((name) => /\.tsx?$/.test(name))

type Import = { readonly from: string; readonly to: string; readonly typeOnly: boolean }

/** Imports of one file from others of the dashboard: at once, when it comes to it, or as a worker; as paths below `src`. */
function importsOf(from: string): readonly Import[] {
  const source = readFileSync(join(root, from), 'utf8').replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '$1')
  const pattern = /\b(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|new URL\(\s*'([^']+)'/g
  return Array.from(source.matchAll(pattern), ([, type, once, lazy, worker]) => ({ to: once ?? lazy ?? worker ?? '', typeOnly: type !== undefined }))
    .filter(({ to }) => to.startsWith('.'))
    .map(({ to, typeOnly }) => ({ from, to: relative(root, join(root, dirname(from), to)), typeOnly }))
    .filter(({ to }) => !to.startsWith('..'))
}
const imports = files.flatMap(importsOf)
const show = ({ from, to }: Import): string => `${from} imports ${to}`

const roomOf = (path: string): string => (REGISTRY.includes(path) ? 'registry' : (path.split('/')[0] ?? ''))
const featureOf = (path: string): string | undefined => (roomOf(path) === 'features' ? path.split('/')[1] : undefined)

/** Circles of imports: of each group of files that reach each other, its files. */
function circles(edges: readonly Import[]): readonly (readonly string[])[] {
  const next = Map.groupBy(edges, ({ from }) => from)
  const reach = (from: string): ReadonlySet<string> => {
    const found = new Set<string>()
    const visit = (file: string): void => {
      for (const { to } of next.get(file) ?? []) {
        if (found.has(to)) continue
        found.add(to)
        visit(to)
      }
    }
    visit(from)
    return found
  }
  const reached = new Map(files.map((file) => [file, reach(file)]))
  const inOne = files.filter((file) => reached.get(file)?.has(file) === true)
  const groups = new Map<string, readonly string[]>()
  for (const file of inOne) {
    const group = inOne.filter((other) => reached.get(file)?.has(other) === true && reached.get(other)?.has(file) === true)
    groups.set(group.join(' '), group)
  }
  return [...groups.values()]
}

describe('the dashboard', () => {
  const features = [...new Set(files.flatMap((file) => featureOf(file) ?? []))].toSorted()

  test('has a folder with a view for each line of the registry, and no other', () => {
    const listed = imports.filter(({ from, to }) => from === 'features/index.ts' && featureOf(to) !== undefined).map(({ to }) => to)
    expect(features.length, 'the walk must really reach the features').toBeGreaterThan(5)
    const views = features.map((feature) => `features/${feature}/view.tsx`)
    expect(views.filter((view) => !files.includes(view)).map((view) => `${view} is missing`)).toEqual([])
    expect(views.filter((view) => !listed.includes(view)).map((view) => `${view} has no line in features/index.ts`)).toEqual([])
    expect(listed.toSorted()).toEqual(views)
  })

  test.each(['id', 'key'])('gives no two views the same %s', (field) => {
    const lines = readFileSync(join(root, 'features/index.ts'), 'utf8').matchAll(/^ {2}\{ id: .*$/gm)
    const values = Array.from(lines, ([line]) => new RegExp(`\\b${field}: '(\\w*)'`).exec(line)?.[1]).filter((value) => value !== undefined)
    expect(values.length, 'the lines must really be read').toBeGreaterThan(5)
    expect(values.filter((value, i) => values.indexOf(value) !== i)).toEqual([])
  })

  test('imports only from the rooms below, and no feature from another', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (featureOf(from) !== undefined && featureOf(from) === featureOf(to)) return false
      if (roomOf(from) === roomOf(to) && roomOf(from) !== 'features') return false
      return !(ALLOWED[roomOf(from)] ?? []).includes(roomOf(to))
    })
    expect(wrong.map(show)).toEqual([])
    expect(imports.length, 'the walk must really find imports').toBeGreaterThan(500)
  })

  test('has no circle of imports, but of types within one folder', () => {
    expect(circles(imports.filter(({ from, to, typeOnly }) => !(typeOnly && dirname(from) === dirname(to))))).toEqual([])
  })

  test('finds a circle where there is one', () => {
    const made = ['a', 'b', 'c'].map((_name, i) => ({ from: files[i] ?? '', to: files[(i + 1) % 3] ?? '', typeOnly: false }))
    expect(circles(made)).toEqual([files.slice(0, 3)])
  })

  test('has each style file brought by a view or by the page, or as text by code that is fetched later', () => {
    const styles = names.filter((name) => name.endsWith('.css') && name !== 'page/styles/index.css')
    const index = readFileSync(join(root, 'page/styles/index.css'), 'utf8')
    const ofPage = Array.from(index.matchAll(/@import '(\.[^']+)'/g), ([, path = '']) => join('page/styles', path))
    const ofViews = imports.filter(({ to }) => to.endsWith('.css'))
    expect(ofViews.filter(({ from }) => !from.endsWith('/view.tsx')).map(show)).toEqual([])
    const asText = imports.filter(({ to }) => to.endsWith('.css?inline')).map(({ to }) => to.replace('?inline', ''))
    expect([...ofPage, ...ofViews.map(({ to }) => to), ...asText].toSorted()).toEqual(styles.toSorted())
  })
})
