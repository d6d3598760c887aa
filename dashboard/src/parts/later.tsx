// Parts of the page in files of their own, fetched when they are first wanted, and again until they are there.
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

const AGAIN_MS = 3_000

/** The agent may be away for a moment only, and a network that changes ends the browser's requests, those to the same machine too. */
export async function untilFetched<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      console.warn(error)
      await new Promise((done) => setTimeout(done, AGAIN_MS))
    }
  }
}

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly component: ComponentType<Props> } | undefined>(undefined)
  let isAsked = false
  const ask = (): void => {
    if (isAsked) return
    isAsked = true
    void untilFetched(load).then((component) => (loaded.value = { component }))
  }
  return function Later(props: Props) {
    const now = loaded.value
    useEffect(ask, [])
    if (now === undefined) return null
    const { component: Shown } = now
    return <Shown {...props} />
  }
}
