// What the dashboard takes over the wire: compressed, of the past only what a view draws, and again what did not come.
import { describe, expect, test } from 'vitest'
import { SHORT_PAST } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage } from '../setup/browser.ts'
import { useSimulatedPage } from '../setup/dashboard-pages.ts'
import { goTo } from '../setup/dashboard-walk.ts'
import { poll } from '../setup/poll.ts'

describe.skipIf(!hasChromium)('the dashboard on the wire (needs Debian’s chromium)', () => {
  const scene = useSimulatedPage('--simulate', SHORT_PAST)

  test('takes code, styles and history compressed', async () => {
    const encodings = new Map<string, string | undefined>()
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP, async (page) => {
      page.on('response', (response) =>
        encodings.set(new URL(response.url()).pathname.replace(/-[\w-]{8}\.(js|css)$/, '.$1'), response.headers()['content-encoding']),
      )
    })
    await poll(() => encodings.has('/api/v1/series'), { what: 'history to be asked for' })
    expect(encodings.get('/assets/page.js')).toBe('br')
    expect(encodings.get('/assets/style.css')).toBe('br')
    expect(encodings.get('/api/v1/series')).toBe('zstd')
    expect(opened.complaints).toEqual([])
  })

  test('asks for the past of all GPUs only where it is drawn', async () => {
    const asked: string[] = []
    await using opened = await openPage(scene.browser, `${scene.agent.url}/#/doctor`, DESKTOP, async (page) => {
      page.on('request', (request) => request.url().includes('/api/v1/series') && asked.push(request.url()))
    })
    await opened.page.waitForSelector('main .content h2')
    await opened.page.waitForSelector('[data-connection="live"]')
    await goTo(opened.page, '#/explain')
    expect(asked).toEqual([])
    await goTo(opened.page, '#/')
    await poll(() => asked.length > 0, { what: 'history to be asked for by the overview' })
    expect(opened.complaints).toEqual([])
  })

  test('fetches again what it could not fetch: tables, charts, what can be done with them, the title', async () => {
    const refused = new Set<string>()
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP, {
      shared: (page) =>
        page.route(/\/assets\/(?!page-)[^/]+\.js$/, (route) => {
          const isFirst = !refused.has(route.request().url())
          refused.add(route.request().url())
          return isFirst ? route.abort('connectionreset') : route.continue()
        }),
    })
    const { page } = opened
    await page.waitForSelector('#containers')
    await page.waitForSelector('.uplot')
    await page.waitForSelector('.chart-custom')
    await page.waitForFunction(`document.title.includes(' · ')`)
    expect(refused.size).toBeGreaterThan(5)
  })
})
