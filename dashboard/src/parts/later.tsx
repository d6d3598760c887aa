// A part of the page in a file of its own, fetched when it is first drawn.
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly component: ComponentType<Props> } | 'asked' | undefined>(undefined)
  const ask = (): void => {
    if (loaded.peek() !== undefined) return
    loaded.value = 'asked'
    load().then(
      (component) => (loaded.value = { component }),
      (error: unknown) => {
        console.warn(error)
        loaded.value = undefined // asked for again when it is drawn again
      },
    )
  }
  return function Later(props: Props) {
    useEffect(ask, [])
    const now = loaded.value
    if (now === undefined || now === 'asked') return null
    const { component: Shown } = now
    return <Shown {...props} />
  }
}
