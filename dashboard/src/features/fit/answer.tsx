// The answer: fits or not in one line, how much it is, each GPU, what would make it fit, the parts.
import { age } from '../../../../agent/text/span.ts'
import { timeWithSeconds, zoneName } from '../../../../agent/text/time.ts'
import { agentNow } from '../../parts/live/state.ts'
import { commandOf } from './question.ts'
import { answered, askAgain, busy, question } from './state.ts'
import { memory, memoryFigure } from '../../text/format.ts'
import { answerText, workText } from '../../text/fit.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Figure } from '../../parts/figure.tsx'
import { FitParts } from './memory-parts.tsx'
import { FitSuggestions } from './suggestions.tsx'
import { AnswerTable } from './gpu-table.tsx'

export function AsOf({ at }: { readonly at: number }) {
  return (
    <p class="as-of">
      <time dateTime={new Date(at).toISOString()}>
        as of {timeWithSeconds(at)} {zoneName(at)}
      </time>
      , {age((agentNow.value - at) / 1000)} ago{' '}
      <button type="button" class="word" onClick={askAgain}>
        read again
      </button>
    </p>
  )
}

export function FitAnswer() {
  const now = answered.value
  if (now === undefined) return null
  const { report, at } = now
  const { estimate, gpus } = report
  const { total } = estimate
  const asked = question.value
  return (
    <div class={busy.value ? 'fit-answer busy' : 'fit-answer'}>
      <header class="fit-top">
        <div>
          <h2 id="fit-title">
            <span role="status">{answerText(report)}</span>
          </h2>
          <p class="fit-line">{workText(estimate)}</p>
          <AsOf at={at} />
        </div>
        <p class="fit-total" data-total>
          <Figure figure={memoryFigure(total.likely_bytes)} name="likely" />
          <span class="of">{estimate.unknown.length > 0 ? 'at the least' : `${memory(total.low_bytes)} to ${memory(total.high_bytes)}`}</span>
        </p>
      </header>
      {gpus.length > 0 ? (
        <AnswerTable report={report} />
      ) : (
        <p class="nothing">No GPU is known on this host. Name cards on the left, such as RTX 4090 or 24GiB.</p>
      )}
      <FitSuggestions report={report} />
      <FitParts estimate={estimate} />
      {asked !== undefined && (
        <p class="fit-command">
          The same in a terminal
          <span class="command">
            <code>{commandOf(asked)}</code>
            <CopyButton text={commandOf(asked)} label="copy" of="command" />
          </span>
        </p>
      )}
    </div>
  )
}
