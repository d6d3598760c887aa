// Explain: a log that someone has, read in the browser. A field for it, its reading, or the answer: what went wrong in it, why, and what to change.
import { fileSizeText } from '../../../../agent/text/bytes.ts'
import './style.css'
import { Answer } from './answer.tsx'
import { LogForm } from './log-form.tsx'
import { startOver, explained, type Explained as Now, type Log } from './state.ts'
import { useLogFromAnywhere } from './take-log.ts'

function Reading({ log, done }: { readonly log: Log; readonly done: number }) {
  return (
    <div class="notice" role="status">
      <h2>Reading {log.name}</h2>
      <progress max={Math.max(1, log.bytes)} value={done} aria-label={`reading ${log.name}`} />
      <p>
        {fileSizeText(done)} of {fileSizeText(log.bytes)}
      </p>
      <div class="buttons">
        <button type="button" onClick={startOver}>
          Stop
        </button>
      </div>
    </div>
  )
}

function Explained({ now }: { readonly now: Exclude<Now, { readonly state: 'none' }> }) {
  if (now.state === 'reading') return <Reading log={now.log} done={now.done} />
  if (now.state === 'told') return <Answer log={now.log} answer={now.answer} tookMs={now.tookMs} />
  return (
    <div class="notice" role="alert">
      <h2>{now.log.name} could not be read</h2>
      <p>The browser says: {now.why}</p>
      <p>A file that is still being written, or that was moved, has to be chosen again.</p>
      <div class="buttons">
        <button type="button" onClick={startOver}>
          Another log
        </button>
      </div>
    </div>
  )
}

export function Explain() {
  const over = useLogFromAnywhere()
  return (
    <div class="content explain" data-over={over}>
      {explained.value.state === 'none' ? <LogForm /> : <Explained now={explained.value} />}
    </div>
  )
}
