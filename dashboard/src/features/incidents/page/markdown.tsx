// Markdown as elements of the page. `marked` reads it; what is drawn is made here and is only ever text, so nothing in it can become markup of the page.
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'

/** Of this agent only: a path from its root, never another host (`//host`) or scheme. */
const OWN_PATH = /^\/(?![/\\])/

/** Other tokens come from extensions, of which there are none. */
const known = (tokens: readonly Token[]): readonly MarkedToken[] => tokens.filter((token): token is MarkedToken => token.type !== 'space')

function Link({ of: { href, raw, tokens } }: { readonly of: Tokens.Link }) {
  if (!OWN_PATH.test(href)) return <>{raw}</>
  // From the page's own place, which behind a proxy is not the root.
  return (
    <a href={`.${href}`}>
      <All of={tokens} />
    </a>
  )
}

function List({ of: { ordered, items } }: { readonly of: Tokens.List }) {
  const children = items.map((item, i) => (
    <li key={i}>
      <All of={item.tokens} />
    </li>
  ))
  return ordered ? <ol>{children}</ol> : <ul>{children}</ul>
}

function Table({ of: { header, rows } }: { readonly of: Tokens.Table }) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            {header.map((cell, i) => (
              <th key={i} scope="col">
                <All of={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>
                  <All of={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What has no element here, HTML and images among them, stands as it was written. */
function One({ of: token }: { readonly of: MarkedToken }): ComponentChildren {
  switch (token.type) {
    case 'heading':
      // Below the page's own headings, which go to the third level.
      return token.depth <= 1 ? (
        <h3>
          <All of={token.tokens} />
        </h3>
      ) : (
        <h4>
          <All of={token.tokens} />
        </h4>
      )
    case 'paragraph':
      return (
        <p>
          <All of={token.tokens} />
        </p>
      )
    case 'list':
      return <List of={token} />
    case 'table':
      return <Table of={token} />
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      )
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return <Link of={token} />
    case 'strong':
      return (
        <strong>
          <All of={token.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <All of={token.tokens} />
        </em>
      )
    case 'text':
      return token.tokens === undefined ? token.text : <All of={token.tokens} />
    case 'escape':
      return token.text
    case 'html':
    case 'image':
    case 'blockquote':
    case 'br':
    case 'checkbox':
    case 'def':
    case 'del':
    case 'hr':
    case 'list_item':
    case 'space':
      return token.raw
    default:
      return token satisfies never
  }
}

const All = ({ of }: { readonly of: readonly Token[] }) => (
  <>
    {known(of).map((token, i) => (
      <One key={i} of={token} />
    ))}
  </>
)

/** A page without its own title. */
export function Markdown({ text }: { readonly text: string }) {
  return <All of={lexer(text).filter((token) => token.type !== 'heading' || token.depth !== 1)} />
}
