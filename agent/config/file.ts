// The configuration file: YAML to settings, each with its line. Loaded only where a file is there, since the parser costs 1.3 MiB of private memory.
import { isMap, isNode, isScalar, visit, type Document, type Pair } from 'yaml'
import { parseYaml } from '../lib/yaml-document.ts'
import type { Problem } from './problem.ts'
import { KEYS, SECTION_NAMES } from './schema.ts'
import { DETECTORS } from './detector-settings.ts'
import { unknownKey, type Setting } from './setting.ts'

export type FileContent = { readonly settings: readonly Setting[]; readonly problems: readonly Problem[] }

/** Aliases without an anchor before them, by their offset; the parser itself throws at them only where their value is asked for. */
function danglingAliases(document: Document): readonly { readonly name: string; readonly offset: number | undefined }[] {
  const anchors = new Set<string>()
  const found: { readonly name: string; readonly offset: number | undefined }[] = []
  visit(document, {
    Value: (_, node) => void (node.anchor === undefined ? undefined : anchors.add(node.anchor)),
    Alias: (_, { source, range }) => void (anchors.has(source) ? undefined : found.push({ name: source, offset: range?.[0] })),
  })
  return found
}

/** `name` is how the file is called in messages. */
export function readFileSettings(text: string, name: string): FileContent {
  const { document, lineAt, problems: found } = parseYaml(text, { version: '1.2' })
  const settings: Setting[] = []
  const problems: Problem[] = found.map((problem) => ({ where: `${name}:${problem.line}`, text: `not valid YAML: ${problem.text}` }))
  if (document === undefined || problems.length > 0) return { settings, problems }
  const at = (offset: number | undefined): string => (offset === undefined ? name : `${name}:${lineAt(offset)}`)
  for (const { name: alias, offset } of danglingAliases(document))
    problems.push({ where: at(offset), text: `not valid YAML: the alias *${alias} has no anchor &${alias} before it` })
  const { contents } = document
  if (problems.length > 0 || contents === null || (isScalar(contents) && contents.value === null)) return { settings, problems }
  if (!isMap(contents))
    return { settings, problems: [{ where: at(contents.range?.[0]), text: 'must have keys such as "http:" at the top, not a list or a single value' }] }

  const plain = (node: unknown): unknown => {
    if (!isNode(node)) return null
    try {
      return node.toJS(document)
    } catch (error) {
      // The parser's word for aliases that multiply ("a billion laughs"); that one means nothing was said above.
      if (!(error instanceof ReferenceError)) throw error
      problems.push({ where: at(node.range?.[0]), text: `not valid YAML: ${error.message}` })
      return null
    }
  }
  const keyOf = (pair: Pair): { readonly key: string; readonly where: string } => ({
    key: isScalar(pair.key) ? String(pair.key.value) : '(a key that is no text)',
    where: isScalar(pair.key) ? at(pair.key.range?.[0]) : name,
  })
  /** Of the innermost part of `path` that the file holds. */
  const placeOf = (path: readonly (string | number)[]): string => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return at(node.range[0])
    }
    return name
  }
  const setting = (path: readonly string[], value: unknown, where: string): void =>
    void settings.push({ path: path.join('.'), value: plain(value), where, at: (part) => (part.length === 0 ? where : placeOf([...path, ...part])) })
  for (const top of contents.items) {
    const { key, where } = keyOf(top)
    if (key === DETECTORS && isMap(top.value)) {
      // A group in a group: each figure has its line.
      for (const inner of top.value.items) {
        const { key: id, where: idWhere } = keyOf(inner)
        if (!isMap(inner.value) || inner.value.items.length === 0) setting([key, id], inner.value, idWhere)
        else for (const figure of inner.value.items) setting([key, id, keyOf(figure).key], figure.value, keyOf(figure).where)
      }
    } else if (key === DETECTORS && plain(top.value) === null) continue
    else if (!SECTION_NAMES.includes(key)) {
      if (isMap(top.value) && !KEYS.has(key)) problems.push(unknownKey(key, where))
      else setting([key], top.value, where)
    } else if (isMap(top.value)) {
      for (const inner of top.value.items) {
        const { key: innerKey, where: innerWhere } = keyOf(inner)
        setting([key, innerKey], inner.value, innerWhere)
      }
    } else if (plain(top.value) !== null) {
      // An empty section is one whose keys are all commented out.
      problems.push({ where, text: `${key}: must have keys below it, not a single value` })
    }
  }
  return { settings, problems }
}
