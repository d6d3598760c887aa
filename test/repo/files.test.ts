// The shape of the repository: files of a readable size, a change log that is kept, scripts that run where Node is old.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

const root = join(import.meta.dirname, '../..')
const MAX_LINES = 300
/** Tables of data, which are looked up and not read; each with its reason. */
const DATA: Readonly<Record<string, string>> = {}

const filesBelow = (folder: string, pattern: RegExp): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`)

describe('files', () => {
  const sources = [...filesBelow('agent', /\.ts$/), ...filesBelow('dashboard/src', /\.(tsx?|css)$/)]

  test(`have at most ${MAX_LINES} lines`, () => {
    expect(sources.length, 'the walk must really reach the sources').toBeGreaterThan(100)
    const long = sources.filter((file) => !(file in DATA) && readFileSync(join(root, file), 'utf8').split('\n').length - 1 > MAX_LINES)
    expect(long).toEqual([])
  })

  test('and the exceptions are still there', () => {
    expect(Object.keys(DATA).filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})

test('what test files share has no hooks at its top: only the first file of a process would run them', () => {
  // The set-up of every file is evaluated for each of them.
  const shared = filesBelow('test', /(?<!\.test)\.ts$/).filter((file) => !/setup\/(?:file-folder|cpu-log)\.ts$/.test(file))
  expect(shared.length).toBeGreaterThan(50)
  expect(shared.filter((file) => /^(?:before|after)(?:All|Each)\(/m.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})

describe('the change log', () => {
  const log = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')

  test('begins with what is not released', () => {
    expect(/^## (.+)$/m.exec(log)?.[1]).toBe('[Unreleased]')
  })

  test('has entries only under the headings of Keep a Changelog', () => {
    const headings = Array.from(log.matchAll(/^### (.+)$/gm), (match) => match[1])
    expect(headings.length).toBeGreaterThan(0)
    expect(headings.filter((heading) => !['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].includes(heading ?? ''))).toEqual([])
  })
})

describe('package.json', () => {
  const map = z.record(z.string(), z.string())
  const manifest = z.object({ scripts: map, dependencies: map, devDependencies: map, optionalDependencies: map })
  const { scripts, ...packages } = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

  test('pins every package to one version', () => {
    expect(
      Object.values(packages)
        .flatMap((group) => Object.entries(group))
        .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
    ).toEqual([])
  })

  test('runs each script through the installing ones, and takes the place of npm’s shell so that signals arrive', () => {
    const wrong = Object.entries(scripts).filter(([, script]) => {
      const parts = script.split(' && ')
      const installs = parts.every((part) => /^(exec )?node scripts\/(start|test|run|quick)\.mjs\b/.test(part))
      // `exec` in front of an `&&` would leave out what follows.
      return !installs || script.startsWith('exec ') !== (parts.length === 1)
    })
    expect(wrong).toEqual([])
  })

  test('names scripts that exist', () => {
    const named = Object.values(scripts).flatMap((script) => Array.from(script.matchAll(/\bnode (scripts\/\S+)|run\.mjs ((?:scripts|test|bench)\/\S+)/g)))
    const files = named.flatMap((match) => [match[1], match[2]].filter((path) => path !== undefined))
    expect(files.length).toBeGreaterThan(8)
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})
