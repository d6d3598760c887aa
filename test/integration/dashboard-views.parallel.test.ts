// What holds for every page of the dashboard: nothing from another host, nothing the policy forbids, no scrolling sideways, text from outside as text.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { DESKTOP, hasChromium, openPage, PHONE, SMALL, STICKING_OUT, WIDE, ZOOMED } from '../setup/browser.ts'
import { useIncidentScene } from '../setup/dashboard-pages.ts'
import { goTo, pagesOf } from '../setup/dashboard-walk.ts'
import { layoutFaults } from '../setup/layout-faults.ts'
import { poll } from '../setup/poll.ts'
import { variants } from '../setup/rounds.ts'

const FEATURES = join(import.meta.dirname, '../../dashboard/src/features')
const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>'
/** What names and texts from outside the agent are under, in the API and in the stream. */
const FOREIGN = new Set(['host', 'hostname', 'container', 'process', 'image', 'name', 'compose_project', 'compose_service', 'title', 'verdict', 'detail'])
const POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

/** A question that is asked and answered. */
const FIT_ANSWER = '#/fit?params=8b&context=8192'
/** What is there to be pressed or filled in. The head of a table sorts, an occurrence says when it was, that a process has ended is said beside a button, and which one it is by a choice. */
const TO_PRESS = `Array.from(document.querySelectorAll('nav, main form, main input, main select, main textarea, main button'))
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.closest('th, .ended, .occurrence-picker, .allocator-picker') === null)
  .map((each) => each.outerHTML.slice(0, 160))`

/** The same JSON with markup behind every such text. The agent’s own keys stay, so that the page finds its way. */
const poisoned = (text: string): string =>
  JSON.stringify(JSON.parse(text, (key, value: unknown) => (FOREIGN.has(key) && typeof value === 'string' && value !== '' ? `${value}${EVIL}` : value)))

async function poison(page: Page): Promise<void> {
  await page.routeWebSocket(/\/ws$/, (socket) => {
    socket.connectToServer().onMessage((text) => socket.send(poisoned(String(text))))
  })
  await page.route('**/api/v1/**', async (route) => {
    const answer = await route.fetch()
    const body = await answer.text()
    await route.fulfill({ response: answer, body: (answer.headers()['content-type'] ?? '').includes('json') ? poisoned(body) : body })
  })
}

