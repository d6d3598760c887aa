// Debian's Chromium for tests of the dashboard, and everything that the browser complained of.
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** Instead of Playwright's 30 s: a machine that is busy with other things is no fault. */
const PATIENCE_MS = 120_000
const WHOLE = '/usr/lib/chromium/chromium'
/** The same Chromium without windows, menus and the pages of its own: a test that opens a page costs half the CPU time. */
const WINDOWLESS = '/usr/lib/chromium/chromium-headless-shell'
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
export const hasChromium = [WHOLE, WINDOWLESS].some((path) => existsSync(path))

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1600, height: 1000 } }
/** A window of 1280 × 800 at 200 %. */
export const ZOOMED: BrowserContextOptions = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
export const SMALL: BrowserContextOptions = { viewport: { width: 1024, height: 768 } }
export const WIDE: BrowserContextOptions = { viewport: { width: 2560, height: 1300 } }
export const PHONE: BrowserContextOptions = { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true }

export type Opened = {
  readonly page: Page
  /** Violations of the Content-Security-Policy, failed requests and exceptions all end up here. */
  readonly complaints: string[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

const launch = (paths: readonly string[]): Promise<Browser> =>
  chromium.launch({ executablePath: paths.find((path) => existsSync(path)) ?? WHOLE, args: FLAGS, timeout: PATIENCE_MS })
/** As users have it, for benches and pictures. */
export const launchBrowser = (): Promise<Browser> => launch([WHOLE, WINDOWLESS])
/** For tests: what a page shows and does is the same in both. */
export const launchTestBrowser = (): Promise<Browser> => launch([WINDOWLESS, WHOLE])

/** Docker networks of other tests come and go, and Chromium then ends its requests, those to this machine too. */
const NETWORK_CHANGED = 'ERR_NETWORK_CHANGED'
/** How a page says that a request, or the import of a part of it, got no answer. */
const FAILED_FETCH = 'TypeError: Failed to fetch'

/** A page that a test has left, as clean as a new one; what it complains of from now on goes to whoever has it. */
type Idle = { readonly page: Page; readonly hand: (complaints: string[]) => void }
const idle = new WeakMap<Browser, Map<string, Idle[]>>()
function idleOf(browser: Browser, origin: string, options: BrowserContextOptions): Idle[] {
  const pages = idle.get(browser) ?? new Map<string, Idle[]>()
  idle.set(browser, pages)
  const key = JSON.stringify([origin, options])
  const alike = pages.get(key) ?? []
  pages.set(key, alike)
  return alike
}

async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Idle> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  let to: string[] = []
  let isNetworkChanged = false
  page.on('console', (message) => {
    const { url } = message.location()
    // The page between two tests names no icon, so the browser asks for one; the answer may come when the next test has begun. The dashboard names its own.
    if (url.endsWith('/favicon.ico')) return
    // A file that two parts of the page wait for fails once, and both say so, before or after the browser does.
    if (message.text().includes(NETWORK_CHANGED)) {
      isNetworkChanged = true
      const others = to.filter((each) => !each.startsWith(FAILED_FETCH))
      to.splice(0, to.length, ...others)
      return
    }
    if (isNetworkChanged && message.text().startsWith(FAILED_FETCH)) return
    if (['error', 'warning'].includes(message.type())) to.push(url === '' ? message.text() : `${message.text()} (${url})`)
  })
  page.on('pageerror', (error) => to.push(error.stack ?? error.message))
  return { page, hand: (complaints) => void (to = complaints) }
}

/** As often as networks of other tests could come or go meanwhile. */
const MOST_VISITS = 5
async function visit(page: Page, url: string, visits = 1): Promise<void> {
  try {
    await page.goto(url)
  } catch (error) {
    if (visits === MOST_VISITS || !String(error).includes(NETWORK_CHANGED)) throw error
    await visit(page, url, visits + 1)
  }
}

/** Nothing of what a test did may be seen by the next: storage, media, size, permissions, listeners, where the mouse was. */
async function clean({ page, hand }: Idle, origin: string, { colorScheme = null, viewport, permissions = [] }: BrowserContextOptions): Promise<void> {
  hand([])
  for (const type of ['request', 'requestfinished', 'requestfailed', 'response', 'websocket', 'dialog', 'download', 'popup'] as const)
    page.removeAllListeners(type)
  await page.mouse.move(-1, -1)
  // Of the same site, so the process stays with all that it has compiled; the dashboard has ended when its storage is emptied.
  await visit(page, `${origin}/healthz`)
  await page.evaluate('sessionStorage.clear()')
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'cookies,local_storage,indexeddb' })
  await session.detach()
  await page.context().clearPermissions()
  await page.context().grantPermissions(permissions)
  await page.emulateMedia({ media: null, colorScheme, reducedMotion: null })
  if (viewport !== undefined && viewport !== null) await page.setViewportSize(viewport)
}

/** What a page that others use later may be given: what `clean` takes away again. Scripts and web sockets of tests stay with a page, so they need one of their own. */
export type SharedPage = Pick<Page, 'route' | 'on'>
/** What runs before a page is loaded: anything, on a page of its own, or what may run on a shared one. */
export type Prepare = ((page: Page) => Promise<unknown>) | { readonly shared: (page: SharedPage) => Promise<unknown> }

/**
 * A page dark unless told otherwise, and one that a test before has left, where there is one and `prepare` leaves no trace: a new context costs three times as much CPU time,
 * most of it a process that compiles the dashboard once more.
 */
export async function openPage(browser: Browser, url: string, more: BrowserContextOptions = DESKTOP, prepare?: Prepare): Promise<Opened> {
  const options = { colorScheme: 'dark', ...more } as const
  const { origin } = new URL(url)
  const alike = idleOf(browser, origin, options)
  const shares = typeof prepare !== 'function'
  const own = (shares ? alike.pop() : undefined) ?? (await newPage(browser, options))
  const { page } = own
  const complaints: string[] = []
  own.hand(complaints)
  await (typeof prepare === 'function' ? prepare(page) : prepare?.shared(page))
  await visit(page, url)
  const dispose = async (): Promise<void> => {
    // What a route still fetches for the page is nobody's business any more.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // Where its agent has ended, or the test went to another one, there is nothing to reuse.
    const again =
      shares &&
      new URL(page.url()).origin === origin &&
      (await clean(own, origin, options).then(
        () => true,
        () => false,
      ))
    if (again) alike.push(own)
    else await page.context().close()
  }
  return { page, complaints, [Symbol.asyncDispose]: dispose }
}

/** Class names of what sticks out to the right of the window: a page never scrolls sideways. */
export const STICKING_OUT = `Array.from(document.querySelectorAll('main *'))
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((each) => each.className)`
