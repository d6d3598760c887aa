// The little Markdown of the runbooks as plain data: headings, paragraphs, lists, code, tables, inline code and links. Nothing in it can become markup.

export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] }

const INLINE = /(`+)(.+?)\1(?!`)|\[([^\]]+)\]\(([^)\s]+)\)/g
/** Of this agent only: a path from its root, never another host (`//host`) or scheme. */
const OWN_PATH = /^\/(?![/\\])/
const ITEM = /^(?:[-*]|\d+\.) +/
const SPECIAL = /^(?:#{1,6} |```|\||(?:[-*]|\d+\.) )/

export function inlinesOf(text: string): readonly Inline[] {
  const found: Inline[] = []
  let at = 0
  const plain = (to: number): void => {
    if (to > at) found.push({ kind: 'text', text: text.slice(at, to) })
  }
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, label, href] = match
    plain(match.index)
    if (code !== undefined) found.push({ kind: 'code', text: code.trim() })
    else if (label !== undefined && href !== undefined && OWN_PATH.test(href)) found.push({ kind: 'link', text: label, href })
    else found.push({ kind: 'text', text: whole })
    at = match.index + whole.length
  }
  plain(text.length)
  return found
}

/** Cells of a table's line; a `|` within a cell is written `\|`. */
const cellsOf = (line: string): readonly (readonly Inline[])[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlinesOf(cell.trim().replaceAll('\\|', '|')))

export function blocksOf(markdown: string): readonly Block[] {
  const lines = markdown.split(/\r?\n/)
  const blocks: Block[] = []
  let at = 0
  const take = (belongs: (line: string) => boolean): string[] => {
    const taken: string[] = []
    for (let line = lines[at]; line !== undefined && belongs(line); line = lines[++at]) taken.push(line)
    return taken
  }
  for (let line = lines[at]; line !== undefined; line = lines[at]) {
    const heading = /^(#{1,6}) +(.*)$/.exec(line)
    if (line.trim() === '') at++
    else if (heading !== null) {
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, inlines: inlinesOf(heading[2] ?? '') })
      at++
    } else if (line.startsWith('```')) {
      at++
      blocks.push({ kind: 'code', text: take((each) => !each.startsWith('```')).join('\n') })
      at++
    } else if (line.startsWith('|')) {
      const [head = '', , ...rows] = take((each) => each.startsWith('|'))
      blocks.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) })
    } else if (ITEM.test(line)) {
      const ordered = /^\d/.test(line)
      const items: (readonly Block[])[] = []
      for (let item = lines[at]; item !== undefined && ITEM.test(item) && /^\d/.test(item) === ordered; item = lines[at]) {
        at++
        const marker = ITEM.exec(item)?.[0].length ?? 2
        // What belongs to the item stands indented below it, after an empty line perhaps.
        const more = take((each) => /^ {2,}\S/.test(each) || (each.trim() === '' && /^ {2,}\S/.test(lines[at + 1] ?? '')))
        items.push(blocksOf([item.slice(marker), ...more.map((each) => each.replace(new RegExp(`^ {1,${marker}}`), ''))].join('\n')))
        take((each) => each.trim() === '' && ITEM.test(lines[at + 1] ?? ''))
      }
      blocks.push({ kind: 'list', ordered, items })
    } else {
      const first = lines[at++] ?? ''
      blocks.push({ kind: 'paragraph', inlines: inlinesOf([first, ...take((each) => each.trim() !== '' && !SPECIAL.test(each))].join(' ')) })
    }
  }
  return blocks
}
