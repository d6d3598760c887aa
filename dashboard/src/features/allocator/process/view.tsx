// One process's allocator now and before, or why there is none to show.
import { since, zoneName } from '../../../../../agent/text/time.ts'
import { useEffect } from 'preact/hooks'
import { IncidentLinkTo } from '../../../parts/incident/account.tsx'
import { ABOUT_PROCESS_MEMORY } from '../../../parts/incident/kind-sets.ts'
import { incidents } from '../../../parts/incident/known.ts'
import { gpuHref, jobHref } from '../../../parts/job/links.ts'
import { agentNow, drawing, frame } from '../../../parts/live/state.ts'
import { Loading } from '../../../parts/loading.tsx'
import { ChartControls } from '../../../parts/range/picker.tsx'
import { takeWindows } from '../../../parts/range/window-view.ts'
import { setParams } from '../../../parts/route.ts'
import { gapText } from '../../../text/words.ts'
import { ProcessChart } from './chart-panel.tsx'
import { ProcessFigures } from './figures.tsx'
import { NoProbe } from './no-probe.tsx'
import { ProcessPicker } from './picker.tsx'
import { type Probed, successorOf } from './processes.ts'
import { span } from './span.ts'
import { chosen, chosenKey, lanes, looked, oomsOf, probed, watchAllocators } from './state.ts'

function Ended({ of }: { readonly of: Probed }) {
  if (of.endedAt === undefined) return null
  const next = successorOf(probed.value, of)
  void drawing.value // history of its last seconds may come later
  const second = lanes.value.newest()
  const at = second === undefined ? of.endedAt : second * 1000
  return (
    <p class="ended" role="status">
      {oomsOf(of).length > 0 ? 'It ran out of memory and ended' : 'It ended, or its probe fell silent,'} at {since(at, agentNow.peek())} {zoneName(at)}.{' '}
      {next !== undefined && (
        <>
          In its place runs{' '}
          <button type="button" class="word" onClick={() => setParams({ process: next.key })}>
            pid {next.pid}
          </button>
          .
        </>
      )}
    </p>
  )
}

function Incidents({ of }: { readonly of: Probed }) {
  const found = [...incidents.value.values()].filter(({ kind, subject }) => ABOUT_PROCESS_MEMORY.has(kind) && subject.process?.pid === of.pid)
  if (found.length === 0) return null
  return (
    <ul class="allocator-incidents">
      {found.map(({ id, kind, severity, status, started_at: at }) => (
        <li key={id} data-severity={severity} data-status={status}>
          {since(at, agentNow.peek())} <IncidentLinkTo link={{ id, kind }} />
        </li>
      ))}
    </ul>
  )
}

function Gaps({ of }: { readonly of: Probed }) {
  const gaps = of.row?.gaps ?? []
  if (gaps.length === 0) return null
  return (
    <p class="sub">
      Not read: {[...new Set(gaps.map(({ measure, reason, detail }) => `${measure.replaceAll('_', ' ')} (${detail ?? gapText(reason)})`))].join(', ')}
    </p>
  )
}

export function ProcessPart() {
  useEffect(() => watchAllocators(), [])
  useEffect(() => takeWindows(() => span.value.spanS), [])
  if (frame.value === undefined) return <Loading />
  if (!looked.value && chosenKey.value === undefined)
    return (
      <p class="nothing" role="status">
        Asking the agent …
      </p>
    )
  const one = chosen.value
  if (probed.value.length === 0) return <NoProbe />
  return (
    <section class="allocator-process" aria-label="One process">
      <ProcessPicker />
      {one === undefined ? (
        chosenKey.value !== undefined && (
          <p class="nothing" role="status">
            No probe was connected for process <code>{chosenKey.value.slice(0, 40)}</code> in this span: it may have ended before. Choose another one, or a
            longer span.
          </p>
        )
      ) : (
        <>
          <p class="sub allocator-links">
            <a href={jobHref(one.job)}>Open its job</a>
            <a href={gpuHref(one.gpu)}>{`Open GPU ${one.gpu}`}</a>
          </p>
          <Ended of={one} />
          <Incidents of={one} />
          <ProcessFigures of={one} />
          <ChartControls />
          <ProcessChart of={one} />
          <Gaps of={one} />
        </>
      )}
    </section>
  )
}
