// The switch for notifications of this browser.
import { notifyState, switchNotifications } from '../../parts/outside/notify.ts'

const WHY = {
  impossible: 'This browser has none for this page: open it over https or on localhost.',
  denied: 'The browser blocks them for this page: allow them in its settings.',
  on: 'While this page is open in a tab that you do not look at.',
  off: 'Off. The browser will ask once.',
} as const

export function BrowserNotifications() {
  const state = notifyState.value
  return (
    <p class="browser-notifications">
      <label>
        <input
          type="checkbox"
          checked={state === 'on'}
          disabled={state === 'impossible' || state === 'denied'}
          onChange={(event) => void switchNotifications(event.currentTarget.checked)}
        />{' '}
        Notify me in this browser
      </label>{' '}
      <span class="sub">{WHY[state]}</span>
    </p>
  )
}
