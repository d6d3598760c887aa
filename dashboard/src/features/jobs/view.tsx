// The jobs: what to find, the table, and who held which card when; or the one that the address names.
import './style.css'
import './page/style.css'
import './timeline/style.css'
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { JobTabs } from '../../parts/job/tabs.tsx'
import { frame, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import type { ViewProps } from '../feature.ts'
import { JobPage } from './page/page.tsx'
import { watchIncidents, watchPast } from './past.ts'
import { RangeChoice } from './range.tsx'
import { all, find, rows, text } from './table/state.ts'
import { JobTable } from './table/table.tsx'
import { Timeline } from './timeline/timeline.tsx'

function Tally() {
  const over = rows.value.filter(({ endedAt }) => endedAt !== undefined).length
  const shown = rows.value.length
  return (
    <p class="tally" role="status">
      {text.value === '' ? `${shown - over} running${over > 0 ? `, ${over} gone` : ''}` : `${shown} of ${all.value.length}`}
      {text.value !== '' && (
        <button type="button" class="word" onClick={() => find('')}>
          show all
        </button>
      )}
    </p>
  )
}

function Rows() {
  if (rows.value.length > 0) return <JobTable />
  return (
    <p class="nothing">
      {all.value.length > 0 ? (
        `None of the ${all.value.length} jobs fits “${text.value}”.`
      ) : (
        <>
          No container runs and no process holds GPU memory, or none can be seen. What runs: <code>docker ps</code>, <code>squeue</code>,{' '}
          <code>nvidia-smi</code>. The <a href="#/doctor">Doctor</a> says what the agent may not read.
        </>
      )}
    </p>
  )
}

/** Without what each frame changes: the timeline need not be drawn with it. */
function JobList() {
  return (
    <>
      <JobTabs here="jobs" />
      <section class="panel jobs-page" aria-labelledby="jobs-title">
        <h2 id="jobs-title">Jobs</h2>
        <form class="filters" role="search" aria-label="jobs" onSubmit={(event) => event.preventDefault()}>
          <label class="choice find" data-set={text.value !== ''}>
            <span>Find</span>
            <input
              type="search"
              name="text"
              placeholder="name, image, pid, gpu 6 …"
              autocomplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => find(event.currentTarget.value)}
            />
          </label>
          <div class="choice">
            <span>Past</span>
            <RangeChoice />
          </div>
          <Tally />
        </form>
        <Rows />
      </section>
      <Timeline title="Who held which GPU" />
    </>
  )
}

const waiting = computed(() => frame.value === undefined)

export function Jobs({ rest }: ViewProps) {
  useEffect(() => {
    const ends = [watchPast(), watchIncidents()]
    return () => ends.forEach((end) => end())
  }, [])
  if (waiting.value) return <Loading />
  const [key] = rest
  return <div class={stale.value ? 'content stale' : 'content'}>{key === undefined ? <JobList /> : <JobPage key={key} jobKey={key} />}</div>
}
