// The layers of ARCHITECTURE.md: which folder may import from which, and who may load native code or do I/O.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, type Import } from './imports.ts'

const root = join(import.meta.dirname, '../..')
const agent = join(root, 'agent')
const alerts = join(root, 'alerts')

/** What each folder may import from, itself, model and text aside. Files straight under agent/ count as folders of their own name. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  model: [],
  text: [],
  metrics: [],
  inventory: ['metrics'],
  lib: [],
  nvml: [],
  config: ['lib'],
  attribution: ['metrics', 'lib', 'sampler'],
  actions: ['lib', 'store', 'alerts'],
  collectors: ['metrics', 'nvml', 'sampler'],
  sampler: ['nvml', 'collectors', 'drm', 'lib'],
  drm: ['metrics', 'nvml', 'collectors', 'sampler'],
  allocator: ['lib'],
  sources: ['metrics', 'inventory', 'sampler', 'collectors', 'drm', 'attribution', 'allocator', 'progress', 'servers', 'hang', 'lib', 'store', 'config'],
  diagnosis: ['metrics', 'inventory', 'lib', 'allocator', 'servers'],
  hosts: ['config', 'lib', 'http', 'sinks'],
  mcp: ['lib', 'diagnosis'],
  doctor: ['metrics', 'inventory', 'lib', 'config', 'attribution', 'nvml', 'sampler', 'sources', 'diagnosis'],
  exec: [],
  fit: ['lib'],
  progress: [],
  servers: [],
  hang: ['allocator', 'lib'],
  jobs: ['metrics', 'diagnosis'],
  store: ['inventory', 'lib', 'diagnosis'],
  sinks: ['metrics', 'inventory', 'lib', 'store', 'http'],
  http: ['metrics', 'inventory', 'lib', 'store', 'config', 'fit', 'catalogue.ts'],
  // Beside agent/, but a layer like the others.
  alerts: ['metrics', 'lib', 'config', 'store'],
  cli: ['*'],
  'catalogue.ts': ['metrics'],
  'pipeline.ts': ['lib'],
  wiring: ['*'],
  'agent.ts': ['wiring', 'pipeline.ts', 'attribution', 'config', 'lib', 'store'],
  'main.ts': ['cli', 'lib'],
}

/** What the dashboard may run in the browser, in parts that are fetched when a view asks for them: pure, so without `node:` and packages. */
const LENT = ['diagnosis/', 'allocator/snapshot/', 'text/'].map((place) => join(agent, place))

const files = [agent, alerts].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)
const imports = files.flatMap(importsOf)
const inside = (path: string): boolean => path.startsWith(`${agent}/`) || path.startsWith(`${alerts}/`)
const layerOf = (path: string): string => (path.startsWith(`${alerts}/`) ? 'alerts' : (relative(agent, path).split('/')[0] ?? ''))
const show = (found: Import): string => `${relative(root, found.from)} imports ${found.to.startsWith('/') ? relative(root, found.to) : found.to}`

