// The buttons above the charts: earlier and later, closer and wider, pause, a step back, times of one's own, and the address of what is shown.
import { dayOfMonth, momentText, timeWithSeconds, zoneName } from '../../../../../agent/text/time.ts'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { CopyButton } from '../../copy-button.tsx'
import { agentNow } from '../../live/state.ts'
import type { Window } from '../../range/window.ts'
import { localInput, localSecond } from './local-time.ts'
import { back, goLive, linkHere, move, pause, show, shown, still, zoom, zooms } from './zoom.ts'

type ButtonProps = { readonly label: string; readonly onPress: () => void; readonly disabled?: boolean; readonly children: ComponentChildren }
const Button = ({ label, onPress, disabled, children }: ButtonProps) => (
  <button type="button" aria-label={label} title={label} disabled={disabled} onClick={onPress}>
    {children}
  </button>
)

/** Times of the reader's own zone, to the second. */
function Custom({ label }: { readonly label: string }) {
  const box = useRef<HTMLDetailsElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const close = (): void => {
    box.current?.removeAttribute('open')
    box.current?.querySelector('summary')?.focus()
  }
  const input = (name: string): HTMLInputElement | null => form.current?.querySelector<HTMLInputElement>(`[name="${name}"]`) ?? null
  const fill = (): void => {
    const window = shown()
    for (const name of ['from', 'to'] as const) {
      const field = input(name)
      if (field !== null) field.value = localInput(window[name])
    }
  }
  const take = (event: Event): void => {
    event.preventDefault()
    const [from, to] = [localSecond(input('from')?.value ?? ''), localSecond(input('to')?.value ?? '')]
    const wrong = from === undefined || to === undefined || from >= to
    input('to')?.setCustomValidity(wrong ? 'The end must be after the beginning' : '')
    if (wrong) return void form.current?.reportValidity()
    show({ from, to })
    close()
  }
  return (
    <details
      class="chart-custom"
      ref={box}
      onToggle={(event) => event.currentTarget.open && fill()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || box.current?.open !== true) return
        event.stopPropagation()
        close()
      }}
    >
      <summary title="Times of your own">{label}</summary>
      <form ref={form} onSubmit={take}>
        <label>
          From <input type="datetime-local" name="from" step="1" required onInput={() => input('to')?.setCustomValidity('')} />
        </label>
        <label>
          To <input type="datetime-local" name="to" step="1" required onInput={(event) => event.currentTarget.setCustomValidity('')} />
        </label>
        <button type="submit">Show</button>
      </form>
    </details>
  )
}

/** With its day where that is another one. */
const endText = ({ from, to }: Window): string =>
  dayOfMonth(from * 1000) === dayOfMonth(to * 1000) ? timeWithSeconds(to * 1000) : momentText(to * 1000, agentNow.peek())

export function Controls() {
  const window = still.value
  const label = window === undefined ? 'Custom' : `${momentText(window.from * 1000, agentNow.peek())} – ${endText(window)} ${zoneName(window.to * 1000)}`
  return (
    <>
      <span class="chart-buttons" role="group" aria-label="Time shown by the charts">
        <Button label="Earlier" onPress={() => move(-0.5)}>
          ‹
        </Button>
        <Button label="Later" disabled={window === undefined} onPress={() => move(0.5)}>
          ›
        </Button>
        <Button label="Zoom in" onPress={() => zoom(0.5)}>
          +
        </Button>
        <Button label="Zoom out" onPress={() => zoom(2)}>
          −
        </Button>
        <Button label="Back to the time shown before" disabled={zooms.value === 0} onPress={back}>
          ↩
        </Button>
        {window === undefined ? (
          <button type="button" onClick={pause}>
            Pause
          </button>
        ) : (
          <button type="button" class="go-live" onClick={goLive}>
            Go live
          </button>
        )}
      </span>
      <Custom label={label} />
      <CopyButton text={() => Promise.resolve(linkHere())} label="Copy link" of="to the time shown" />
    </>
  )
}
