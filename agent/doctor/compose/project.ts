// What the named compose files say together, as `docker compose -f A -f B` would read them: variables, include, extends, merged in their order.
import { dirname, join, resolve } from 'node:path'
import type { Surroundings } from '../definition.ts'
import { readComposeFile, type ComposeFile } from './file.ts'
import { keyProblems } from './keys.ts'
import { mergeFiles, mergeServices, withoutResets } from './merge.ts'
import { at, baseName, entriesOf, itemsOf, kindOf, textOf, textsOf, type Part, type Place, type Problem } from './part.ts'
import { serviceOf, type ComposeService } from './service.ts'
import { dotenv, fillPart, type Variables } from './variables.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type ComposeProject = {
  readonly files: readonly string[]
  readonly services: readonly ComposeService[]
  readonly problems: readonly Problem[]
  /** Where `version:` is written. */
  readonly versions: readonly (Place & { readonly text: string })[]
  /** What was left out, in message. */
  readonly notes: readonly string[]
}

/** Included and extended files together, and how deep one may lead to the next: more than any project has, and an end to circles. */
const MAX_FILES = 100
const MAX_DEPTH = 16

type Loading = {
  readonly files: HostFiles
  readonly problems: Problem[]
  readonly versions: (Place & { readonly text: string })[]
  readonly notes: string[]
  /** Read once each, as several services may extend from one. */
  readonly read: Map<string, Promise<ComposeFile>>
}
/** Where relative paths begin, and what variables say there. */
type Scope = { readonly folder: string; readonly variables: Variables; readonly depth: number }

