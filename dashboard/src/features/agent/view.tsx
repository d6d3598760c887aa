// The agent's own health: is what I see true, what does each source read, what is missing and why, what does it cost, who is told.
import './style.css'
import { useEffect } from 'preact/hooks'
import { connection, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { BrowserNotifications } from './browser-notifications.tsx'
import { Cost } from './cost.tsx'
import { Gaps } from './gaps.tsx'
import { Notifiers } from './notifiers.tsx'
import { SelfFacts } from './self-facts.tsx'
import { Sources } from './sources.tsx'
import { known, watchHealth } from './state.ts'
import { Verdict } from './verdict.tsx'

export function Agent() {
  useEffect(watchHealth, [])
  const now = known.value
  if (now.state === 'asking')
    return connection.value.state === 'live' ? (
      <p class="nothing" role="status">
        Asking the agent …
      </p>
    ) : (
      <Loading />
    )
  if (now.state === 'failed')
    return (
      <div class="notice" role="alert">
        <h2>Agent status unavailable</h2>
        <p>{now.why}. The page tries again when the agent is back.</p>
      </div>
    )
  const { health, at } = now
  return (
    <div class={stale.value ? 'content agent-page stale' : 'content agent-page'}>
      <Verdict health={health} />
      <Sources sources={health.sources} figures={health.figures} asked={at} />
      <Gaps gaps={health.gaps} />
      <div class="agent-columns">
        <Cost />
        <SelfFacts figures={health.figures} />
      </div>
      <Notifiers notifiers={health.notifiers} />
      <BrowserNotifications />
    </div>
  )
}
