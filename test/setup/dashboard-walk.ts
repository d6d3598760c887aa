// The pages of the dashboard as its own navigation lists them, so that a new view is walked through by the tests of all views and by the scripts that take pictures.
// Apart from dashboard-pages.ts, as the scripts run without Vitest.
import type { Page } from 'playwright-core'
import * as z from 'zod'
import { poll } from './poll.ts'

const addresses = z.array(z.string())

/** The hashes of all views, of those below another one, of one GPU and of one incident; `page` is open at any of them. */
export async function pagesOf(page: Page, incident: string): Promise<readonly string[]> {
  await page.waitForSelector('nav a')
  const listed = addresses.parse(await page.evaluate(`Array.from(document.querySelectorAll('nav[aria-label="Pages"] a'), (link) => new URL(link.href).hash)`))
  return [...listed, '#/waste', '#/gpus/0', `#/incidents/${incident}`]
}

/** True when the view is there and waits for nothing. */
const SETTLED = `document.querySelector('main .content h2, main .lost') !== null && document.querySelector('main .skeletons, main [aria-busy="true"]') === null`

/** Goes to the page within the open dashboard, and waits until it shows what it has. */
export async function goTo(page: Page, hash: string): Promise<void> {
  // Two frames after the change of the address what was there before is gone.
  await page.evaluate(`new Promise((done) => {
    if (location.hash === ${JSON.stringify(hash)}) return done()
    addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true })
    location.hash = ${JSON.stringify(hash)}
  })`)
  await poll(async () => (await page.evaluate(SETTLED)) === true, { what: `${hash} to show its content`, deadlineMs: 30_000 })
}
