// The answer to a log: what to act on first, what else it tells, and the log itself beside it with the lines that show it.
import { countedLarge } from '../../../../agent/text/grammar.ts'
import { tookText } from '../../../../agent/text/span.ts'
import { fileSizeText } from '../../../../agent/text/bytes.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { markdownOf } from '../../text/explain.ts'
import { AlsoFound, Root } from './fault.tsx'
import { LogPane } from './log-pane.tsx'
import { NothingFound } from './nothing-found.tsx'
import type { Answer as LogAnswer } from './reader/messages.ts'
import { startOver, draft, type Log } from './state.ts'

type Props = { readonly log: Log; readonly answer: LogAnswer; readonly tookMs: number }

function Head({ log, answer: { faults, lineCount, notText }, tookMs }: Props) {
  return (
    <div class="log-head">
      <p role="status">
        <b>{log.name}</b>
        {notText === undefined && <span>{countedLarge(lineCount, 'line')}</span>}
        <span>{fileSizeText(log.bytes)}</span>
        <span>{`read in ${tookText(tookMs)}`}</span>
        {notText === undefined && <span>{faults.length === 0 ? 'nothing found' : countedLarge(faults.length, 'fault')}</span>}
      </p>
      <div class="buttons">
        {faults.length > 0 && <CopyButton text={markdownOf(faults)} label="Copy as Markdown" />}
        <button type="button" onClick={startOver}>
          {draft.value !== '' ? 'Change the log' : 'Another log'}
        </button>
      </div>
    </div>
  )
}

export function Answer(props: Props) {
  const { answer } = props
  const [root, ...rest] = answer.faults
  return (
    <>
      <Head {...props} />
      {root === undefined ? (
        <NothingFound notText={answer.notText} name={props.log.name} />
      ) : (
        <div class="explained">
          <div class="account">
            <Root fault={root} />
            {rest.length > 0 && <AlsoFound faults={rest} />}
          </div>
          <LogPane answer={answer} />
        </div>
      )}
    </>
  )
}
