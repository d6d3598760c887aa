// The log beside its answer: all of a short one, of a long one what is around the lines that were marked.
import { countedLarge } from '../../../../agent/text/grammar.ts'
import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from './reader/messages.ts'
import { faultsByLine, lookedAt } from './state.ts'

function Line({ line, text }: { readonly line: number; readonly text: string }) {
  const shows = faultsByLine.value.get(line)
  const looked = lookedAt.value?.line === line
  return (
    <li
      data-line={line}
      data-looked={looked ? '' : undefined}
      class={shows === undefined ? undefined : shows.includes(0) ? 'fault-line' : 'also-line'}
      tabIndex={-1}
    >
      <span class="line-number">{line}</span>
      <span class="log-text">
        {shows !== undefined && <span class="spoken">{shows.includes(0) ? 'the fault: ' : 'also found: '}</span>}
        {text}
      </span>
    </li>
  )
}

const Gap = ({ lines }: { readonly lines: number }) => <li class="log-gap">{`${countedLarge(lines, 'line')} left out`}</li>

export function LogPane({ answer: { lines, lineCount, faults } }: { readonly answer: Answer }) {
  const list = useRef<HTMLOListElement>(null)
  const looked = lookedAt.value
  const at = looked?.line ?? faults[0]?.evidence[0]?.line
  useEffect(() => {
    const pane = list.current
    const line = at === undefined ? null : pane?.querySelector<HTMLElement>(`[data-line="${at}"]`)
    if (pane === null || line === null || line === undefined) return
    // Within the pane: at first the page itself stays at its top.
    pane.scrollTop = line.offsetTop - pane.offsetTop - pane.clientHeight / 3
    if (looked === undefined) return
    line.focus({ preventScroll: true })
    pane.scrollIntoView({ block: 'nearest' })
  }, [looked, faults])
  let next = 1
  const end = lines.at(-1)?.line ?? 0
  return (
    <section class="log-pane" aria-labelledby="log-pane-title">
      <h3 id="log-pane-title">The log</h3>
      <ol ref={list} class="log-lines numbered" tabIndex={0} aria-label="lines of the log" style={{ '--digits': `${String(lineCount).length}ch` }}>
        {lines.flatMap(({ line, text }) => {
          const missing = line - next
          next = line + 1
          return [missing > 0 && <Gap key={`before ${line}`} lines={missing} />, <Line key={line} line={line} text={text} />]
        })}
        {end < lineCount && <Gap lines={lineCount - end} />}
      </ol>
    </section>
  )
}