describe.skipIf(!hasChromium)('every page of the dashboard in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('oom-leak', 'cuda_oom')

  test('asks this agent alone, under a policy that it never breaks, and first for no more than the overview needs', async () => {
    const asked: string[] = []
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP, async (page) => page.on('request', (request) => asked.push(request.url())))
    const { page, complaints } = opened
    await page.waitForSelector('.gpu')
    // What draws the charts, the tables and the filter comes unasked, but once the figures stand; the views once the page is idle.
    const features = readdirSync(FEATURES, { withFileTypes: true }).filter((each) => each.isDirectory())
    const views = features.filter(({ name }) => asked.some((url) => new RegExp(`/${name}-[\\w-]+\\.js$`).test(url)))
    expect(features.length).toBeGreaterThan(5)
    expect(views.map(({ name }) => name)).toEqual([])
    const html = await (await fetch(scene.agent.url)).text()
    const named = Array.from(html.matchAll(/<script[^>]+src="\.\/(assets\/[^"]+)"/g), ([, path]) => `${scene.agent.url}/${path}`)
    expect(asked.filter((url) => /\/assets\/page-/.test(url))).toEqual(named)
    await page.waitForSelector('.gpu canvas')
    for (const hash of await pagesOf(page, scene.incident)) await goTo(page, hash)
    expect(asked.length).toBeGreaterThan(20)
    expect(asked.filter((url) => !url.startsWith(scene.agent.url))).toEqual([])
    expect((await fetch(scene.agent.url)).headers.get('content-security-policy')).toBe(POLICY)
    expect(complaints).toEqual([])
  })

  test('the policy is in force: code and styles from elsewhere or in the text do nothing', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page, complaints } = opened
    await page.waitForSelector('.gpu')
    // What the tab says comes a moment after the page.
    await poll(async () => (await page.title()).endsWith(' · Warpwatch'), { what: 'the title of the page' })
    await page.evaluate(`{
      const script = document.createElement('script')
      script.textContent = 'document.title = "broken into"'
      document.body.append(script)
      const elsewhere = document.createElement('script')
      elsewhere.src = 'http://127.0.0.1:1/x.js'
      document.body.append(elsewhere)
      document.body.insertAdjacentHTML('beforeend', '<p id="styled" style="position:fixed">x</p>')
    }`)
    await poll(() => complaints.filter((each) => each.includes('Content Security Policy')).length >= 3, {
      what: () => `three complaints: ${complaints.join('; ')}`,
    })
    expect(await page.title()).toMatch(/\S+ · Warpwatch$/)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('#styled')).position`)).toBe('static')
  })

  const sizes: readonly (readonly [string, BrowserContextOptions])[] = [
    ['a laptop', { viewport: { width: 1440, height: 900 } }],
    ['a phone', PHONE],
    ['a small screen', SMALL],
    ['a wide screen', WIDE],
    ['a screen at 200 %', ZOOMED],
  ]
  test.each(variants(sizes, 2))('nothing sticks out, is cut or lies over something else on %s', async (_name, options) => {
    await using opened = await openPage(scene.browser, scene.agent.url, options)
    const { page } = opened
    const out: Record<string, unknown> = {}
    for (const hash of await pagesOf(page, scene.incident)) {
      await goTo(page, hash)
      const sticking = z.array(z.unknown()).parse(await page.evaluate(STICKING_OUT))
      // Not the window's own width: on a phone that grows with what sticks out.
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth')) - (page.viewportSize()?.width ?? 0)
      if (wide > 0) out[hash] = { wide, sticking }
      const faults = await layoutFaults(page)
      if (faults.length > 0) out[`${hash} faults`] = faults
      const current = page.locator('nav[aria-label="Pages"] a[aria-current="page"]')
      await poll(
        async () =>
          current.evaluate((link) => {
            const { left, right } = link.getBoundingClientRect()
            return left >= 0 && right <= link.ownerDocument.documentElement.clientWidth
          }),
        { what: `${hash} marked in the navigation, within sight` },
      )
    }
    expect(out).toEqual({})
  })

  test('on paper there is nothing to press on any page, and all of it begins at one edge', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page } = opened
    const pages = [...(await pagesOf(page, scene.incident)), FIT_ANSWER]
    await page.emulateMedia({ media: 'print' })
    const pressed: Record<string, unknown> = {}
    for (const hash of pages) {
      await goTo(page, hash)
      const left = z.array(z.string()).parse(await page.evaluate(TO_PRESS))
      const edges = z
        .array(z.number())
        .parse(await page.evaluate(`['.masthead > *', '.content'].map((part) => document.querySelector(part).getBoundingClientRect().left)`))
      if (left.length > 0 || new Set(edges).size > 1) pressed[hash] = { left, edges }
    }
    expect(pressed).toEqual({})
  })

  test('names and texts from outside are shown as text', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP, poison)
    const { page, complaints } = opened
    await page.waitForSelector('.gpu')
    const silent: string[] = []
    const believed: string[] = []
    for (const hash of await pagesOf(page, scene.incident)) {
      await goTo(page, hash)
      if (!((await page.textContent('body')) ?? '').includes(EVIL)) silent.push(hash)
      const made = (await page.locator('img').count()) + (await page.locator('b', { hasText: /^bold$/ }).count())
      if (made > 0 || !(await page.title()).endsWith('Warpwatch')) believed.push(hash)
    }
    expect(believed).toEqual([])
    expect(silent, 'pages that were told none of it').toEqual([])
    expect(complaints).toEqual([])
  })
})
