// A command to copy: a line may end between its words, not behind the hyphens of a flag, where a browser would end it ("--" and "format=…").

export const Command = ({ text }: { readonly text: string }) => (
  <code>
    {text.split(/(\s+)/).map((word, i) =>
      word.includes('-') ? (
        <span key={i} class="whole">
          {word}
        </span>
      ) : (
        word
      ),
    )}
  </code>
)