describe('layers', () => {
  test('ARCHITECTURE.md has the same table', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    const table = page.slice(page.indexOf('## Folders and layers'), page.indexOf('## How it works inside'))
    const rows = Array.from(table.matchAll(/^\| `([\w.]+)` \| [^|]+ \| ([^|]+) \|$/gm), ([, folder = '', imports = '']) => [
      folder,
      imports === 'everything' ? ['*'] : Array.from(imports.matchAll(/`([\w.]+)`/g), ([, name]) => name),
    ])
    expect(Object.fromEntries(rows)).toEqual(ALLOWED)
  })

  test('every folder imports only from those that it may', () => {
    const wrong = imports.filter((found) => {
      if (!inside(found.to)) return false
      const [from, to] = [layerOf(found.from), layerOf(found.to)]
      if (from === to || to === 'model' || to === 'text') return false
      const allowed = ALLOWED[from]
      if (allowed === undefined) return true // a new folder must be entered above and in ARCHITECTURE.md
      return !allowed.includes('*') && !allowed.includes(to)
    })
    expect(wrong.map(show)).toEqual([])
  })

  test('model, text and the pipeline touch nothing outside', () => {
    const wrong = imports.filter((found) => ['model', 'text', 'pipeline.ts'].includes(layerOf(found.from)) && !found.to.startsWith('/'))
    expect(wrong.map(show)).toEqual([])
  })

  test('only agent/nvml, agent/exec and the child of the sampler load koffi, and the agent never imports what does', () => {
    const koffi = imports.filter((found) => found.to === 'koffi').map((found) => found.from)
    expect(koffi.filter((file) => !['nvml', 'exec'].includes(layerOf(file)) && !file.includes('/sampler/child/')).map((file) => relative(root, file))).toEqual(
      [],
    )
    // Everything reachable from the agent by imports that survive compilation, the child's own entry aside.
    const reached = new Set<string>()
    const visit = (file: string): void => {
      if (reached.has(file)) return
      reached.add(file)
      // `warpwatch exec` is a process of its own that runs someone's command.
      for (const found of imports) if (found.from === file && !found.typeOnly && inside(found.to) && layerOf(found.to) !== 'exec') visit(found.to)
    }
    visit(join(agent, 'main.ts'))
    expect([...reached].filter((file) => koffi.includes(file)).map((file) => relative(root, file))).toEqual([])
    expect(reached.size, 'the walk must really reach the agent').toBeGreaterThan(20)
  })

  test('siblings of a registry do not import each other', () => {
    const registries = ['collectors', 'sources']
    const helpers = /\/(index|collector|definition|[a-z-]+\/.*)\.ts$/
    const wrong = imports.filter(
      (found) =>
        !found.typeOnly &&
        registries.includes(layerOf(found.from)) &&
        layerOf(found.from) === layerOf(found.to) &&
        relative(agent, found.from).split('/').length === 2 &&
        !found.from.endsWith('/index.ts') &&
        relative(agent, found.to).split('/').length === 2 &&
        !helpers.test(relative(agent, found.to)),
    )
    expect(wrong.map(show)).toEqual([])
  })

  describe('the dashboard', () => {
    const dashboard = join(root, 'dashboard')
    const seen = readdirSync(dashboard, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) => importsOf(join(dashboard, name)))
    const ofAgent = seen.filter((found) => found.to.startsWith(agent))

    test('sees types of the model, and what it is lent', () => {
      const lent = ({ to }: Import): boolean => LENT.some((place) => to.startsWith(place))
      const wrong = ofAgent.filter((found) => !lent(found) && !(found.typeOnly && found.to.startsWith(join(agent, 'model'))))
      expect(wrong.map(show)).toEqual([])
    })

    test('runs nothing of the agent that needs Node', () => {
      const wrong: string[] = []
      const reached = new Set<string>()
      const visit = (file: string): void => {
        if (reached.has(file)) return
        reached.add(file)
        for (const found of imports) {
          if (found.from !== file || found.typeOnly) continue
          if (inside(found.to)) visit(found.to)
          else wrong.push(show(found))
        }
      }
      for (const found of ofAgent) if (!found.typeOnly) visit(found.to)
      expect(wrong).toEqual([])
      expect(reached.size, 'the walk must really reach the agent').toBeGreaterThan(20)
    })

    test('loads nothing of the agent at first but its text module', () => {
      const reached = new Set<string>()
      const visit = (file: string): void => {
        if (reached.has(file)) return
        reached.add(file)
        for (const found of seen) if (found.from === file && !found.typeOnly && !found.lazy) visit(found.to)
      }
      visit(join(dashboard, 'src/main.tsx'))
      expect([...reached].filter((file) => inside(file) && layerOf(file) !== 'text').map((file) => relative(root, file))).toEqual([])
      expect(reached.size, 'the walk must really reach the page').toBeGreaterThan(20)
    })
  })

  test('every source file says in its first line what it is for', () => {
    const silent = files.filter((file) => !/^(#!.*\n)?\/\/ \S/.test(readFileSync(file, 'utf8')))
    expect(silent.map((file) => relative(root, file))).toEqual([])
  })
})
