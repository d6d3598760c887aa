// Getting around the dashboard in a real Chromium: palette, shortcuts, filter, settings, focus, phone, many GPUs, an agent that is away, paper, still pages.
import { describe, expect, test } from 'vitest'
import { startSimulatedHost } from '../../bench/lib/simulated-host.ts'
import { SHORT_PAST, startAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage, PHONE, STICKING_OUT, ZOOMED } from '../setup/browser.ts'
import { useSimulatedPage } from '../setup/dashboard-pages.ts'
import { goTo } from '../setup/dashboard-walk.ts'
import { layoutFaults } from '../setup/layout-faults.ts'
import { poll } from '../setup/poll.ts'

const FOCUSED = `document.activeElement === null || document.activeElement === document.body ? 'lost' : document.activeElement.outerHTML.slice(0, 80)`
/** Sums what moves without the reader's doing, from the first paint on. */
const WATCH_SHIFTS = `globalThis.moved = 0
new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) moved += entry.value })
  .observe({ type: 'layout-shift', buffered: true })`
const MOVES_AT_MOST = 0.02

describe.skipIf(!hasChromium)('getting around the dashboard (needs Debian’s chromium)', () => {
  const scene = useSimulatedPage('--simulate', SHORT_PAST)

  test('the palette finds a GPU and a job by the keyboard alone, and gives the focus back', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page, complaints } = opened
    await page.waitForSelector('#containers .name')
    await page.locator('.gpu-name a').first().focus()
    await page.keyboard.press('Control+k')
    await page.locator('.palette-field').pressSequentially('search-embedder')
    expect(await page.locator('.palette-list [aria-selected="true"]').textContent()).toContain('search-embedder')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate(FOCUSED)).toContain('aria-label="GPU 0')
    await page.keyboard.press('Control+k')
    await page.locator('.palette-field').pressSequentially('gpu 3')
    await page.keyboard.press('Enter')
    await page.locator('#gpu-title', { hasText: 'GPU 3' }).waitFor()
    expect(await page.locator('dialog').count()).toBe(0)
    await poll(async () => (await page.evaluate(FOCUSED)) !== 'lost', { what: 'the focus on the new page' })
    expect(complaints).toEqual([])
  })

  test('? lists the shortcuts, / filters cards and tables, and the filter stands in the address', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page, complaints } = opened
    await page.waitForSelector('.overview-bar .find')
    await page.waitForSelector('#containers .name')
    await page.keyboard.press('?')
    await page.locator('.shortcuts kbd', { hasText: '/' }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('embedder')
    await poll(async () => (await page.locator('.gpu').evaluateAll((all) => all.map(({ id }) => id))).join() === 'gpu-5', { what: 'GPU 5 alone' })
    expect(await page.locator('#containers tbody tr').count()).toBe(1)
    expect(new URL(page.url()).hash).toBe('#/?find=embedder')
    await page.locator('.overview-bar .find').fill('nobody at all')
    await page.locator('.nothing', { hasText: 'No GPU fits the filter' }).waitFor()
    await page.goto(`${scene.agent.url}#/jobs`)
    await page.waitForSelector('.content h2')
    await page.locator('main').focus()
    await page.keyboard.press('/')
    await poll(async () => /<input/.test(String(await page.evaluate(FOCUSED))), { what: 'a field to type into on any page' })
    expect(complaints).toEqual([])
  })

  test('settings hold at once and after a reload', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url, { ...DESKTOP, timezoneId: 'Asia/Kolkata' })
    const { page, complaints } = opened
    await page.locator('.now-time', { hasText: 'UTC+5:30' }).waitFor()
    await page.waitForSelector('.gpu canvas')
    await page.keyboard.press(',')
    for (const choice of ['UTC', 'GB (1000³ bytes)', '°F', 'table', 'light']) await page.locator('.settings').getByLabel(choice, { exact: true }).check()
    await page.keyboard.press('Escape')
    const shows = async (): Promise<void> => {
      await page.locator('.now-time', { hasText: /^\d\d:\d\d:\d\d UTC$/ }).waitFor()
      await page
        .locator('#gpu-table td.col-free', { hasText: /^\d+\.\d GB$/ })
        .first()
        .waitFor()
      await page
        .locator('#gpu-table td.col-temperature', { hasText: /^1\d\d °F$/ })
        .first()
        .waitFor()
      await page.waitForSelector('html[data-theme="light"]')
    }
    await shows()
    await page.reload()
    await shows()
    await page.getByRole('button', { name: 'Cards', exact: true }).click()
    await page.waitForSelector('.gpu canvas')
    expect(complaints).toEqual([])
  })

  test('the focus stays on the page when what had it goes away', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page } = opened
    await page.waitForSelector('#containers .name')
    await page.locator('#containers a.name').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.job-figures')
    await poll(async () => (await page.evaluate(FOCUSED)) !== 'lost', { what: 'the focus on the job’s page' })
    await goTo(page, '#/')
    await page.waitForSelector('.overview-bar .find')
    await page.locator('.gpu-name a').nth(2).focus()
    await page.evaluate(`document.activeElement.remove()`)
    await poll(async () => (await page.evaluate(FOCUSED)) !== 'lost', { what: 'the focus anywhere' })
    expect(await page.evaluate(FOCUSED)).toContain('gpu-name')
  })

  test('a phone shows eight GPUs within two screens, twice the zoom scrolls only downwards', async () => {
    {
      await using opened = await openPage(scene.browser, scene.agent.url, PHONE)
      await opened.page.waitForSelector('.gpu.small >> nth=7')
      const bottom = await opened.page
        .locator('.gpu.small >> nth=7')
        .evaluate((card) => card.getBoundingClientRect().bottom + card.ownerDocument.documentElement.scrollTop)
      expect(bottom).toBeLessThanOrEqual(2 * (PHONE.viewport?.height ?? 0))
      expect(await opened.page.evaluate(STICKING_OUT)).toEqual([])
    }
    await using zoomed = await openPage(scene.browser, scene.agent.url, ZOOMED)
    await zoomed.page.waitForSelector('.gpu')
    expect(await zoomed.page.evaluate(STICKING_OUT)).toEqual([])
  })

  test('on a phone the list of shortcuts begins at its title, all of it can be reached, nothing is cut, and it closes by touch', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url, PHONE)
    const { page } = opened
    await page.waitForSelector('.gpu.small')
    await page.keyboard.press('?')
    const dialog = page.locator('dialog[open]')
    const title = dialog.locator('h2')
    const within = async (which: typeof title): Promise<boolean> => {
      const box = await which.boundingBox()
      const [width, height] = [PHONE.viewport?.width ?? 0, PHONE.viewport?.height ?? 0]
      return box !== null && box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width
    }
    await poll(() => within(title), { what: 'the title of the list in sight' })
    expect(await layoutFaults(page)).toEqual([])
    const keys = dialog.locator('kbd')
    expect(await keys.count()).toBeGreaterThan(10)
    await keys.last().scrollIntoViewIfNeeded()
    expect(await within(keys.last())).toBe(true)
    const close = dialog.getByRole('button', { name: /close/i })
    await close.scrollIntoViewIfNeeded()
    expect(await within(close)).toBe(true)
    await close.tap()
    await dialog.waitFor({ state: 'detached' })
  })

  test('nothing moves while the page comes up', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP, (page) => page.addInitScript(WATCH_SHIFTS))
    const { page } = opened
    await page.waitForSelector('.trace canvas')
    await page.waitForSelector('#processes .name')
    await page.locator('.overview-bar .find').waitFor()
    // Two frames of the stream later.
    const seen = await page.textContent('.now-time')
    await poll(async () => (await page.textContent('.now-time')) !== seen, { what: 'a second to pass' })
    expect(Number(await page.evaluate('moved'))).toBeLessThanOrEqual(MOVES_AT_MOST)
  })

  test('on paper there is nothing to press, and the ground is white', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page } = opened
    await page.waitForSelector('#containers .name')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.navigation').isVisible()).toBe(false)
    expect(await page.locator('.overview-bar').isVisible()).toBe(false)
    expect(await page.locator('#containers').isVisible()).toBe(true)
    expect(await page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`)).toBe('rgb(255, 255, 255)')
  })

  test('sixteen GPUs stand compact by themselves, on one screen', async () => {
    const host = await startSimulatedHost({ gpus: 16, containers: 12, processes: 24 })
    try {
      await using opened = await openPage(scene.browser, host.url)
      await opened.page.waitForSelector('.gpu.small >> nth=15')
      const bottom = await opened.page.locator('.gpu.small >> nth=15').evaluate((card) => card.getBoundingClientRect().bottom)
      expect(bottom).toBeLessThanOrEqual(1_000)
    } finally {
      await host.close()
    }
  })

  test('views that were never opened come up while the agent is away', async () => {
    const agent = await startAgent({ args: ['--simulate'], ready: true })
    try {
      const fetched = new Set<string>()
      await using opened = await openPage(scene.browser, agent.url, DESKTOP, async (page) => {
        page.on('requestfinished', (request) => fetched.add(new URL(request.url()).pathname))
      })
      const { page } = opened
      // The last of the registry, once the page is idle.
      await poll(() => [...fetched].some((path) => /\/agent-[\w-]+\.js$/.test(path)), { what: 'the views fetched ahead', deadlineMs: 90_000 })
      await agent.kill()
      await page.waitForSelector('.content.stale')
      await goTo(page, '#/explain')
      await page.waitForSelector('textarea')
      await page.keyboard.press('Control+k')
      await page.waitForSelector('.palette-field')
      expect(await page.textContent('[data-connection]')).toMatch(/connecting/)
    } finally {
      await agent.stop()
    }
  })
})
