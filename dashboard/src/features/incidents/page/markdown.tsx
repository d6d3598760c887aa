// Markdown as elements: only ever text, so nothing in it can become markup of the page.
import type { Block, Inline } from '../../../text/markdown.ts'

function Inlines({ of }: { readonly of: readonly Inline[] }) {
  return (
    <>
      {of.map((one, i) => {
        if (one.kind === 'text') return one.text
        if (one.kind === 'code') return <code key={i}>{one.text}</code>
        // From the page's own place, which behind a proxy is not the root.
        return (
          <a key={i} href={`.${one.href}`}>
            {one.text}
          </a>
        )
      })}
    </>
  )
}

type Of<Kind extends Block['kind']> = { readonly block: Extract<Block, { readonly kind: Kind }> }

function List({ block: { ordered, items } }: Of<'list'>) {
  const children = items.map((item, i) => (
    <li key={i}>
      <Markdown blocks={item} />
    </li>
  ))
  return ordered ? <ol>{children}</ol> : <ul>{children}</ul>
}

function Table({ block: { head, rows } }: Of<'table'>) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                <Inlines of={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>
                  <Inlines of={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function One({ block }: { readonly block: Block }) {
  if (block.kind === 'list') return <List block={block} />
  if (block.kind === 'table') return <Table block={block} />
  if (block.kind === 'code')
    return (
      <pre tabIndex={0}>
        <code>{block.text}</code>
      </pre>
    )
  const words = <Inlines of={block.inlines} />
  if (block.kind === 'paragraph') return <p>{words}</p>
  // Below the page's own headings, which go to the third level.
  return block.level <= 1 ? <h3>{words}</h3> : <h4>{words}</h4>
}

export function Markdown({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, i) => (
        <One key={i} block={block} />
      ))}
    </>
  )
}
