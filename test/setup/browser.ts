// Debian's Chromium for tests of the dashboard: one browser a file, one context a page, and everything that the browser complained of.
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** Instead of Playwright's 30 s: a machine that is busy with other things is no fault. */
const PATIENCE_MS = 120_000
const CHROMIUM = '/usr/lib/chromium/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** For `describe.skipIf(!hasChromium)('… (needs Debian’s chromium)')`. */
export const hasChromium = existsSync(CHROMIUM)

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1600, height: 1000 } }
export const PHONE: BrowserContextOptions = { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true }

export type Opened = {
  readonly page: Page
  /** Violations of the Content-Security-Policy, failed requests and exceptions all end up here. */
  readonly complaints: string[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE_MS })

/** A page of its own context, dark unless told otherwise; `prepare` runs before the page is loaded (routes, clipboards). */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = DESKTOP,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<Opened> {
  const context = await browser.newContext({ colorScheme: 'dark', ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await prepare?.(page)
  await page.goto(url)
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/** Class names of what sticks out to the right of the window: a page never scrolls sideways. */
export const STICKING_OUT = `Array.from(document.querySelectorAll('main *'))
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((each) => each.className)`
