// What the page says outside of itself: the tab's title and icon tell the worst incident and the host; notifications of the browser where the user wants them.
import { computed, effect } from '@preact/signals'
import { firing } from '../incident/known.ts'
import { frame, hello, stale } from '../live/state.ts'
import { place } from '../route.ts'
import { notifyOfNew } from './notify.ts'

const host = computed(() => hello.value?.host ?? frame.value?.host.hostname ?? '')

/** The worst first, as a tab shows only the beginning; then where one is: view and host. */
export function titleOf(view: string, name: string, titles: readonly string[], isStale: boolean): string {
  const [worst] = titles
  const what = isStale ? 'no news – ' : worst === undefined ? '' : `${titles.length > 1 ? `(${titles.length}) ` : ''}${worst} – `
  return `${what}${[view, name, 'Warpwatch'].filter((part) => part !== '').join(' · ')}`
}

const worstTone = computed(() => {
  if (stale.value) return 'critical'
  const [worst] = firing.value
  return worst === undefined ? '' : worst.severity === 'critical' ? 'critical' : 'warning'
})

function setIcon(tone: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (link === null) return
  link.dataset['plain'] ??= link.href
  link.href = tone === '' ? link.dataset['plain'] : new URL(`favicon-${tone}.svg`, document.baseURI).href
}

effect(() => {
  document.title = titleOf(
    place.value,
    host.value,
    firing.value.map(({ title }) => title),
    stale.value,
  )
})
effect(() => setIcon(worstTone.value))
effect(() => notifyOfNew(firing.value, host.value))
