// SECURITY.md about the engine's socket: each path that is asked stands there, and no other.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** Who asks engines: the client and its users. */
const ASKING = ['agent/sources/containers', 'agent/sources/container-logs', 'agent/doctor']

/** Paths of the Engine API in string literals, ids as ID. */
function askedPaths(): readonly string[] {
  const sources = ASKING.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(root, folder, name), 'utf8').replaceAll(/\$\{[^{}]*\}/g, 'ID')),
  )
  const found = sources.flatMap((text) =>
    Array.from(
      text.matchAll(/['`](?:[A-Z]+ )?(\/(?:containers|events|exec|images|info|networks|plugins|services|system|tasks|version|volumes|_ping)\b[^'`\s?]*)/g),
    ),
  )
  return [...new Set(found.map(([, path = '']) => path))]
}

test('the list of what engines are asked is complete and true', () => {
  const row = /^\| engine socket \| (.+) \|$/m.exec(readFileSync(join(root, 'SECURITY.md'), 'utf8'))?.[1] ?? ''
  const said = Array.from(row.matchAll(/`(\/[\w/]+)`/g), ([, path = '']) => path).filter((path) => !path.startsWith('/api/'))
  expect(said.length).toBeGreaterThan(3)
  expect(said.toSorted()).toEqual(askedPaths().toSorted())
})

test('engines are only ever asked by GET', () => {
  const text =
    readFileSync(join(root, 'agent/sources/containers/engine.ts'), 'utf8') + readFileSync(join(root, 'agent/sources/containers/engine-log.ts'), 'utf8')
  expect(text).not.toMatch(/\bmethod:|'(?:POST|PUT|DELETE|PATCH)'|`(?:POST|PUT|DELETE|PATCH) /)
  expect(text).toContain('`GET /containers/')
})
