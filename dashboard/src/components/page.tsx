// The page: head, status, navigation, and the view that the address names.
import { connection } from '../state/app.ts'
import { CurrentView } from './current-view.tsx'
import { Masthead } from './masthead.tsx'
import { Navigation } from './navigation.tsx'
import { TokenForm } from './notices.tsx'
import { StatusLine } from './status-line.tsx'

function Content() {
  const now = connection.value
  if (now.state === 'unauthorized') return <TokenForm key={String(now.rejected)} rejected={now.rejected} />
  return <CurrentView />
}

export function Page() {
  return (
    <>
      <div class="top">
        <Masthead />
        <div class="bar">
          <Navigation />
          <StatusLine />
        </div>
      </div>
      <main>
        <Content />
      </main>
    </>
  )
}
