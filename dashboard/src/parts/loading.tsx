// What stands in the place of the cards: loading, no agent, no GPU, a token that is needed.
import { useState } from 'preact/hooks'
import type { GapRow } from '../../../agent/model/live.ts'
import { connection, frame } from './live/state.ts'
import { useToken } from './connection/connection.ts'
import { gapWords } from '../text/words.ts'

export function TokenForm({ rejected }: { readonly rejected: boolean }) {
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

export function Loading() {
  const waiting = connection.value.state === 'waiting'
  return (
    <div class="notice" role="status">
      <h2>{waiting ? 'The agent does not answer' : 'Waiting for the first readings'}</h2>
      <p>
        {waiting
          ? 'This page keeps trying. If it stays so, look whether the agent runs and whether your tunnel to it stands.'
          : 'They come within a second or two of the agent being up.'}
      </p>
      <div class="skeletons" aria-hidden="true">
        {Array.from({ length: 4 }, (_, i) => (
          <span key={i} class={waiting ? 'skeleton' : 'skeleton pulsing'} />
        ))}
      </div>
    </div>
  )
}

/** No GPU: why comes from the host’s gaps, and from nowhere else. */
export function NoGpu() {
  const gaps: readonly GapRow[] = (frame.value?.host.gaps ?? []).filter((gap) => /gpu|nvml|nvidia/i.test(`${gap.measure} ${gap.detail ?? ''}`))
  return (
    <div class="notice">
      <h2>No NVIDIA GPU to watch</h2>
      {gaps.length === 0 ? (
        <p>
          No GPU is read on this host; the <a href="#/doctor">Doctor</a> says why.
        </p>
      ) : (
        <ul class="tried">
          {gaps.map((gap) => (
            <li key={`${gap.measure} ${gap.reason} ${gap.detail ?? ''}`}>{gap.detail ?? `${gap.measure}: ${gapWords(gap.reason)}`}</li>
          ))}
        </ul>
      )}
      <p>
        To see the dashboard at work without one: <code>npm start -- --simulate</code>
      </p>
    </div>
  )
}
