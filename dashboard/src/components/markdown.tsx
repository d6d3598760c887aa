// Markdown as elements: only ever text, so nothing in it can become markup of the page.
import type { Block, Inline } from '../text/markdown.ts'

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

function One({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      // Below the page's own headings, which go to the third level.
      return block.level <= 1 ? (
        <h3>
          <Inlines of={block.inlines} />
        </h3>
      ) : (
        <h4>
          <Inlines of={block.inlines} />
        </h4>
      )
    case 'paragraph':
      return (
        <p>
          <Inlines of={block.inlines} />
        </p>
      )
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'list': {
      const items = block.items.map((item, i) => (
        <li key={i}>
          <Markdown blocks={item} />
        </li>
      ))
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return (
        <div class="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell, i) => (
                  <th key={i} scope="col">
                    <Inlines of={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, i) => (
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
