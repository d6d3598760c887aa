// Notifications of the browser: off until the user switches them on, which asks the browser once. Only while the page is open in a tab.
import { signal } from '@preact/signals'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'

const KEY = 'warpwatch.notify'
/** What fires for longer is no news when the page is opened. */
const NEW_MS = 60_000

export type NotifyState = 'on' | 'off' | 'denied' | 'impossible'

function stored(): boolean {
  try {
    return localStorage.getItem(KEY) === 'on'
  } catch {
    return false
  }
}
function store(on: boolean): void {
  try {
    localStorage.setItem(KEY, on ? 'on' : 'off')
  } catch {
    // storage switched off: it holds as long as the page
  }
}
function stateNow(wanted: boolean): NotifyState {
  // Browsers have none for pages that come over plain HTTP from another machine.
  if (!('Notification' in globalThis)) return 'impossible'
  if (Notification.permission === 'denied') return 'denied'
  return wanted && Notification.permission === 'granted' ? 'on' : 'off'
}

export const notifyState = signal<NotifyState>(stateNow(stored()))

export async function switchNotifications(on: boolean): Promise<void> {
  if (on && 'Notification' in globalThis && Notification.permission === 'default') await Notification.requestPermission()
  store(on)
  notifyState.value = stateNow(on)
}

const reported = new Set<string>()
/** Each incident once, and only while nobody looks at the page. */
export function notifyOfNew(firing: readonly IncidentSummary[], host: string): void {
  for (const { id, title, verdict, severity, started_at: began } of firing) {
    if (reported.has(id)) continue
    reported.add(id)
    if (notifyState.peek() !== 'on' || severity === 'info' || document.visibilityState === 'visible' || Date.now() - began > NEW_MS) continue
    const shown = new Notification(`${host}: ${title}`, { body: verdict.slice(0, 300), tag: id })
    shown.addEventListener('click', () => {
      globalThis.focus()
      location.hash = `#/incidents/${encodeURIComponent(id)}`
    })
  }
}
