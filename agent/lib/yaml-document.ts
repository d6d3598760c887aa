// YAML from outside, in bounded time. The YAML library needs exponential time for what is nested deeply without an end (`{{{{…`, `? ? ? …`), before it
// says that it is wrong, and compares each key of a map with all before it. So a text that is deeper than any ordinary file is refused before it is parsed,
// and keys that repeat are looked for here.
import { isMap, isScalar, LineCounter, parseDocument, visit, type Document, type DocumentOptions, type ParseOptions, type SchemaOptions } from 'yaml'

/** Ordinary files have up to ten levels. */
const MOST_LEVELS = 200
const MOST_KEYS_IN_A_ROW = /(?:\?\s+){50}/

export type YamlProblem = { readonly text: string; readonly line: number }
export type YamlText = {
  /** Undefined where the text must not reach the parser. */
  readonly document?: Document
  /** Line of an offset, from 1. */
  readonly lineAt: (offset: number) => number
  /** In the order of their lines; at most `MOST_PROBLEMS`, and one that counts the rest. */
  readonly problems: readonly YamlProblem[]
}
/** What a person can make use of: a file that is no YAML at all has as many errors as lines. */
const MOST_PROBLEMS = 20

function tooDeep(text: string): YamlProblem | undefined {
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x7b /* { */ || code === 0x5b /* [ */) level++
    else if ((code === 0x7d /* } */ || code === 0x5d) /* ] */ && level > 0) level--
    if (level > MOST_LEVELS) return { text: `more than ${MOST_LEVELS} levels of { and [`, line: lineOf(at) }
  }
  const keys = MOST_KEYS_IN_A_ROW.exec(text)
  return keys === null ? undefined : { text: '50 times "?" in a row without a key', line: lineOf(keys.index) }
}

function repeatedKeys(document: Document, lineAt: (offset: number) => number): readonly YamlProblem[] {
  const problems: YamlProblem[] = []
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (keys.has(key.value)) problems.push({ text: `Map keys must be unique: ${String(key.value).slice(0, 60)}`, line: lineAt(key.range?.[0] ?? 0) })
        keys.add(key.value)
      }
    },
  })
  return problems
}

export function parseYaml(text: string, options: ParseOptions & DocumentOptions & SchemaOptions = {}): YamlText {
  const counter = new LineCounter()
  const lineAt = (offset: number): number => counter.linePos(offset).line || 1
  const deep = tooDeep(text)
  if (deep !== undefined) return { lineAt, problems: [deep] }
  const document = parseDocument(text, { ...options, lineCounter: counter, prettyErrors: false, uniqueKeys: false })
  const problems = document.errors.map(({ message, pos }) => ({ text: message.replaceAll('\n', ' '), line: lineAt(pos[0]) }))
  // What is no map at all repeats itself in each line; its keys are of no interest then.
  const all = problems.length > 0 || !isMap(document.contents) ? problems : repeatedKeys(document, lineAt)
  const more = all.length - MOST_PROBLEMS
  return {
    document,
    lineAt,
    problems: more > 0 ? [...all.slice(0, MOST_PROBLEMS), { text: `and ${more} more like these`, line: all[MOST_PROBLEMS]?.line ?? 1 }] : all,
  }
}
