// The log of a job as it is written, beside its charts (below them where the window is narrow): what was printed after the second under the pointer is dimmed, and an incident leads to its moment.
import { timeWithSeconds, zoneName } from '../../../../../agent/text/time.ts'
import { computed } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, getJson, storedToken } from '../../../parts/connection/api.ts'
import { agentNow, connection, hovered } from '../../../parts/live/state.ts'
import { param } from '../../../parts/route.ts'
import type { Job } from '../running.ts'
import { grown, type Line, lineAt, NO_TAIL, parseTail, type Tail } from './log-lines.ts'

const EVERY_MS = 2_000
/** Scrolled to the end, or all but. */
const NEAR_END_PX = 24

const asked = param('log')
const askedSecond = computed(() => (/^\d{9,11}$/.test(asked.value ?? '') ? Number(asked.value) : undefined))

type Shown = { readonly tail: Tail; readonly refused?: string; readonly answered: boolean }

/** Asks while the page is looked at. */
function useTail(id: string, paused: boolean): Shown {
  const [shown, show] = useState<Shown>({ tail: NO_TAIL, answered: false })
  const latest = useRef(shown)
  latest.current = shown
  useEffect(() => {
    let over = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (): Promise<void> => {
      try {
        if (document.visibilityState === 'visible' && connection.peek().state === 'live') {
          const { tail } = latest.current
          const next = grown(tail, parseTail(await getJson(`api/v1/containers/${id}/log?after=${tail.next}`, storedToken())))
          if (!over && (next.lines !== tail.lines || !latest.current.answered)) show({ tail: next, answered: true })
        }
      } catch (error) {
        if (!over && error instanceof ApiError) show({ tail: latest.current.tail, refused: error.failure.message, answered: true })
        // What the configuration refuses it refuses again.
        if (error instanceof ApiError && [403, 404].includes(error.failure.status)) return
      }
      if (!over) timer = setTimeout(() => void ask(), EVERY_MS)
    }
    if (!paused) void ask()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [id, paused])
  return shown
}

function Lines({ lines, at }: { readonly lines: readonly Line[]; readonly at: Line | undefined }) {
  const box = useRef<HTMLOListElement>(null)
  const followed = useRef(true)
  useLayoutEffect(() => {
    const list = box.current
    if (list !== null && followed.current && at === undefined) list.scrollTop = list.scrollHeight
  }, [lines, at])
  useEffect(() => {
    if (at === undefined) return
    followed.current = false
    box.current?.querySelector('[data-at]')?.scrollIntoView({ block: 'center' })
  }, [at?.id])
  const until = hovered.value === undefined ? Number.POSITIVE_INFINITY : (hovered.value + 1) * 1000
  return (
    <ol
      class="log-lines job-log"
      ref={box}
      tabIndex={0}
      aria-label="last lines of its log"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => (followed.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX)}
    >
      {lines.map((line) => (
        <li key={line.id} class={line === at ? 'fault-line' : undefined} data-at={line === at ? '' : undefined} data-later={line.t >= until ? '' : undefined}>
          <span class="log-time">{timeWithSeconds(line.t)}</span>
          <span class="log-text">{line.text}</span>
        </li>
      ))}
    </ol>
  )
}

function ContainerLog({ id, paused }: { readonly id: string; readonly paused: boolean }) {
  const { tail, refused, answered } = useTail(id, paused)
  const second = askedSecond.value
  const at = second === undefined ? undefined : lineAt(tail.lines, second)
  if (refused !== undefined) return <p class="nothing">{`${refused}.`}</p>
  if (tail.lines.length === 0)
    return <p class="nothing">{answered ? 'No lines since the agent started. New ones are shown as they are written.' : 'Asking the agent …'}</p>
  return (
    <>
      {second !== undefined && at === undefined && (
        <p class="nothing">{`Lines of ${timeWithSeconds(second * 1000)} are no longer kept; the incident has those around it.`}</p>
      )}
      <Lines lines={tail.lines} at={at} />
    </>
  )
}

export function JobLog({ job }: { readonly job: Job }) {
  const found = job.containers.flatMap(({ key, row: { container_id: id } }) => (id === undefined ? [] : [{ id, name: key }]))
  const [chosen, choose] = useState<string | undefined>(undefined)
  const [paused, pause] = useState(false)
  const one = found.find(({ id }) => id === chosen) ?? found[0]
  if (one === undefined) return null
  return (
    <section class="job-log-part" aria-labelledby="job-log-title">
      <h3 id="job-log-title">
        Log <span class="count">{`last lines, secrets removed, ${zoneName(agentNow.peek())}`}</span>
      </h3>
      <p class="say">
        {found.length > 1 && (
          <select aria-label="Container" value={one.id} onChange={({ currentTarget: { value } }) => choose(value)}>
            {found.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <button type="button" aria-pressed={paused} onClick={() => pause(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </p>
      <ContainerLog key={one.id} id={one.id} paused={paused} />
    </section>
  )
}
