// The configuration file: YAML to settings, each with its line. Loaded only where a file is there, since the parser costs 1.3 MiB of private memory.
import { isMap, isNode, isScalar, LineCounter, parseDocument, type Pair } from 'yaml'
import type { Problem } from './problem.ts'
import { KEYS, SECTION_NAMES } from './schema.ts'
import { unknownKey, type Setting } from './setting.ts'

export type FileContent = { readonly settings: readonly Setting[]; readonly problems: readonly Problem[] }

/** `name` is how the file is called in messages. */
export function readFileSettings(text: string, name: string): FileContent {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' })
  const settings: Setting[] = []
  const problems: Problem[] = []
  const at = (offset: number | undefined): string => (offset === undefined ? name : `${name}:${lines.linePos(offset).line}`)
  for (const error of document.errors) problems.push({ where: at(error.pos[0]), text: `not valid YAML: ${error.message}` })
  const { contents } = document
  if (problems.length > 0 || contents === null || (isScalar(contents) && contents.value === null)) return { settings, problems }
  if (!isMap(contents)) return { settings, problems: [{ where: at(contents.range[0]), text: 'expected keys such as "http:" at the top, came something else' }] }

  const plain = (node: unknown): unknown => (isNode(node) ? node.toJS(document) : null)
  const keyOf = (pair: Pair): { readonly key: string; readonly where: string } => ({
    key: isScalar(pair.key) ? String(pair.key.value) : '(a key that is no text)',
    where: isScalar(pair.key) ? at(pair.key.range?.[0]) : name,
  })
  for (const top of contents.items) {
    const { key, where } = keyOf(top)
    if (!SECTION_NAMES.includes(key)) {
      if (isMap(top.value) && !KEYS.has(key)) problems.push(unknownKey(key, where))
      else settings.push({ path: key, value: plain(top.value), where })
    } else if (isMap(top.value)) {
      for (const inner of top.value.items) {
        const { key: innerKey, where: innerWhere } = keyOf(inner)
        settings.push({ path: `${key}.${innerKey}`, value: plain(inner.value), where: innerWhere })
      }
    } else if (plain(top.value) !== null) {
      // An empty section is one whose keys are all commented out.
      problems.push({ where, text: `${key}: expected keys below it, came a single value` })
    }
  }
  return { settings, problems }
}
