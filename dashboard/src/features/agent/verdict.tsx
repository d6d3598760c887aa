// "Is this data current?", answered before anything else.
import { agentNow, clock, frame, hello, silence, stale, summary } from '../../parts/live/state.ts'
import type { Health } from './state.ts'
import { doubts, verdictOf } from './doubts.ts'

const SHAPES = { bad: '▲', warn: '◆', note: '·' } as const
const WORDS = { bad: 'do not believe it: ', warn: 'missing: ', note: 'to know: ' } as const
const SEVERITY = { bad: 'critical', warn: 'warning', good: 'good' } as const

/** A flag stays on one line, and can be told from words. */
const withFlags = (text: string) => text.split(/(--[\w-]+)/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))

export function Verdict({ health: { sources, gaps, figures } }: { readonly health: Health }) {
  const evidence = {
    sources,
    gaps,
    figures,
    simulated: hello.value?.simulated === true,
    silentFor: stale.value ? silence.value : undefined,
    lastFrame: frame.value?.t,
    gpusInTrouble: (summary.value?.attention ?? []).flatMap(({ severity, text }) => (severity === 'critical' ? [text] : [])),
    gpus: frame.value?.gpus.length ?? 0,
    clockAheadMs: stale.value ? 0 : clock.value - agentNow.value,
    now: agentNow.value,
  }
  const found = doubts(evidence)
  const { level, text } = verdictOf(found, evidence)
  const reading = sources.filter(({ status }) => status === 'reads' || status === 'partly').length
  const absent = sources.filter(({ status }) => status === 'absent').length
  return (
    <section class="incident-top truth" data-severity={SEVERITY[level]} data-status="firing" aria-labelledby="truth-title">
      <p class="incident-line">Is this data current?</p>
      <h2 id="truth-title">{text}</h2>
      <p class="verdict">
        {evidence.simulated
          ? `${reading} of ${sources.length} sources answer with simulated figures.`
          : `${reading} of ${sources.length - absent} sources read this host${absent === 0 ? '' : `; ${absent} more ${absent === 1 ? 'finds' : 'find'} nothing to read`}.`}
      </p>
      {found.length > 0 && (
        <ul class="doubts">
          {found.map((doubt) => (
            <li key={doubt.text} data-level={doubt.level}>
              <span aria-hidden="true">{SHAPES[doubt.level]}</span>
              <span>
                <span class="spoken">{WORDS[doubt.level]}</span>
                {withFlags(doubt.text)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
