// What the reader chose for this browser: units, time zone, how the GPUs are on the overview. The theme has a module of its own, as it is needed first.
import { computed, effect, signal } from '@preact/signals'
import { showUtc } from '../../../agent/text/time.ts'
import { chooseUnits, type Units } from '../text/units.ts'
import { gpus } from './live/state.ts'
import { stored } from './stored.ts'

export const LAYOUTS = ['auto', 'cards', 'compact', 'table'] as const
export type Layout = (typeof LAYOUTS)[number]
export type Settings = Units & { readonly zone: 'local' | 'UTC'; readonly layout: Layout }

export const CHOICES: { readonly [Name in keyof Settings]: readonly Settings[Name][] } = {
  memory: ['GiB', 'GB'],
  temperature: ['°C', '°F'],
  zone: ['local', 'UTC'],
  layout: LAYOUTS,
}

const kept = stored('warpwatch.settings')

/** What is kept may be another version's, or someone else's: each value is one of the choices, else the first of them. */
function read(): Settings {
  const values = kept.load()
  const of = <Name extends keyof Settings>(name: Name): Settings[Name] => {
    const [first] = CHOICES[name]
    const found = CHOICES[name].find((choice) => choice === values[name]) ?? first
    if (found === undefined) throw new Error(`settings: expected choices of ${name}`)
    return found
  }
  return { memory: of('memory'), temperature: of('temperature'), zone: of('zone'), layout: of('layout') }
}

export const settings = signal<Settings>(read())
effect(() => {
  chooseUnits(settings.value)
  showUtc(settings.value.zone === 'UTC')
})
/** Another one whenever figures and times read otherwise: what shows them is made again. */
export const reading = computed(() => `${settings.value.memory} ${settings.value.temperature} ${settings.value.zone}`)

export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.peek(), ...part }
  kept.save(settings.peek())
}

/** From so many GPUs on, and on a phone, cards with charts are too large. */
const MANY = 16
const phone = matchMedia('(max-width: 720px)')
const isPhone = signal(phone.matches)
phone.addEventListener('change', ({ matches }) => (isPhone.value = matches))
export const layout = computed(() => {
  const wanted = settings.value.layout
  return wanted !== 'auto' ? wanted : isPhone.value || gpus.value.length >= MANY ? 'compact' : 'cards'
})
