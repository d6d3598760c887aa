// What cannot be read, by reason: what it is, whom it concerns, what the driver or the system answered.
import { age } from '../../../../agent/text/span.ts'
import { since, zoneName } from '../../../../agent/text/time.ts'
import { agentNow } from '../../parts/live/state.ts'
import { gapsPast, GAPS_SPAN_MS } from './state.ts'
import { gapGroups, newestGap, type ReasonGroup } from './gap-groups.ts'
import type { GapEntry } from './source-rows.ts'
import { metricName, reasonText, sourceName } from '../../text/agent.ts'

/** When the newest of them appeared, as far as history tells. */
function Since({ reason }: { readonly reason: string }) {
  const past = gapsPast.value
  if (past === undefined) return null
  const at = newestGap(past, reason)
  const text = at === undefined ? `, none new in ${age(GAPS_SPAN_MS / 1000)}` : `, newest at ${since(at, agentNow.peek())} ${zoneName(at)}`
  return <span class="sub">{text}</span>
}

function Reason({ group: { reason, count, groups } }: { readonly group: ReasonGroup }) {
  return (
    <li>
      <details open={reason !== 'not_supported'} data-reason={reason}>
        <summary>
          <b>{reasonText(reason)}</b> <span class="count">{count}</span>
          <Since reason={reason} />
        </summary>
        <ul class="gap-rows">
          {groups.map(({ metric, source, detail, where, count: number }) => (
            <li key={`${source} ${metric} ${detail ?? ''}`}>
              <span class="gap-what" title={metric}>
                {metric === source && where !== '' ? 'All readings' : metricName(metric)}
              </span>
              <span class="gap-where">{where === '' && metric !== source ? sourceName(source) : where}</span>
              <span class="gap-why">{detail ?? ''}</span>
              {number > 1 && <span class="faint">{`${number} times`}</span>}
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}

export function Gaps({ gaps }: { readonly gaps: readonly GapEntry[] }) {
  const groups = gapGroups(gaps)
  return (
    <section class="panel" aria-labelledby="gaps-title">
      <h2 id="gaps-title">
        What cannot be read <span class="count">{gaps.length}</span>
      </h2>
      {groups.length === 0 ? (
        <p class="nothing">The agent can read everything.</p>
      ) : (
        <ul class="gap-reasons">
          {groups.map((group) => (
            <Reason key={group.reason} group={group} />
          ))}
        </ul>
      )}
    </section>
  )
}
