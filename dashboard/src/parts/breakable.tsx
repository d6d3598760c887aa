// A name or path that may be broken behind its slashes: where none fits into a line, a browser would break within a word.
import { Fragment } from 'preact'

export function Breakable({ text }: { readonly text: string }) {
  const parts = text.split(/(?<=[/ ])/)
  if (parts.length === 1) return <>{text}</>
  return (
    <>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
  )
}
