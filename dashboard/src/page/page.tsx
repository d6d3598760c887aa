// The page: head, status, navigation, and the view that the address names.
import { useEffect } from 'preact/hooks'
import { later } from '../parts/later.tsx'
import { connection } from '../parts/live/state.ts'
import { reading } from '../parts/settings.ts'
import { CurrentView } from './current-view.tsx'
import { Masthead } from './masthead.tsx'
import { Navigation } from './navigation.tsx'
import { watchFocus } from './reach/focus.ts'
import { watchKeys } from './reach/keys.ts'
import { openDialog } from './reach/opened.ts'
import { watchIdle } from './reach/prefetch.ts'
import { StatusLine } from './status-line.tsx'

const fetchDialogs = async () => (await import('./reach/dialogs.tsx')).Dialogs
const Dialogs = later(fetchDialogs)
const TokenForm = later(async () => (await import('./token-form.tsx')).TokenForm)

function Content() {
  const now = connection.value
  if (now.state === 'unauthorized') return <TokenForm key={String(now.rejected)} rejected={now.rejected} />
  // Figures and times are drawn again when units or time zone change.
  return <CurrentView key={reading.value} />
}

/** Past head and navigation, for those who go from control to control. It is no address: `#…` names the view. */
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector('main')?.focus()
}

export function Page() {
  useEffect(watchKeys, [])
  useEffect(watchFocus, [])
  useEffect(() => watchIdle([fetchDialogs]), [])
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
      {openDialog.value !== undefined && <Dialogs />}
    </>
  )
}
