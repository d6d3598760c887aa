// A part of the page in a file of its own, fetched when it is first drawn.
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

const AGAIN_MS = 3_000

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly component: ComponentType<Props> } | 'asked' | undefined>(undefined)
  const ask = (): void => {
    if (loaded.peek() !== undefined) return
    loaded.value = 'asked'
    load().then(
      (component) => (loaded.value = { component }),
      (error: unknown) => {
        console.warn(error)
        // The agent may be away for a moment only.
        setTimeout(() => (loaded.value = undefined), AGAIN_MS)
      },
    )
  }
  return function Later(props: Props) {
    const now = loaded.value
    useEffect(ask, [now])
    if (now === undefined || now === 'asked') return null
    const { component: Shown } = now
    return <Shown {...props} />
  }
}
