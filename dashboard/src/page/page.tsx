// The page: head, status, navigation, and the view that the address names.
import { connection } from '../parts/live/state.ts'
import { CurrentView } from './current-view.tsx'
import { Masthead } from './masthead.tsx'
import { Navigation } from './navigation.tsx'
import { TokenForm } from '../parts/loading.tsx'
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
