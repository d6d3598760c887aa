// What the built dashboard weighs: the first load, and each view that is fetched when it is opened. No browser: the files and what they import.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { parseSync, Visitor } from 'rolldown/utils'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { BROTLI } from '../../agent/http/compress.ts'

const DIST = join(import.meta.dirname, '../../dist/dashboard')
const KB = 1000
/** Over an SSH tunnel of 1 Mbit/s this is half a second. */
const FIRST_LOAD = 60 * KB
/** Of all views at once and of paper: they share most of it, and a page of this size gains nothing from a second round trip. */
const STYLES = 17 * KB
/** What opening one view may add, and what the view fetches later; the allocators take 19, what reads Markdown for a runbook 16. */
const VIEW = 30 * KB
/**
 * As it arrives by Brotli, which browsers take from loopback and over TLS: 2.2 s over 1.6 Mbit/s, fetched while one looks for a log or drops a snapshot. All fault families (NVIDIA, AMD, Intel) and
 * kinds of ends with their advice. It grows with what is known: some 0.1 kB a message.
 */
const WORKER = 470 * KB

const text = (name: string): string => readFileSync(join(DIST, name), 'utf8')
const gzipped = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + gzipSync(text(name), { level: 6 }).length, 0)

type Imports = { readonly fixed: readonly string[]; readonly lazy: readonly string[] }

/** What a built module imports, as paths below DIST: at once, and when it comes to it. */
function importsOf(name: string): Imports {
  const code = text(name)
  const fixed: string[] = []
  const lazy: string[] = []
  /** `source` is a literal, which the minifier writes in quotes or backticks. */
  const resolve = ({ start, end }: { readonly start: number; readonly end: number }): string => {
    const path = /^["'`](\.[^"'`$]+)["'`]$/.exec(code.slice(start, end))?.[1]
    if (path === undefined) throw new Error(`${name}: expected the path of another file, came an import of ${code.slice(start, end)}`)
    return join(dirname(name), path)
  }
  const found = (list: string[]) => (node: { readonly source: { readonly start: number; readonly end: number } | null }) => {
    if (node.source !== null) list.push(resolve(node.source))
  }
  const once = found(fixed)
  new Visitor({
    ImportDeclaration: once,
    ExportNamedDeclaration: once,
    ExportAllDeclaration: once,
    ImportExpression: found(lazy),
  }).visit(parseSync(name, code).program)
  return { fixed, lazy }
}

/** The modules and all that they need before they can run. */
function closure(names: readonly string[], known: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (name: string): void => {
    if (found.has(name) || known.has(name)) return
    found.add(name)
    importsOf(name).fixed.forEach(add)
  }
  names.forEach(add)
  return found
}

describe('the built dashboard', () => {
  const html = text('index.html')
  const named = (pattern: RegExp): readonly string[] => Array.from(html.matchAll(pattern), (match) => match[1] ?? '')
  const scripts = named(/<(?:script|link rel="modulepreload")[^>]+?(?:src|href)="\.\/([^"]+\.js)"/g)
  const page = closure(scripts)
  const lazy = [...new Set([...page].flatMap((name) => importsOf(name).lazy))]
  // The charts come once the figures stand, unasked: they are part of the first load.
  const charts = lazy.filter((name) => /uplot/i.test(name))
  const first = new Set([...page, ...closure(charts)])
  const views = lazy.filter((name) => !charts.includes(name))
  const opened = new Set([...first, ...closure(views, first)])
  const later = [...new Set([...closure(views, first)].flatMap((name) => importsOf(name).lazy))]

  test(`needs at most ${FIRST_LOAD / KB} kB of JavaScript before it shows the overview`, () => {
    expect(scripts.length).toBeGreaterThan(0)
    expect(charts).toHaveLength(1)
    expect(gzipped(first)).toBeLessThanOrEqual(FIRST_LOAD)
  })

  test(`needs at most ${STYLES / KB} kB of styles`, () => {
    const styles = named(/<link rel="stylesheet"[^>]+href="\.\/([^"]+\.css)"/g)
    expect(styles).toHaveLength(1)
    expect(gzipped(styles)).toBeLessThanOrEqual(STYLES)
  })

  test(`fetches each other view when it is opened, at most ${VIEW / KB} kB`, () => {
    expect(views.length).toBeGreaterThan(0)
    expect(views.filter((view) => first.has(view))).toEqual([])
    const weights = Object.fromEntries(views.map((view) => [view, gzipped(closure([view], first))]))
    expect(Object.entries(weights).filter(([, bytes]) => bytes > VIEW)).toEqual([])
  })

  test(`fetches what a view needs only sometimes when it does, at most ${VIEW / KB} kB`, () => {
    expect(
      later.some((name) => name.includes('markdown')),
      'a runbook is opened seldom',
    ).toBe(true)
    const weights = Object.fromEntries(later.map((name) => [name, gzipped(closure([name], opened))]))
    expect(Object.entries(weights).filter(([, bytes]) => bytes > VIEW)).toEqual([])
  })

  test(`leaves no file out; what remains are workers, at most ${WORKER / KB} kB each by Brotli`, () => {
    const built = z.array(z.string()).parse(JSON.parse(readFileSync(join(DIST, '../.files'), 'utf8')))
    const scriptsBuilt = built.filter((name) => name.startsWith('dashboard/') && name.endsWith('.js')).map((name) => name.slice('dashboard/'.length))
    const reached = new Set([...opened, ...closure(later, opened)])
    expect([...reached].filter((name) => !scriptsBuilt.includes(name))).toEqual([])
    const workers = scriptsBuilt.filter((name) => !reached.has(name))
    expect(workers.filter((name) => !/\/[\w-]*worker-/.test(name))).toEqual([])
    expect(workers.filter((name) => brotliCompressSync(text(name), BROTLI).length > WORKER)).toEqual([])
  })

  test('has no code and no style in the page itself', () => {
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|data:/)
  })
})
