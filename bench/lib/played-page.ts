// The dashboard in a Chromium, taken through seconds of a simulated host as fast as it draws them.
import { EventEmitter, once } from 'node:events'
import type { Browser, BrowserContextOptions, CDPSession } from 'playwright-core'
import type { SimulatedHost } from './simulated-host.ts'

/** Calls `seen` with the number of frames that the page has taken, once they are drawn. */
const COUNTED = `{
  let frames = 0
  let asked = false
  const tell = () => requestAnimationFrame(() => setTimeout(() => { asked = false; seen(frames) }))
  const Native = WebSocket
  globalThis.WebSocket = class extends Native {
    constructor(...rest) {
      super(...rest)
      super.addEventListener('message', ({ data }) => {
        if (!data.startsWith('{"type":"frame"')) return
        frames += 1
        if (!asked) { asked = true; tell() }
      })
    }
  }
}`

const MARKED = `new Promise((done) => new PerformanceObserver((list) => {
  if (list.getEntriesByName('fetched-ahead').length > 0) done()
}).observe({ type: 'mark', buffered: true }))`

export type PlayedPage = {
  readonly session: CDPSession
  /** Lets so many seconds pass; done when the page has drawn the last. */
  readonly play: (ticks: number) => Promise<void>
  /** Done when the page has fetched its other views ahead: until then it grows by them. */
  readonly fetchedAhead: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function openPlayed(browser: Browser, host: SimulatedHost, options: BrowserContextOptions): Promise<PlayedPage> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  // The page is greeted with the first.
  const frames = { sent: 1, drawn: 0 }
  const drawn = new EventEmitter()
  await page.exposeFunction('seen', (count: number) => {
    frames.drawn = count
    drawn.emit('frames')
  })
  await page.addInitScript(COUNTED)
  await page.goto(host.url)
  const caughtUp = async (): Promise<void> => {
    while (frames.drawn < frames.sent) await once(drawn, 'frames')
  }
  await caughtUp()
  const session = await context.newCDPSession(page)
  return {
    session,
    close: () => context.close(),
    async fetchedAhead() {
      await session.send('Runtime.evaluate', { expression: MARKED, awaitPromise: true })
    },
    async play(ticks) {
      for (let n = 0; n < ticks; n += 1) {
        host.tick()
        await host.sent()
        frames.sent += 1
      }
      await caughtUp()
    },
  }
}
