// The list of keyboard shortcuts.
import { VIEWS } from '../../features/index.ts'

const GENERAL: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'command palette: go to anything, do anything'],
  [['/'], 'filter what the page lists'],
  [['?'], 'this list'],
  [[','], 'settings'],
  [['Esc'], 'close a dialog or a form'],
  [['Tab'], 'to the next control; the first one skips the head'],
]

/** Of a chart that has the focus (parts/chart/tools/keys.ts). */
const ON_CHARTS: typeof GENERAL = [
  [['←', '→'], 'on a chart: from reading to reading'],
  [['Shift', '←', '→'], 'on a chart: to earlier or later times'],
  [['+', '−'], 'on a chart: zoom in or out'],
  [['Space'], 'on a chart: pause, go on'],
]

export function Shortcuts() {
  const pages = VIEWS.flatMap(({ key, label }) => (key === undefined ? [] : [[['g', key], label] as const]))
  return (
    <>
      {/* On a phone the list is longer than the window: without this the button at its end has the focus, and the list begins at its end. */}
      <h2 tabIndex={-1} autofocus>
        Keyboard shortcuts
      </h2>
      <dl class="shortcuts">
        {[...GENERAL, ...ON_CHARTS, ...pages].map(([keys, what]) => (
          <div key={keys.join(' ')}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