const REPAIR = {
  read: 'See that it is there and can be read by you; a path begins in the folder in which warpwatch is called.',
  parse: 'Correct that line, or the one before it: often a quote, a bracket or a colon is missing, or the indentation differs.',
} as const
const REMOTE = /^(?:https?|ssh|git|oci):|^git@|\.git(?:#|$)/

function open(loading: Loading, path: string, absolute: string): Promise<ComposeFile> {
  const known = loading.read.get(absolute)
  if (known !== undefined) return known
  const reading: Promise<ComposeFile> =
    loading.read.size >= MAX_FILES
      ? Promise.resolve({ path, absolute, problem: { line: 1, message: `more than ${MAX_FILES} files: too many to read` } })
      : readComposeFile(path, loading.files, absolute)
  loading.read.set(absolute, reading)
  return reading
}

/** The whole file with its variables put in; undefined: it cannot be used, and the problem was reported. */
function filled(loading: Loading, file: ComposeFile, { variables }: Scope): Part | undefined {
  const report = (problem: Problem): void => void loading.problems.push(problem)
  const fail = (line: number, message: string, remedy: string): undefined => {
    report({ status: 'fail', file: file.path, line, message, remedy })
    return undefined
  }
  if (file.problem !== undefined) return fail(file.problem.line, file.problem.message, REPAIR[file.problem.line === 0 ? 'read' : 'parse'])
  const { root } = file
  if (root?.kind !== 'map')
    return fail(
      root?.line ?? 1,
      `must be a map with services, not ${root === undefined ? 'an empty file' : kindOf(root)}`,
      'Name a compose file, one that holds `services:`.',
    )
  const version = root.entries.get('version')
  if (version !== undefined) loading.versions.push({ file: file.path, line: version.line, text: textOf(version) ?? '' })
  return fillPart(root, variables, report)
}

/** With what it extends below it; `from` names those on the way, against circles. */
async function extended(
  loading: Loading,
  name: string,
  services: ReadonlyMap<string, Part>,
  path: string,
  scope: Scope,
  from: readonly string[],
): Promise<Part | undefined> {
  const own = services.get(name)
  if (own?.kind !== 'map') return own
  const base = own.entries.get('extends')
  const here = pathsFrom(scope.folder, own)
  if (base === undefined) return here
  const fail = (message: string): Part => {
    loading.problems.push({
      status: 'fail',
      file: base.file,
      line: base.line,
      message: `extends: ${message}`,
      remedy: 'Correct the name of the service or the file, or take extends out.',
    })
    return here
  }
  const service = textOf(base) ?? textOf(at(base, 'service'))
  if (service === undefined) return fail('expected the name of a service')
  const other = textOf(at(base, 'file'))
  const absolute = other === undefined ? path : resolve(scope.folder, other)
  const way = `${absolute} ${service}`
  if (from.includes(way) || from.length >= MAX_DEPTH) return fail(`${service} extends this one in turn: a service must not extend itself`)
  const file = other === undefined ? undefined : await open(loading, join(dirname(base.file), other), absolute)
  const root = file === undefined ? undefined : filled(loading, file, scope)
  if (file !== undefined && root === undefined) return fail(`expected a compose file, see ${file.path}`)
  const found = root === undefined ? services : entriesOf(at(root, 'services'))
  const inner = other === undefined ? scope : { ...scope, folder: dirname(absolute) }
  const below = await extended(loading, service, found, absolute, inner, [...from, way])
  if (below?.kind !== 'map') return fail(`expected a service ${service} in ${file?.path ?? 'this file'}, found none`)
  const above = here.kind === 'map' ? { ...here, entries: new Map([...here.entries].filter(([key]) => key !== 'extends')) } : here
  return { ...mergeServices(below, above), file: own.file, line: own.line }
}

/** `env_file` and `build` with absolute paths, as they begin where they are written. */
function pathsFrom(folder: string, service: Part): Part {
  if (service.kind !== 'map') return service
  const absolute = (part: Part): Part => {
    if (part.kind === 'list') return { ...part, items: part.items.map(absolute) }
    if (part.kind === 'map')
      return { ...part, entries: new Map([...part.entries].map(([key, own]) => [key, key === 'path' || key === 'context' ? absolute(own) : own])) }
    const text = textOf(part)
    return text === undefined || REMOTE.test(text) ? part : { ...part, value: resolve(folder, text) }
  }
  return { ...service, entries: new Map([...service.entries].map(([key, part]) => [key, key === 'env_file' || key === 'build' ? absolute(part) : part])) }
}

async function included(loading: Loading, entry: Part, path: string, scope: Scope): Promise<readonly Part[]> {
  const paths = entry.kind === 'map' ? textsOf(at(entry, 'path')) : textsOf(entry)
  const [first] = paths
  if (first === undefined) return []
  if (paths.some((one) => REMOTE.test(one))) {
    loading.notes.push(`${first} is not on this host and was left out`)
    return []
  }
  if (scope.depth >= MAX_DEPTH) {
    loading.problems.push({
      status: 'fail',
      file: entry.file,
      line: entry.line,
      message: `include: more than ${MAX_DEPTH} files inside each other`,
      remedy: 'Take the circle out: a file may not include one that includes it.',
    })
    return []
  }
  const folder = resolve(scope.folder, textOf(at(entry, 'project_directory')) ?? dirname(first))
  const named = textsOf(at(entry, 'env_file')).map((one) => resolve(scope.folder, one))
  const own = await dotenv(loading.files, named.length > 0 ? named : [join(folder, '.env')])
  const inner: Scope = { folder, variables: { ...own, ...scope.variables }, depth: scope.depth + 1 }
  const files = await Promise.all(paths.map(async (one) => await open(loading, join(dirname(path), one), resolve(scope.folder, one))))
  return [await together(loading, files, inner)].filter((part) => part !== undefined)
}

async function together(loading: Loading, files: readonly ComposeFile[], scope: Scope): Promise<Part | undefined> {
  let all: Part | undefined
  for (const file of files) {
    const root = filled(loading, file, scope)
    if (root?.kind !== 'map') continue
    loading.problems.push(...keyProblems(root))
    const written = entriesOf(at(root, 'services'))
    const services = new Map<string, Part>()
    for (const entry of itemsOf(at(root, 'include'))) {
      for (const part of await included(loading, entry, file.path, scope)) {
        for (const [name, service] of entriesOf(at(part, 'services'))) services.set(name, service)
      }
    }
    for (const name of written.keys()) {
      const service = await extended(loading, name, written, file.absolute, scope, [`${file.absolute} ${name}`])
      if (service === undefined) continue
      const imported = services.get(name)
      if (imported !== undefined) {
        loading.problems.push({
          status: 'fail',
          file: service.file,
          line: service.line,
          message: `${name} is a service of the included file ${imported.file} too: Compose refuses that`,
          remedy: 'Rename one of them, or put the changes into a file that is listed beside the included one: include: [{path: [THEIRS, YOURS]}].',
        })
      }
      services.set(name, service)
    }
    const part: Part = {
      kind: 'map',
      file: root.file,
      line: root.line,
      entries: new Map([['services', { kind: 'map', file: root.file, line: root.line, entries: services }]]),
    }
    all = all === undefined ? part : mergeFiles(all, part)
  }
  return all
}

async function load(given: readonly ComposeFile[], files: HostFiles, env: Variables): Promise<ComposeProject> {
  const folder = dirname(given[0]?.absolute ?? '/')
  const loading: Loading = { files, problems: [], versions: [], notes: [], read: new Map(given.map((file) => [file.absolute, Promise.resolve(file)])) }
  const variables = { ...(await dotenv(files, [join(folder, '.env')])), ...env }
  const root = await together(loading, given, { folder, variables, depth: 0 })
  const services: ComposeService[] = []
  if (root !== undefined) {
    for (const [name, part] of entriesOf(at(withoutResets(root), 'services'))) {
      services.push(await serviceOf(name, part, { files, variables, report: (problem) => void loading.problems.push(problem) }))
    }
  }
  const { problems, versions, notes } = loading
  const [only] = given
  if (given.length === 1 && only !== undefined && /^(?:docker-)?compose\.ya?ml$/.test(baseName(only.path))) {
    const override = only.absolute.replace(/\.(ya?ml)$/, '.override.$1')
    if (await files.exists(override).catch(() => false))
      notes.push(`${baseName(override)} beside it was not named and is not looked at, though Compose reads it by itself`)
  }
  return { files: given.map(({ path }) => path), services, problems: distinct(problems), versions, notes }
}

/** A line that several services share is reported once. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]
}

const projects = new WeakMap<readonly ComposeFile[], Promise<ComposeProject>>()

/** Made once for all checks. undefined: no file was named. */
export async function composeProject(around: Surroundings): Promise<ComposeProject | undefined> {
  const given = await around.composeFiles()
  if (given.length === 0) return undefined
  const known = projects.get(given) ?? load(given, around.files, around.env)
  projects.set(given, known)
  return await known
}
