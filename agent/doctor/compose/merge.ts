// How Compose lays one file over another: maps are merged, sequences appended, the rest replaced; with the exceptions of its specification (13-merge).
import { entriesOf, textOf, type Part } from './part.ts'

type Path = readonly string[]

/** Below a service: replaced as a whole. */
const REPLACED = new Set(['command', 'entrypoint', 'healthcheck.test'])
/** Below a service: `NAME=value` lists and maps are the same thing, and merged by name. */
const BY_NAME = new Set(['environment', 'labels', 'annotations', 'sysctls', 'build.args', 'build.labels', 'deploy.labels'])
/** Below a service: one text counts as a list of one. */
const TEXTS = new Set(['env_file', 'tmpfs', 'dns', 'dns_search'])

/** `NAME=value` texts as a map; what is written alone has no value. */
export function byName(part: Part): Part {
  if (part.kind !== 'list') return part
  const entries = new Map<string, Part>()
  for (const item of part.items) {
    if (item.kind !== 'scalar' || item.value === null) continue
    const [text, literal] = [String(item.value), String(item.literal)]
    const equals = text.indexOf('=')
    const after = (whole: string): string | null => (whole.includes('=') ? whole.slice(whole.indexOf('=') + 1) : null)
    entries.set(equals < 0 ? text : text.slice(0, equals), { ...item, value: after(text), literal: after(literal) })
  }
  return { kind: 'map', file: part.file, line: part.line, entries }
}

/** Under which a later element takes an earlier one's place; undefined: all are beside each other. */
function sameness(key: string | undefined, item: Part): string | undefined {
  const target = textOf(entriesOf(item).get('target'))
  if (key === 'volumes' || key === 'devices') {
    if (item.kind === 'map') return target
    const [source = '', inside] = textOf(item)?.split(':') ?? []
    return inside ?? source
  }
  if (key === 'ports' && item.kind === 'map')
    return ['host_ip', 'published', 'target', 'protocol'].map((name) => textOf(entriesOf(item).get(name)) ?? '').join(' ')
  return key === 'ports' || key === 'expose' || key === 'env_file' ? textOf(item) : undefined
}

function unique(key: string | undefined, items: readonly Part[]): readonly Part[] {
  const found = new Map<string | symbol, Part>()
  for (const item of items) found.set(sameness(key, item) ?? Symbol('its own'), item)
  return [...found.values()]
}

function mergeAt(base: Part, over: Part, path: Path): Part {
  if (over.tag === 'override') return over
  const inService = path[0] === 'services' ? path.slice(2).join('.') : ''
  if (REPLACED.has(inService)) return over
  if (BY_NAME.has(inService) && (base.kind === 'list' || over.kind === 'list')) return mergeAt(byName(base), byName(over), path)
  if (base.kind === 'map' && over.kind === 'map') {
    const entries = new Map(base.entries)
    for (const [key, part] of over.entries) {
      const known = entries.get(key)
      if (part.tag === 'reset') entries.delete(key)
      else entries.set(key, known === undefined ? part : mergeAt(known, part, [...path, key]))
    }
    return { ...over, entries }
  }
  const listed = (part: Part): readonly Part[] => (part.kind === 'list' ? part.items : [part])
  if ((base.kind === 'list' && over.kind === 'list') || (TEXTS.has(inService) && base.kind !== 'map' && over.kind !== 'map')) {
    return { kind: 'list', file: over.file, line: over.line, items: unique(path.at(-1), [...listed(base), ...listed(over)]) }
  }
  // A key without a value says nothing.
  return over.kind === 'scalar' && over.value === null ? base : over
}

/** Whole files. */
export const mergeFiles = (base: Part, over: Part): Part => mergeAt(base, over, [])
/** A service over the one that it extends. */
export const mergeServices = (base: Part, over: Part): Part => mergeAt(base, over, ['services', '*'])

/** Without what `!reset` takes out. */
export function withoutResets(part: Part): Part {
  if (part.kind === 'map') {
    return { ...part, entries: new Map([...part.entries].filter(([, own]) => own.tag !== 'reset').map(([key, own]) => [key, withoutResets(own)])) }
  }
  return part.kind === 'list' ? { ...part, items: part.items.filter(({ tag }) => tag !== 'reset').map(withoutResets) } : part
}
