// SECURITY.md row by row: each names what holds it, and what it says of programs and of the engine's API is read from the code.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as cases from '../abuse/cases/index.ts'

const root = join(import.meta.dirname, '../..')
const rows = new Map(
  Array.from(readFileSync(join(root, 'SECURITY.md'), 'utf8').matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm), ([, surface = '', holds = '', by = '']) => [
    surface,
    { holds, by },
  ]),
)
rows.delete('surface')
const ids = new Set(Object.values(cases).map(({ id }) => id))
const sources = globSync(['agent/**/*.ts', 'alerts/**/*.ts'], { cwd: root }).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const inFolders = (...folders: readonly string[]) => sources.filter(({ path }) => folders.some((folder) => path.startsWith(folder)))
const found = (pattern: RegExp, among = sources): readonly string[] => among.flatMap(({ text }) => Array.from(text.matchAll(pattern), ([, name = '']) => name))

test.each([...rows])('%s: what holds it is there', (_surface, { by }) => {
  const paths = Array.from(by.matchAll(/`(test\/[^`]+)`/g), ([, path = '']) => path)
  const named = by.replaceAll(/`test\/[^`]+`/g, '').match(/[a-z]+-[a-z]+/g) ?? []
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(named.filter((id) => !ids.has(id))).toEqual([])
  expect(paths.length + named.length).toBeGreaterThan(0)
})

describe('programs', () => {
  const programs = rows.get('commands')?.holds ?? ''
  test('that the doctor runs are those that are named', () => {
    const run = [
      ...found(/\brun\(\s*'([^']+)'/g, inFolders('agent/doctor/')),
      ...found(/const PROGRAMS = \['([^\]]+)'\]/g, inFolders('agent/doctor/'))
        .join("', '")
        .split("', '"),
    ]
    expect(run.length).toBeGreaterThan(6)
    expect(run.filter((program) => !programs.includes(`\`${program.split('/').at(-1)}`))).toEqual([])
  })
  test('that the agent runs are those that are named', () => {
    const agent = inFolders('agent/sources/', 'agent/hosts/', 'agent/hang/', 'agent/actions/')
    const run = [
      ...found(/\b(?:spawn|ask)\(\s*'([\w-]+)'/g, agent),
      ...found(/\banswerOf\(\w+, '([\w-]+)'/g, agent),
      ...found(/\b(?:command|program) = '([\w-]+)'/g, agent),
      ...found(/\bcommands = \['([\w-]+)'\]/g, agent),
    ]
    expect(new Set(run).size).toBeGreaterThan(6)
    expect(run.filter((program) => !programs.includes(`\`${program}`))).toEqual([])
  })
  test('are started without a shell', () => {
    const imported = found(/import \{([^}]+)\} from 'node:child_process'/g).flatMap((names) => names.split(',').map((name) => name.trim()))
    expect(imported.length).toBeGreaterThan(2)
    expect(imported.filter((name) => !name.startsWith('type ') && !['spawn', 'fork', 'ChildProcess'].includes(name))).toEqual([])
    expect(found(/\b(shell: ?(?:true|'\/))/g)).toEqual([])
  })
})

test('engine socket: only GET, and only of the paths that are named', () => {
  const asking = inFolders('agent/sources/containers', 'agent/sources/container-logs', 'agent/doctor/parts/engine').map(({ path, text }) => ({
    path,
    text: text.replaceAll(/\$\{[^}]*\}/g, 'ID'),
  }))
  expect(found(/\b(method:|'POST'|'PUT'|'DELETE')/g, asking)).toEqual([])
  const paths = found(/[`'](?:GET )?(\/(?:containers|events|info|version|images|_ping|volumes|networks)\b[^`'?\s]*)/g, asking)
  expect(paths.length).toBeGreaterThan(4)
  const named = rows.get('engine socket')?.holds ?? ''
  expect(paths.filter((path) => !named.includes(`\`${path}\``))).toEqual([])
})
