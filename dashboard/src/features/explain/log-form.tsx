// The empty page: a field for a log, a file, or an example.
import { useRef } from 'preact/hooks'
import { draft, explainFile, explainText } from './state.ts'
import { EXAMPLE } from './example.ts'

export function LogForm() {
  const file = useRef<HTMLInputElement>(null)
  return (
    <form
      class="log-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (draft.peek().trim() !== '') explainText(draft.peek())
      }}
    >
      <header>
        <h2 id="explain-title">What went wrong?</h2>
        <p>
          Paste the log of a job that failed, or drop its file here. It is read by your browser: nothing of it leaves this page, and the answer is that of{' '}
          <code>warpwatch explain</code>.
        </p>
      </header>
      <textarea
        name="log"
        aria-labelledby="explain-title"
        placeholder="Paste it here …"
        spellcheck={false}
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
      <div class="buttons">
        <button type="submit" class="strong" disabled={draft.value.trim() === ''}>
          Explain
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          Choose a file …
        </button>
        <input
          ref={file}
          type="file"
          name="file"
          hidden
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0]
            if (chosen !== undefined) explainFile(chosen)
          }}
        />
        <button type="button" onClick={() => explainText(EXAMPLE, 'example')}>
          Show an example
        </button>
        <span class="hint">
          <span class="keys">Ctrl+Enter explains. </span>Any size: a file is read piece by piece.
        </span>
      </div>
    </form>
  )
}
