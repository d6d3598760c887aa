// Views are fetched ahead once the page is idle, so that they open while the agent is away.
import { effect } from '@preact/signals'
import { VIEWS } from '../../features/index.ts'
import { connection, painted } from '../../parts/live/state.ts'

/** After the figures, charts and the past of the first view. */
const AFTER_MS = 8_000

const idle = (): Promise<unknown> =>
  new Promise((done) => ('requestIdleCallback' in globalThis ? requestIdleCallback(done, { timeout: 5_000 }) : setTimeout(done, 200)))

export async function fetchAhead(loads: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const load of loads) {
    await idle()
    if (connection.peek().state !== 'live') return
    await load().catch((error: unknown) => console.warn(error))
  }
  // Whoever measures the page knows by it when the page has all that it will have.
  performance.mark('fetched-ahead')
}

/** `more`: what is no view, such as the palette. Gives its end. */
export function watchIdle(more: readonly (() => Promise<unknown>)[]): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = effect(() => {
    if (painted.value) timer ??= setTimeout(() => void fetchAhead([...more, ...VIEWS.map(({ load }) => load)]), AFTER_MS)
  })
  return () => {
    stop()
    clearTimeout(timer)
  }
}
