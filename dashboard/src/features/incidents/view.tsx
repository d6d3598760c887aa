// The incidents: filters, table, and what is said where there is nothing to list; or the one that the address names.
import './style.css'
import './page/style.css'
import './evidence/style.css'
import { useEffect } from 'preact/hooks'
import { connection, hello, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import type { ViewProps } from '../feature.ts'
import { FilterBar } from './list/filter-bar.tsx'
import { asked, askForMore, filtered, known, more, rows, watchList } from './list/state.ts'
import { IncidentTable } from './list/table.tsx'
import { IncidentPage } from './page/page.tsx'

function Nothing() {
  const now = asked.value
  if (now.state === 'failed')
    return (
      <p class="nothing" role="alert">
        The incidents could not be fetched: {now.why}. The page tries again when the agent is back.
      </p>
    )
  if (now.state === 'asking') return connection.value.state === 'waiting' ? <Loading /> : <p class="nothing">Asking the agent …</p>
  if (filtered.value && known.value > 0) return <p class="nothing">None of the {known.value} incidents fits these filters.</p>
  return (
    <p class="nothing">
      No incident was recorded{hello.value === undefined ? '' : ` on ${hello.value.host}`}. New ones are listed here, newest first. A job failed before the
      agent was there? <a href="#/explain">Explain</a> reads its log. To see what incidents look like: <code>warpwatch run --simulate=oom-leak</code>
    </p>
  )
}

function IncidentPageList() {
  useEffect(watchList, [])
  return (
    <section class="panel incident-page" aria-labelledby="incidents-title">
      <h2 id="incidents-title">Incidents</h2>
      <FilterBar />
      {rows.value.rows.length === 0 ? <Nothing /> : <IncidentTable />}
      {more.value && (
        <button type="button" class="word older" onClick={askForMore}>
          Show older ones
        </button>
      )}
    </section>
  )
}

export function Incidents({ rest }: ViewProps) {
  const [id] = rest
  return <div class={stale.value ? 'content stale' : 'content'}>{id === undefined ? <IncidentPageList /> : <IncidentPage key={id} id={id} />}</div>
}
