// Asks for the agent's access token, and says where it is found.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useToken } from '../parts/connection/connection.ts'

export function TokenForm({ rejected }: { readonly rejected: boolean }) {
  const [value, setValue] = useState('')
  const field = useRef<HTMLInputElement>(null)
  // `autofocus` counts once for a page: after a wrong token the form is a new one.
  useEffect(() => field.current?.focus(), [])
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
            ref={field}
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Connect</button>
      </div>
      <p>
        No token at hand? Look on the host: <code>sudo grep -A4 '^http:' /etc/warpwatch/warpwatch.yaml</code>
      </p>
      <p>
        Of a container: <code>docker inspect warpwatch | grep WARPWATCH_HTTP__TOKEN</code>
      </p>
    </form>
  )
}
