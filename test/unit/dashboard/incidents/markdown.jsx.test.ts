// Markdown as the page draws it: the elements that a runbook needs, and text for all else, so that nothing in a page can become markup.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isValidElement, type ComponentChildren, type VNode } from 'preact'
import { describe, expect, test } from 'vitest'
import { Markdown } from '../../../../dashboard/src/features/incidents/page/markdown.tsx'

type Drawn = string | { readonly tag: string; readonly href?: string; readonly children: readonly Drawn[] }

const isFunction = (type: VNode['type']): type is (props: object) => ComponentChildren => typeof type === 'function'

/** What a browser would be given: components called, fragments opened. */
function drawn(node: ComponentChildren): readonly Drawn[] {
  if (Array.isArray(node)) return node.flatMap((each: ComponentChildren) => drawn(each))
  if (typeof node === 'string' || typeof node === 'number') return [String(node)]
  if (!isValidElement(node)) return []
  const { type, props } = node
  if (isFunction(type)) return drawn(type(props))
  return [{ tag: String(type), ...('href' in props && { href: String(props.href) }), children: drawn(props.children) }]
}

const pageOf = (text: string): readonly Drawn[] => drawn(Markdown({ text }))
const textOf = (nodes: readonly Drawn[]): string => nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('')
const elementsOf = (nodes: readonly Drawn[]): readonly Exclude<Drawn, string>[] =>
  nodes.flatMap((node) => (typeof node === 'string' ? [] : [node, ...elementsOf(node.children)]))
const tagsOf = (nodes: readonly Drawn[]): readonly string[] => elementsOf(nodes).map(({ tag }) => tag)
const textsOf = (nodes: readonly Drawn[], wanted: string): readonly string[] =>
  elementsOf(nodes).flatMap(({ tag, children }) => (tag === wanted ? [textOf(children)] : []))

describe('Markdown', () => {
  test('has headings but its title, paragraphs over lines, lists with what belongs to their items, code, tables', () => {
    const page = pageOf(
      '# `a`: b\n\n## c\n\nOne\n*two*.\n\n- first\n\n  ```bash\n  x | y\n    z\n  ```\n\n- second\n  goes on\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| `c` | d \\| e |\n',
    )
    expect(page.map((node) => (typeof node === 'string' ? node : node.tag))).toEqual(['h4', 'p', 'ul', 'ol', 'div'])
    expect(textsOf(page, 'p')[0]).toBe('One\ntwo.')
    expect(textsOf(page, 'pre')).toEqual(['x | y\n  z'])
    expect(textsOf(page, 'li')).toEqual(['firstx | y\n  z', 'second\ngoes on', 'one', 'two'])
    expect(textsOf(page, 'th')).toEqual(['a', 'b'])
    expect(textsOf(page, 'td')).toEqual(['c', 'd | e'])
  })

  test('links to this agent only, below the page’s own place', () => {
    const links = elementsOf(pageOf('see [this](/runbooks/xid) and `[x](/y)`')).filter(({ tag }) => tag === 'a')
    expect(links).toEqual([{ tag: 'a', href: './runbooks/xid', children: ['this'] }])
  })

  test.each([
    '[x](javascript:alert(1))',
    '[x](//evil.example)',
    '[x](https://evil.example)',
    '[x](/\\evil.example)',
    'https://evil.example/x',
    '<https://evil.example/x>',
    '![x](/y.png)',
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    'a <b onclick="alert(1)">b</b> c',
    '<div>\n<style>*{}</style>\n</div>',
    '&lt;b&gt; & "quoted"',
  ])('leaves as text what is no element of a runbook: %s', (evil) => {
    const page = pageOf(evil)
    expect(tagsOf(page).filter((tag) => tag !== 'p')).toEqual([])
    expect(textOf(page)).toBe(evil)
  })

  const folder = join(import.meta.dirname, '../../../../alerts/runbooks')
  const runbooks = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  test.each(runbooks)('understands %s whole', (_name, text) => {
    const page = pageOf(text)
    expect(textsOf(page, 'pre')).toHaveLength((text.match(/^ *```/gm) ?? []).length / 2)
    expect(textsOf(page, 'table')).toHaveLength((text.match(/^\|[-| ]+\|$/gm) ?? []).length)
    const left = textsOf(page, 'p').filter((line) => /^(?:[-|#]|```)|`/.test(line))
    expect(left).toEqual([])
  })
})
