// The page: head, status, navigation, and the view that the address names.
import { useState } from 'preact/hooks'
import { useToken } from '../parts/connection/connection.ts'
import { connection } from '../parts/live/state.ts'
import { CurrentView } from './current-view.tsx'
import { Masthead } from './masthead.tsx'
import { Navigation } from './navigation.tsx'
import { StatusLine } from './status-line.tsx'

function Content() {
  const now = connection.value
  if (now.state === 'unauthorized') return <TokenForm key={String(now.rejected)} rejected={now.rejected} />
  return <CurrentView />
}

/** Past head and navigation, for those who go from control to control. It is no address: `#…` names the view. */
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector('main')?.focus()
}

export function Page() {
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <div class="top">
        <Masthead />
        <div class="bar">
          <Navigation />
          <StatusLine />
        </div>
      </div>
      <main tabIndex={-1}>
        <Content />
      </main>
    </>
  )
}

function TokenForm({ rejected }: { readonly rejected: boolean }) {
  const [value, setValue] = useState('')
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault()
        if (value !== '') useToken(value)
      }}
    >
      <h2>This agent asks for a token</h2>
      <p>
        It is <code>http.token</code> in the agent’s configuration. Kept in this tab until you close it.
      </p>
      {rejected && (
        <p class="bad" role="alert">
          The agent does not know that token.
        </p>
      )}
      <div class="field">
        <label>
          Token
          <input
            type="password"
            autofocus
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Connect</button>
      </div>
    </form>
  )
}
