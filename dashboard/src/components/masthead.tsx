// The page's head: which host, which driver, whether what is shown is the present.
import { agentNow, clock, connection, frame, hello, silence, stale } from '../state/app.ts'
import { connect } from '../state/connection.ts'
import { theme, toggleTheme } from '../state/theme.ts'
import { age, timeWithSeconds, zoneName } from '../text/format.ts'
import { gpuModels } from '../text/names.ts'

type Pill = { readonly state: 'live' | 'wait' | 'bad'; readonly text: string }

function pill(): Pill {
  const now = connection.value
  switch (now.state) {
    case 'live':
      if (stale.value) return { state: 'bad', text: `stale, silent for ${age(silence.value)}` }
      return { state: 'live', text: 'live' }
    case 'connecting':
      return { state: 'wait', text: frame.value === undefined ? 'connecting' : 'reconnecting' }
    case 'waiting':
      return { state: 'bad', text: `reconnecting in ${Math.max(0, Math.ceil((now.retryAtMs - clock.value) / 1000))} s` }
    case 'unauthorized':
      return { state: 'bad', text: 'token needed' }
    default:
      return now satisfies never
  }
}

function ConnectionPill() {
  const { state, text } = pill()
  const waiting = connection.value.state === 'waiting'
  return (
    <span class={`pill ${state}`} data-connection={stale.value && connection.value.state === 'live' ? 'stale' : connection.value.state}>
      <span class="dot" aria-hidden="true" />
      {/* Only the state is announced, not each second of a countdown. */}
      <span aria-hidden="true">{text}</span>
      <span class="spoken" role="status">
        {state === 'live' ? 'live' : waiting ? 'disconnected, reconnecting' : state}
      </span>
      {waiting && (
        <button type="button" class="now" onClick={() => void connect()}>
          now
        </button>
      )}
    </span>
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export function Masthead() {
  const now = frame.value
  const gpus = now?.gpus ?? hello.value?.gpus ?? []
  const driver = textOf(now?.host['driver_version']) ?? gpus.map((gpu) => textOf(gpu['driver_version'])).find((found) => found !== undefined)
  const cuda = gpus.map((gpu) => textOf(gpu['cuda_version'])).find((found) => found !== undefined)
  const models = gpuModels(gpus.flatMap((gpu) => gpu.name ?? []))
  const facts = [models, driver === undefined ? '' : `driver ${driver}`, cuda === undefined ? '' : `CUDA ${cuda}`].filter((fact) => fact !== '')
  return (
    <header class="masthead">
      <div class="identity">
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M3 10l6 13 7-15 7 15 6-13" />
        </svg>
        <div>
          <h1>{hello.value?.host ?? now?.host.hostname ?? 'Warpwatch'}</h1>
          <p class="facts">
            {facts.map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </p>
        </div>
      </div>
      <div class="instruments">
        {hello.value?.simulated === true && (
          <span class="pill simulated" title="These figures are made up: the agent runs with --simulate">
            simulated
          </span>
        )}
        <ConnectionPill />
        <time class="now-time" dateTime={new Date(agentNow.value).toISOString()}>
          {timeWithSeconds(agentNow.value)} <span class="unit">{zoneName(agentNow.value)}</span>
        </time>
        <button type="button" class="theme" onClick={toggleTheme} aria-label={theme.value === 'dark' ? 'switch to light colours' : 'switch to dark colours'}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <circle cx="10" cy="10" r="6.5" />
            <path d="M10 3.5a6.5 6.5 0 0 1 0 13z" class="half" />
          </svg>
        </button>
      </div>
    </header>
  )
}
