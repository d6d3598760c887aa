// A compose file, parsed with the line of each of its parts; what it means is for the checks.
import { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { errnoName } from '../../attribution/small-file.ts'
import type { HostFiles } from './host-files.ts'

export type ComposePath = readonly (string | number)[]
export type ComposeFile = {
  /** As it was given. */
  readonly path: string
  /** Why it could not be read or parsed, with the line; `value` is then undefined. */
  readonly problem?: string
  /** Plain data with anchors and merge keys put in. */
  readonly value: unknown
  /** Of the part, or of the nearest part around it that is written in this file; from 1. */
  readonly lineOf: (path: ComposePath) => number | undefined
  /** Its text by lines. */
  readonly lines: readonly string[]
}

const MAX_BYTES = 1024 * 1024
/** Against billion-laughs: more aliases than any real file has (`yaml`'s own default). */
const MAX_ALIASES = 100

function lineFinder(document: Document, counter: LineCounter): ComposeFile['lineOf'] {
  const lineAt = (offset: number | undefined): number | undefined => (offset === undefined ? undefined : counter.linePos(offset).line)
  const resolve = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node)
  return (path) => {
    let node: unknown = document.contents
    let line = lineAt(document.contents?.range?.[0])
    for (const key of path) {
      const here = resolve(node)
      if (!isCollection(here)) return line
      if (isMap(here)) {
        const pair = here.items.find(({ key: own }) => isScalar(own) && String(own.value) === String(key))
        // The key's line: that is where a reader looks, and a value may stand below.
        if (pair === undefined) return line
        line = lineAt(isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? line
        node = pair.value
        continue
      }
      const item = here.items[Number(key)]
      if (item === undefined) return line
      line = lineAt(isNode(item) ? item.range?.[0] : undefined) ?? line
      node = item
    }
    return line
  }
}

export function parseComposeFile(path: string, text: string): ComposeFile {
  const counter = new LineCounter()
  const lines = text.split('\n')
  const failed = (problem: string): ComposeFile => ({ path, problem, value: undefined, lineOf: () => undefined, lines })
  // As Compose itself: YAML 1.2 with merge keys, tags such as !reset and !override kept as they are.
  const document = parseDocument(text, { lineCounter: counter, merge: true, logLevel: 'silent', prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) return failed(`line ${counter.linePos(error.pos[0]).line}: ${error.message}`)
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return { path, value, lineOf: lineFinder(document, counter), lines }
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

/** Never rejects: a file that cannot be read is a finding, not an end. */
export async function readComposeFile(path: string, files: HostFiles): Promise<ComposeFile> {
  const failed = (problem: string): ComposeFile => ({ path, problem, value: undefined, lineOf: () => undefined, lines: [] })
  try {
    const text = await files.readText(path, MAX_BYTES + 1)
    if (text === undefined) return failed('expected a file, found none')
    if (Buffer.byteLength(text) > MAX_BYTES) return failed(`expected at most ${MAX_BYTES} bytes, came more`)
    return parseComposeFile(path, text)
  } catch (error) {
    return failed(errnoName(error) ?? (error instanceof Error ? error.message : String(error)))
  }
}
