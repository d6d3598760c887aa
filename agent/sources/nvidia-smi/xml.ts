// Reads the XML of `nvidia-smi -q -x` into a tree: the subset that nvidia-smi prints, strictly, with bounds, and without entities from a DTD.
// Own reader because of cost: fast-xml-parser needs 41 ms and 7.6 MiB to load and 10 ms for eight B200 (357 KB), this one 1.5 ms; the tests hold both against each other.
import type { TreeNode } from './tree.ts'

export type XmlResult = { readonly root: TreeNode } | { readonly error: string }

/** Sixteen B200 print 0.7 MB. */
const MAX_CHARS = 16 * 2 ** 20
/** nvidia-smi nests 7 deep (R610). */
const MAX_DEPTH = 32
/** Hundreds of lines per GPU that are not needed. */
const SKIPPED = new Set(['supported_clocks'])
/** Command lines are printed as they are, with `<` and `&` unescaped by some versions: all up to the closing tag is text. */
const RAW = new Set(['process_name'])

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes the five entities of XML and character references; whatever else begins with `&` stays as it is. */
function decode(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));/g, (whole, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

type Open = { readonly name: string; readonly id?: string; text: string; readonly children: TreeNode[] }
const TAG = /^([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(\/)?$/
const ID = /\sid\s*=\s*(?:"([^"]*)"|'([^']*)')/

export function readXml(text: string): XmlResult {
  if (text.length > MAX_CHARS) return { error: `XML of ${text.length} characters; expected at most ${MAX_CHARS}` }
  const top: Open = { name: '', text: '', children: [] }
  const stack: Open[] = [top]
  let at = 0
  const fail = (what: string): XmlResult => ({ error: `XML: ${what} at character ${at}` })
  /** Moves behind the next `mark`; false when there is none. */
  const skipPast = (mark: string, from: number): boolean => {
    const end = text.indexOf(mark, from)
    if (end < 0) return false
    at = end + mark.length
    return true
  }
  for (;;) {
    const open = text.indexOf('<', at)
    const parent = stack.at(-1) ?? top
    const between = open < 0 ? text.slice(at) : text.slice(at, open)
    if (between.trim() !== '') {
      if (parent === top) return fail(`there is text outside of the root element: ${JSON.stringify(between.trim().slice(0, 40))}`)
      parent.text += between
    }
    if (open < 0) break
    at = open
    if (text.startsWith('<!--', open)) {
      if (!skipPast('-->', open + 4)) return fail('comment without end')
      continue
    }
    const end = text.indexOf('>', open)
    if (end < 0) return fail('tag without end: the output is cut off')
    const inside = text.slice(open + 1, end)
    at = end + 1
    if (inside.startsWith('?')) continue
    if (inside.startsWith('!')) {
      if (!inside.startsWith('!DOCTYPE') || inside.includes('[')) return fail(`a declaration is no plain DOCTYPE: <${inside.slice(0, 40)}`)
      continue
    }
    if (inside.startsWith('/')) {
      const name = inside.slice(1).trim()
      if (stack.length < 2 || parent.name !== name) return fail(`<${parent.name}> is closed by </${name.slice(0, 40)}>`)
      stack.pop()
      const { id, children } = parent
      ;(stack.at(-1) ?? top).children.push({ name, ...(id === undefined ? {} : { id }), text: decode(parent.text.trim()), children })
      continue
    }
    const tag = TAG.exec(inside)
    const name = tag?.[1]
    if (tag === null || name === undefined) return fail(`this is no tag: <${inside.slice(0, 40)}>`)
    if (stack.length === 1 && top.children.length > 0) return fail(`there is a second root element, <${name}>`)
    const idMatch = ID.exec(inside)
    const idText = idMatch?.[1] ?? idMatch?.[2]
    const node: Open = { name, ...(idText === undefined ? {} : { id: decode(idText) }), text: '', children: [] }
    if (tag[2] !== undefined) {
      parent.children.push(node)
    } else if (SKIPPED.has(name)) {
      if (!skipPast(`</${name}>`, at)) return fail(`<${name}> without end`)
    } else if (RAW.has(name)) {
      const from = at
      if (!skipPast(`</${name}>`, at)) return fail(`<${name}> without end`)
      parent.children.push({ ...node, text: decode(text.slice(from, at - name.length - 3).trim()) })
    } else {
      if (stack.length > MAX_DEPTH) return fail(`more than ${MAX_DEPTH} levels`)
      stack.push(node)
    }
  }
  if (stack.length > 1) return fail(`<${stack.at(-1)?.name ?? ''}> without end: the output is cut off`)
  const root = top.children[0]
  return root === undefined ? { error: 'XML without an element' } : { root }
}
