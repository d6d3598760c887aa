// No circles: a file can be understood, moved and tested without the files that use it.
import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf } from './imports.ts'

const root = join(import.meta.dirname, '../..')
const ROOMS = ['agent', 'alerts', 'bench', 'dashboard/src', 'grafana', 'scripts', 'test']

const files = ROOMS.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(root, room, name)),
)

/** Types may go round within one folder: they are one concept told in two files, and nothing of them runs. */
const counts = (from: string, to: string, typeOnly: boolean): boolean => !typeOnly || dirname(from) !== dirname(to)

/** The first circle found, as paths from the root; a file that imports itself is one, too. */
function circleAmong(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const path: string[] = []
  const walk = (file: string): readonly string[] => {
    const at = path.indexOf(file)
    if (at >= 0) return [...path.slice(at), file]
    if (done.has(file)) return []
    path.push(file)
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next)
      if (circle.length > 0) return circle
    }
    path.pop()
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const circle = walk(file)
    if (circle.length > 0) return circle
  }
  return []
}

test('files import each other in one direction only', () => {
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ to, typeOnly, lazy }) => to.startsWith('/') && !lazy && counts(file, to, typeOnly))
        .map(({ to }) => to),
    ]),
  )
  expect([...graph.values()].flat().length, 'the walk must really reach the imports').toBeGreaterThan(1_000)
  expect(circleAmong(graph).map((file) => relative(root, file))).toEqual([])
})

test('a circle would be found', () => {
  const graph = new Map([
    ['/a', ['/b']],
    ['/b', ['/c', '/d']],
    ['/c', []],
    ['/d', ['/b']],
  ])
  expect(circleAmong(graph)).toEqual(['/b', '/d', '/b'])
})
