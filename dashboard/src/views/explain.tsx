// Explain: a log that somebody has, read in the browser; what went wrong in it, why, and what to change.
import { Explained } from '../components/explain/explained.tsx'
import { LogForm } from '../components/explain/log-form.tsx'
import { useLogFromAnywhere } from '../components/explain/take-log.ts'
import { explained } from '../state/explain.ts'

export function Explain() {
  const over = useLogFromAnywhere()
  return (
    <div class="content explain" data-over={over}>
      {explained.value.state === 'none' ? <LogForm /> : <Explained now={explained.value} />}
    </div>
  )
}
