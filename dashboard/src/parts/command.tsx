// Commands and flags where a line may end between words, not behind the hyphens of a flag, where a browser would end it ("--" and "format=…").
import { wholeFigures } from '../text/whole.ts'

const Whole = ({ text }: { readonly text: string }) => <span class="whole">{text}</span>

/** A command to copy. */
export const Command = ({ text }: { readonly text: string }) => (
  <code>{text.split(/(\s+)/).map((word, i) => (word.includes('-') ? <Whole key={i} text={word} /> : word))}</code>
)

/** A sentence that may name flags. */
export const Sentence = ({ text }: { readonly text: string }) => (
  <>
    {wholeFigures(text)
      .split(/(--\w\S*)/)
      .map((part, i) => (i % 2 === 1 ? <Whole key={i} text={part} /> : part))}
  </>
)
