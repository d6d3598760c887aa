// The page's head: which host, which driver, whether what is shown is the present.
import { age } from '../../../agent/text/span.ts'
import { timeWithSeconds, zoneName } from '../../../agent/text/time.ts'
import { computed } from '@preact/signals'
import { agentNow, clock, connection, frame, hello, silence, stale, views } from '../parts/live/state.ts'
import { connect } from '../parts/connection/connection.ts'
import { theme, toggleTheme } from '../parts/theme.ts'
import { gpuModels } from '../text/names.ts'
import { openDialog } from './reach/opened.ts'

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
        <button type="button" class="now" onClick={connect}>
          now
        </button>
      )}
    </span>
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** What the host's GPUs are, and their driver, one fact a line. */
const facts = computed(() => {
  const now = frame.value
  const gpus = now?.gpus ?? hello.value?.gpus ?? []
  const driver = textOf(now?.host['driver_version']) ?? gpus.map((gpu) => textOf(gpu['driver_version'])).find((found) => found !== undefined)
  const cuda = gpus.map((gpu) => textOf(gpu['cuda_version'])).find((found) => found !== undefined)
  // One that is lost tells its name no more: what it told before counts, and without that it counts as one.
  const named = (views.value?.map(({ row }) => row) ?? gpus).flatMap(({ name }) => name ?? [])
  const unnamed = (views.value ?? gpus).length - named.length
  const models = [gpuModels(named), unnamed === 0 ? '' : `${unnamed} unnamed`].filter((part) => part !== '').join(', ')
  const all = [models, driver === undefined ? '' : `driver ${driver}`, cuda === undefined ? '' : `CUDA ${cuda}`]
  return all.filter((fact) => fact !== '').join('\n')
})
/** None will come: no room is kept for them. */
const factless = computed(() => facts.value === '' && (frame.value !== undefined || connection.value.state === 'unauthorized'))
const host = computed(() => hello.value?.host ?? frame.value?.host.hostname ?? 'Warpwatch')
const time = computed(() => timeWithSeconds(agentNow.value))
const dateTime = computed(() => new Date(agentNow.value).toISOString())
const zone = computed(() => zoneName(agentNow.value))

export function Masthead() {
  return (
    <header class="masthead">
      <div class="identity">
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M3 10l6 13 7-15 7 15 6-13" />
        </svg>
        <div>
          <h1 title={host}>{host}</h1>
          <p class="facts" data-none={factless.value}>
            {facts.value.split('\n').map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </p>
        </div>
      </div>
      <div class="instruments">
        {hello.value?.simulated === true && (
          <span class="pill simulated" title="Simulated figures (--simulate)">
            simulated
          </span>
        )}
        <ConnectionPill />
        <time class="now-time" dateTime={dateTime}>
          {time} <span class="unit">{zone}</span>
        </time>
        <button type="button" class="search" title="Command palette" onClick={() => (openDialog.value = 'palette')}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <circle cx="9" cy="9" r="5" />
            <path d="M13 13l4 4" />
          </svg>
          <span class="spoken">Search</span>
          <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="theme" aria-label="Settings" title="Settings ( , )" onClick={() => (openDialog.value = 'settings')}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M3 6h5M12 6h5M3 14h9M16 14h1" />
            <circle cx="10" cy="6" r="2" />
            <circle cx="14" cy="14" r="2" />
          </svg>
        </button>
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
