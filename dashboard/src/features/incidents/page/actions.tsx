// What a reader can say of an incident: silence it for a time, acknowledge it, say that it is repaired; and take it along as Markdown.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { reportOf } from './state.ts'
import { acknowledge, endSilence, setHealthy, silence } from '../../../parts/incident/operator.ts'
import { refused } from '../../../parts/incident/silences.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'

const HOUR_MS = 3_600_000
const DURATIONS: readonly (readonly [label: string, ms: number])[] = [
  ['30 minutes', HOUR_MS / 2],
  ['1 hour', HOUR_MS],
  ['4 hours', 4 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 7 * 24 * HOUR_MS],
]

type Open = 'silence' | 'acknowledge' | 'healthy' | undefined
const TEXTS = {
  silence: { label: 'Why', button: 'Silence', hint: 'No notifications for this kind on this GPU and container meanwhile. It is still evaluated and shown.' },
  acknowledge: { label: 'Note', button: 'Acknowledge', hint: 'Others will see that you are working on it.' },
  healthy: { label: 'Note', button: 'Set healthy', hint: 'Mark as resolved. It will not fire again unless the condition changes.' },
} as const

function Form({ incident, open, done }: { readonly incident: Incident; readonly open: Exclude<Open, undefined>; readonly done: () => void }) {
  const [words, setWords] = useState('')
  const [forMs, setForMs] = useState(HOUR_MS)
  const { label, button, hint } = TEXTS[open]
  const form = useRef<HTMLFormElement>(null)
  // On a phone it opens below the edge, where nobody would see that the button did anything.
  useEffect(() => form.current?.scrollIntoView({ block: 'nearest' }), [open])
  const say = async (): Promise<void> => {
    if (open === 'silence') await silence(incident, forMs, words)
    else await (open === 'acknowledge' ? acknowledge : setHealthy)(incident, words)
    if (refused.peek() === undefined) done()
  }
  return (
    <form
      ref={form}
      class="say"
      onSubmit={(event) => {
        event.preventDefault()
        void say()
      }}
    >
      {open === 'silence' && (
        <label class="choice">
          <span>For</span>
          <select name="for" value={String(forMs)} onChange={(event) => setForMs(Number(event.currentTarget.value))}>
            {DURATIONS.map(([text, ms]) => (
              <option key={ms} value={String(ms)}>
                {text}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="choice words">
        <span>{label}</span>
        <input type="text" name="words" maxLength={500} autofocus value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      </label>
      <button type="submit" class="strong">
        {button}
      </button>
      <button type="button" onClick={done}>
        Cancel
      </button>
      <p class="hint">{hint}</p>
    </form>
  )
}

export function Actions({ incident }: { readonly incident: Incident }) {
  const [open, setOpen] = useState<Open>(undefined)
  const { id, status, silenced, acknowledged } = incident
  const firing = status === 'firing'
  /** The reader is led back to the button that opened the form. */
  const done = (): void => {
    document.querySelector<HTMLElement>('.actions [aria-expanded="true"]')?.focus()
    setOpen(undefined)
  }
  const toggle = (which: Exclude<Open, undefined>) => (
    <button type="button" aria-expanded={open === which} onClick={() => setOpen(open === which ? undefined : which)}>
      {which === 'silence' ? 'Silence …' : which === 'acknowledge' ? 'Acknowledge …' : 'Set healthy …'}
    </button>
  )
  return (
    <div class="actions" onKeyDown={(event) => event.key === 'Escape' && open !== undefined && done()}>
      <div class="buttons">
        {firing && silenced === undefined && toggle('silence')}
        {silenced !== undefined && (
          <button type="button" onClick={() => void endSilence(silenced.id)}>
            End the silence
          </button>
        )}
        {firing && acknowledged === undefined && toggle('acknowledge')}
        {firing && toggle('healthy')}
        <CopyButton text={() => reportOf(id)} label="Copy as Markdown" />
      </div>
      {open !== undefined && <Form key={open} incident={incident} open={open} done={done} />}
      {refused.value !== undefined && (
        <p class="refused" role="alert">
          That was not taken: {refused.value}
        </p>
      )}
    </div>
  )
}
