// Explain: a log that somebody has, read in the browser; what went wrong in it, why, and what to change.
import { Explained } from './view.tsx'
import { LogForm } from './log-form.tsx'
import { useLogFromAnywhere } from './take-log.ts'
import { explained } from './state.ts'

export function Explain() {
  const over = useLogFromAnywhere()
  return (
    <div class="content explain" data-over={over}>
      {explained.value.state === 'none' ? <LogForm /> : <Explained now={explained.value} />}
    </div>
  )
}
