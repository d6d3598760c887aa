// Reads one compose file: parsed by the rules of YAML that Compose follows, with anchors and merge keys put in and the line of each part.
import { isAlias, isMap, isNode, isScalar, isSeq, visit, type Alias, type Document, type Node } from 'yaml'
import { parseYaml, type YamlText } from '../../lib/yaml-document.ts'
import { codeOf, messageOf } from '../../text/error.ts'
import type { HostFiles } from '../parts/host-files.ts'
import type { Part, Scalar } from './part.ts'

export type ComposeFile = {
  /** As it was given. */
  readonly path: string
  readonly absolute: string
  /** Why it could not be read or parsed, and in which line; there is no `root` then. */
  readonly problem?: { readonly line: number; readonly message: string }
  /** undefined beside no problem: an empty file. Variables are not put in yet. */
  readonly root?: Part
}

const MAX_BYTES = 1024 * 1024
/** With anchors put in; a real file has some hundred. A billion laughs ends here. */
const MAX_PARTS = 50_000
const MAX_DEPTH = 64

class ComposeSyntax extends Error {
  override readonly name = 'ComposeSyntax'
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const scalarOf = (value: unknown, source: string | undefined): Scalar => {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return source ?? ''
}
const tagOf = (tag: string | undefined): Pick<Part, 'tag'> => (tag === '!reset' ? { tag: 'reset' } : tag === '!override' ? { tag: 'override' } : {})
const isMergeKey = (key: unknown): boolean => isScalar(key) && key.type === 'PLAIN' && key.source === '<<'

/** What each alias means: the last anchor of its name before it. In one pass, as the library's own answer walks the whole file for each. */
function targetsOf(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Value: (_, node) => void (node.anchor === undefined ? undefined : anchors.set(node.anchor, node)),
    Alias(_, alias) {
      const target = anchors.get(alias.source)
      if (target !== undefined) targets.set(alias, target)
    },
  })
  return targets
}

function partsOf(document: Document, lineAt: YamlText['lineAt'], file: string): Part {
  let count = 0
  const targets = targetsOf(document)
  const lineOf = (node: unknown): number | undefined => {
    const offset = isNode(node) ? node.range?.[0] : undefined
    return offset === undefined ? undefined : lineAt(offset)
  }
  const refuse = (message: string, node: unknown): never => {
    throw new ComposeSyntax(message, (isNode(node) ? node.range?.[0] : undefined) ?? 0)
  }
  function build(node: unknown, line: number, depth: number): Part {
    if (++count > MAX_PARTS) return refuse(`more than ${MAX_PARTS} values with aliases (*name) put in: too large to read`, node)
    if (depth > MAX_DEPTH) return refuse(`more than ${MAX_DEPTH} levels: an alias (*name) that holds itself?`, node)
    if (isAlias(node)) {
      const target = targets.get(node)
      return target === undefined
        ? refuse(`expected an anchor &${node.source} before the alias *${node.source}, found none`, node)
        : build(target, line, depth + 1)
    }
    if (isMap(node)) return { kind: 'map', file, line, ...tagOf(node.tag), entries: entries(node, depth) }
    if (isSeq(node)) {
      return { kind: 'list', file, line, ...tagOf(node.tag), items: node.items.map((item: unknown) => build(item, lineOf(item) ?? line, depth + 1)) }
    }
    const value = isScalar(node) ? scalarOf(node.value, node.source) : null
    return { kind: 'scalar', file, line, ...tagOf(isScalar(node) ? node.tag : undefined), value, literal: value, known: true }
  }
  function entries(node: unknown, depth: number): ReadonlyMap<string, Part> {
    const own = new Map<string, Part>()
    const merged: Part[] = []
    for (const { key, value } of isMap(node) ? node.items : []) {
      const line = lineOf(key) ?? lineOf(value) ?? 1
      const part = build(value, line, depth + 1)
      if (isMergeKey(key)) merged.push(...(part.kind === 'list' ? part.items : [part]))
      else own.set(isScalar(key) ? String(key.value) : String(key), part)
    }
    // The file's own keys go before merged ones, and of those the first.
    for (const source of merged) {
      if (source.kind !== 'map') refuse('expected a map behind the merge key <<', node)
      else for (const [key, part] of source.entries) if (!own.has(key)) own.set(key, part)
    }
    return own
  }
  return build(document.contents, 1, 0)
}

export function parseComposeFile(path: string, text: string, absolute = path): ComposeFile {
  const failed = (message: string, line: number): ComposeFile => ({ path, absolute, problem: { line, message } })
  // Tags such as !reset are kept as they are; unknown ones are no error.
  const { document, lineAt, problems } = parseYaml(text, { merge: true, logLevel: 'silent' })
  const [problem] = problems
  if (document === undefined || problem !== undefined) return failed(`not valid YAML: ${problem?.text ?? 'no document'}`, problem?.line ?? 1)
  try {
    return document.contents === null ? { path, absolute } : { path, absolute, root: partsOf(document, lineAt, path) }
  } catch (error) {
    if (error instanceof ComposeSyntax) return failed(error.message, lineAt(error.offset))
    return failed(`not valid YAML: ${messageOf(error)}`, 1)
  }
}

/** Never rejects: a file that cannot be read is a finding, not an end. */
export async function readComposeFile(path: string, files: HostFiles, absolute = path): Promise<ComposeFile> {
  const failed = (message: string): ComposeFile => ({ path, absolute, problem: { line: 0, message } })
  try {
    const text = await files.readText(absolute, MAX_BYTES + 1)
    if (text === undefined) return failed('expected a file, found none')
    if (Buffer.byteLength(text) > MAX_BYTES) return failed('larger than 1 MiB: too large to read')
    return parseComposeFile(path, text, absolute)
  } catch (error) {
    return failed(codeOf(error) ?? messageOf(error))
  }
}
