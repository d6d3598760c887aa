// One process's allocator now and before, or why there is none to show.
import { useEffect } from 'preact/hooks'
import { since, zoneName } from '../../../../agent/text/time.ts'
import { chosen, chosenKey, lanes, looked, oomsOf, probed, watchAllocators } from '../../state/allocator.ts'
import { successorOf, type Probed } from '../../state/allocator-processes.ts'
import { ABOUT_PROCESS_MEMORY } from '../../state/kind-sets.ts'
import { agentNow, drawing, frame } from '../../state/app.ts'
import { incidents } from '../../state/incidents.ts'
import { setParams } from '../../state/route.ts'
import { gapWords } from '../../text/words.ts'
import { IncidentLinkTo } from '../incidents/incident-table.tsx'
import { Loading } from '../notices.tsx'
import { NoProbe } from './no-probe.tsx'
import { ProcessChart } from './process-chart.tsx'
import { ProcessFigures } from './process-figures.tsx'
import { ProcessPicker } from './process-picker.tsx'

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
      Not read: {[...new Set(gaps.map(({ measure, reason, detail }) => `${measure.replaceAll('_', ' ')} (${detail ?? gapWords(reason)})`))].join(', ')}
    </p>
  )
}

export function ProcessPart() {
  useEffect(() => watchAllocators(), [])
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
            No probe spoke for process <code>{chosenKey.value.slice(0, 40)}</code> in this span: it may have ended before. Choose another one, or a longer span.
          </p>
        )
      ) : (
        <>
          <Ended of={one} />
          <Incidents of={one} />
          <ProcessFigures of={one} />
          <ProcessChart of={one} />
          <Gaps of={one} />
        </>
      )}
    </section>
  )
}
