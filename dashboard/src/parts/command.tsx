// Commands and flags where a line may end between words, not behind the hyphens of a flag, where a browser would end it ("--" and "format=…").
import { Fragment } from 'preact'
import { wholeParts } from '../text/whole.ts'

/** One that is longer than a line ends it behind a comma, a slash or the like, not within a word. */
const Whole = ({ text }: { readonly text: string }) => (
  <span class="whole">
    {text.split(/(?<=[,=|/])/).map((part, i) => (
      <Fragment key={i}>
        {i > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </span>
)

/** A command to copy. */
export const Command = ({ text }: { readonly text: string }) => (
  <code>{text.split(/(\s+)/).map((word, i) => (/[-=|/]/.test(word) ? <Whole key={i} text={word} /> : word))}</code>
)

/** Not a box of its own, which a link's underline would leave out. */
const Figure = ({ text }: { readonly text: string }) => <span style={{ whiteSpace: 'nowrap' }}>{text}</span>

/** A sentence or a title that may name figures and flags. */
export const Sentence = ({ text }: { readonly text: string }) => (
  <>{wholeParts(text).map((part, i) => (i % 2 === 0 ? part : part.startsWith('-') ? <Whole key={i} text={part} /> : <Figure key={i} text={part} />))}</>
)
