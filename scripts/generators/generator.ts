// What a generator is: it makes whole files, or parts of pages, from declarations. `npm run generate` writes them; one test holds the tree equal to them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** Paths from the root of the repository to the whole text of each file. */
export type Files = ReadonlyMap<string, string>

export type Generator = {
  /**
   * Pure but for reading the repository: nothing of the machine or the time may reach a text.
   * `thorough` is false in the test: then a generator may take from the committed page what is slow to make.
   */
  readonly files: (thorough: boolean) => Files | Promise<Files>
  /** A folder whose files with this ending are all made here; others there are removed. */
  readonly owns?: { readonly folder: string; readonly ending: string; readonly but?: readonly string[] }
}

/** A page that is written by hand, in whole or in part. */
export function committed(path: string): string {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: write it first, since it is not made as a whole from declarations (CONTRIBUTING.md, "A new …")`, { cause: error })
  }
}

/** The lines between which `name` is on a page that is otherwise written by hand. */
export const bounds = (name: string): readonly [begin: string, end: string] => [
  `<!-- generated: ${name}. Do not edit; npm run generate writes it -->`,
  `<!-- end of ${name} -->`,
]

/** The committed page `path` with its generated part `name` replaced. */
export function withPart(path: string, name: string, text: string, page = committed(path)): string {
  const [begin, end] = bounds(name)
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${path} has no place for the generated part: add the lines ${begin} and ${end}, in this order`)
  return `${page.slice(0, before + begin.length)}\n\n${text.trim()}\n\n${page.slice(after)}`
}
