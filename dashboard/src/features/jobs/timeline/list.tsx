// The holds of the cards in words, for those who cannot see or point at the picture; the newest first.
import { age } from '../../../../../agent/text/span.ts'
import { since, zoneName } from '../../../../../agent/text/time.ts'
import { agentNow } from '../../../parts/live/state.ts'
import type { Past } from '../past.ts'
import type { Span } from './spans.ts'
import { route, setParams } from '../../../parts/route.ts'
import { memory } from '../../../text/format.ts'
import { fullTitle, jobHref } from '../name.tsx'

/** Beyond this a list is no help; a shorter range shows the rest. */
const MOST = 200

export function TimelineList({ past: { begin: from, to, range }, spans }: { readonly past: Past; readonly spans: readonly Span[] }) {
  if (spans.length === 0) return null
  const now = agentNow.peek()
  const rows = spans.toSorted((a, b) => b.from - a.from || a.gpu - b.gpu).slice(0, MOST)
  // Read at most two steps ago: it holds on, as far as anybody knows.
  const holds = (span: Span): boolean => span.to >= to - 2 * range.stepMs
  return (
    <details
      class="timeline-list"
      open={route.value.params.get('list') === 'open'}
      onToggle={(event) => {
        const open = event.currentTarget.open ? 'open' : undefined
        if (route.peek().params.get('list') !== open) setParams({ list: open })
      }}
    >
      <summary>
        As a list <span class="count">{spans.length}</span>
      </summary>
      <table role="table" aria-label="Who held which GPU">
        <thead role="rowgroup">
          <tr role="row">
            {['GPU', 'Job', `From (${zoneName(now)})`, 'To', 'For', 'At most'].map((head, at) => (
              <th key={head} role="columnheader" scope="col" class={at > 1 ? 'numeric' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((span) => (
            <tr key={`${span.uuid} ${span.gi ?? ''} ${span.job.key} ${span.from}`} role="row">
              <td role="cell" data-label="GPU">
                GPU {span.gpu}
                {span.gi === undefined ? '' : ` · ${span.gi}`}
              </td>
              <td role="cell" data-label="Job" class="col-job">
                <a class="job-link" href={jobHref(span.job.key)}>
                  {fullTitle(span.job)}
                </a>
              </td>
              <td role="cell" data-label="From" class="numeric">
                {span.from <= from + range.stepMs ? `before ${since(from, now)}` : since(span.from, now)}
              </td>
              <td role="cell" data-label="To" class="numeric">
                {holds(span) ? 'holds it' : since(span.to, now)}
              </td>
              <td role="cell" data-label="For" class="numeric">
                {age((Math.min(to, span.to) - Math.max(from, span.from)) / 1000)}
              </td>
              <td role="cell" data-label="At most" class="numeric">
                {memory(span.highest)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {spans.length > MOST && <p class="of">{`The newest ${MOST} of ${spans.length}.`}</p>}
    </details>
  )
}
