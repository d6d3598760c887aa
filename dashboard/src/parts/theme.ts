// Dark or light: the system's preference until the reader chooses; the choice is kept in this browser.
import { computed, effect, signal } from '@preact/signals'

export type Theme = 'dark' | 'light'
const KEY = 'warpwatch.theme'

function chosenBefore(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'dark' || value === 'light' ? value : undefined
  } catch {
    return undefined
  }
}

const preference = window.matchMedia('(prefers-color-scheme: light)')
const system = signal<Theme>(preference.matches ? 'light' : 'dark')
const chosen = signal<Theme | undefined>(chosenBefore())
export const theme = computed<Theme>(() => chosen.value ?? system.value)

preference.addEventListener('change', (event) => (system.value = event.matches ? 'light' : 'dark'))
effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})

/** undefined: as the system has it. */
export const chosenTheme = computed(() => chosen.value)
export function chooseTheme(wanted: Theme | undefined): void {
  chosen.value = wanted
  try {
    localStorage.setItem(KEY, wanted ?? '')
  } catch {
    // storage switched off: the choice lives as long as the page
  }
}
export const toggleTheme = (): void => chooseTheme(theme.peek() === 'dark' ? 'light' : 'dark')
