// An incident arrives while the dashboard is open: it shows at once, and nothing moves until the reader asks for it.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FULL_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage, PHONE, type Opened } from '../setup/browser.ts'
import { fileBrowser } from '../setup/dashboard-pages.ts'
import { poll } from '../setup/poll.ts'
import { tooMuch, WATCH_SHIFTS, watchFrom } from '../setup/shifts.ts'

const ATTEMPTS = 4
const SIZES = { desktop: DESKTOP, phone: PHONE } as const

describe.skipIf(!hasChromium).each([
  ['lost-gpu', 'xid'],
  ['throttling', 'throttling'],
])('an incident arrives on a host in the scenario %s (needs Debian’s chromium)', (scenario, kind) => {
  let agent: RunningAgent | undefined
  const readers = new Map<string, Opened>()
  const reader = (name: string): Page => {
    const found = readers.get(name)
    if (found === undefined) throw new Error(`nobody reads ${name}`)
    return found.page
  }

  const end = async (): Promise<void> => {
    for (const opened of readers.values()) await opened[Symbol.asyncDispose]()
    readers.clear()
    await agent?.stop()
    agent = undefined
  }
  /** False where the incident came first. */
  const begun = async (): Promise<boolean> => {
    agent = await startAgent({ args: [`--simulate=${scenario}`], ready: true, env: FULL_PAST })
    const { url } = agent
    const browser = await fileBrowser()
    const open = async (name: string, size: (typeof SIZES)[keyof typeof SIZES], hash: string, there: string): Promise<void> => {
      const opened = await openPage(browser, `${url}${hash}`, size, (page) => page.addInitScript(WATCH_SHIFTS))
      readers.set(name, opened)
      await opened.page.waitForSelector(there)
      await opened.page.waitForLoadState('networkidle')
    }
    await Promise.all([
      ...Object.entries(SIZES).map(([name, size]) => open(name, size, '', '.incidents-head .over:not(:empty), .incident, .incident-new')),
      open('gpu', DESKTOP, '#/gpus/5', '.gpu.large .line-figures'),
    ])
    if ((await reader('desktop').locator('.incident, .incident-new').count()) > 0) return false
    for (const { page } of readers.values()) await watchFrom(page)
    return true
  }

  // At the speed of the clock: the host is calm for half a minute, in which the pages open; on a busy machine that may take longer.
  beforeAll(async () => {
    for (let attempt = 1; !(await begun()); attempt++) {
      await end()
      if (attempt === ATTEMPTS) throw new Error(`an incident came before the pages had opened, ${ATTEMPTS} times`)
    }
  })
  afterAll(end)

  test.each(Object.keys(SIZES))('the overview on a %s counts it in its line and moves nothing; then its row stands open at a press', async (name) => {
    const page = reader(name)
    const arrived = page.locator(`.incident-new[data-kind="${kind}"]`)
    await arrived.waitFor({ timeout: 60_000 })
    await page.locator('.gpu .alarms').first().waitFor()
    expect(await page.locator('#incidents-title').textContent()).toMatch(/^Incidents [1-9]/)
    expect(await page.locator('.incident').count()).toBe(0)
    expect(await tooMuch(page)).toEqual([])
    await page.locator('.incidents-head button').press('Enter')
    const row = page.locator(`.incident[data-kind="${kind}"]`).first()
    await row.locator('.incident-more').waitFor()
    await poll(async () => (await page.locator('.incident-new').count()) === 0, { what: 'nothing new left' })
    expect(await tooMuch(page)).toEqual([])
  })

  test('the page of a GPU says it in its line and moves nothing', async () => {
    const page = reader('gpu')
    if (kind === 'xid') await page.locator('.gpu.large .alarms', { hasText: 'Xid 79' }).waitFor({ timeout: 60_000 })
    else await page.locator('.status .incident-link').waitFor({ timeout: 60_000 })
    expect(await tooMuch(page)).toEqual([])
  })
})
