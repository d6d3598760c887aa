// Ways through the dashboard of people with a question: from the first screen to the answer in at most three clicks, by the keyboard alone.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { runChecks } from '../../agent/doctor/runner.ts'
import * as hostChecks from '../../agent/doctor/checks/host/index.ts'
import { startAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage } from '../setup/browser.ts'
import { fileBrowser, useIncidentScene, type IncidentScene } from '../setup/dashboard-pages.ts'
import { card, NO_MODULE } from '../unit/doctor/hosts.ts'
import { buildScene } from '../unit/doctor/scene.ts'

/** Follows a link as those do who have no mouse. */
async function follow(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().focus()
  await page.keyboard.press('Enter')
}

/** Walks from the first screen; nothing may complain on the way. */
const story =
  (scene: IncidentScene, walk: (page: Page) => Promise<void>): (() => Promise<void>) =>
  async () => {
    await using opened = await openPage(scene.browser, scene.agent.url, DESKTOP)
    await walk(opened.page)
    expect(opened.complaints).toEqual([])
  }

describe.skipIf(!hasChromium)('stories on a host with a lost GPU (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('lost-gpu', 'xid')

  test(
    'paged at night: what is wrong, with which card, and what to do',
    story(scene, async (page) => {
      await page.waitForSelector('.status .incident-link')
      await follow(page, '.status .incident-link')
      await page.waitForSelector('.incident-page .remedies')
      expect(await page.textContent('#incident-title')).toMatch(/^GPU 5\b/)
      expect(await page.textContent('.card-identity')).toMatch(/serial \d+ · bus 0000\w*:9B:00\.0 · UUID GPU-/i)
      await follow(page, '.whom a[href^="#/gpus/5"]')
      await page.waitForSelector('.gpu-incidents a')
      expect(await page.textContent('#gpu-title')).toContain('GPU 5')
    }),
  )

  test(
    'who fills GPU 3: its job, from the containers on the first screen',
    story(scene, async (page) => {
      await page.waitForSelector('#containers .holding')
      await follow(page, '#containers .holding[href^="#/gpus/3"]')
      await page.waitForSelector('#gpu-processes tbody a')
      const job = await page.getAttribute('#gpu-processes tbody a', 'href')
      await follow(page, '#gpu-processes tbody a')
      await page.waitForSelector('.job-figures')
      expect(new URL(page.url()).hash).toBe(job)
    }),
  )
})

describe.skipIf(!hasChromium)('stories on a host with a job that died (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('oom-neighbour', 'cuda_oom')

  test(
    'my job died: the cause, then the job itself',
    story(scene, async (page) => {
      await page.waitForSelector('.incident[data-kind="cuda_oom"] a')
      await follow(page, '.incident[data-kind="cuda_oom"] a')
      await page.waitForSelector('.incident-page .verdict')
      const whose = await page.textContent('.whom a[href^="#/jobs/"]')
      await follow(page, '.whom a[href^="#/jobs/"]')
      await page.waitForSelector('.job-incidents a')
      expect(await page.textContent('main h2')).toContain(whose)
    }),
  )
})

describe.skipIf(!hasChromium)('stories on a host with hot GPUs (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('throttling', 'throttling', { WARPWATCH_SIMULATE__SPEED: '2' })

  test(
    'why is it slower than yesterday: the GPU that is throttled, why, and its clock on a chart',
    story(scene, async (page) => {
      // Another GPU's memory is too hot, which is of the same kind.
      const throttled = '.incident[data-kind="throttling"] b a:has-text("thermally throttled")'
      await page.waitForSelector(throttled)
      await follow(page, throttled)
      await page.waitForSelector('.incident-page .verdict')
      expect(await page.textContent('.incident-page')).toMatch(/thermal/i)
      expect(await page.textContent('.incident-page .remedies')).toMatch(/air|fan|cool/i)
      await follow(page, '.whom a[href^="#/gpus/"]')
      await page.waitForSelector('[data-chart="clocks"]')
      await follow(page, '.range-picker button:has-text("24 h")')
      await page.waitForFunction(`location.hash.endsWith('range=24h')`)
      await page.waitForSelector('[data-chart="throttling"]')
    }),
  )
})

describe.skipIf(!hasChromium)('stories on a laptop without a driver (needs Debian’s chromium)', () => {
  test('a new laptop: the first screen says what is missing and which command brings it; the doctor has the rest', async () => {
    // What the doctor's own checks say of a host with a card and no driver: this machine has none to be found.
    const laptop = await buildScene({ files: card(undefined), programs: { modinfo: NO_MODULE } })
    const report = await runChecks({ checks: Object.values(hostChecks), around: laptop.around, host: 'laptop' })
    laptop.remove()
    await using agent = await startAgent({ ready: true, env: { WARPWATCH_GPU__SOURCE: 'nvml' } })
    await using opened = await openPage(await fileBrowser(), agent.url, DESKTOP, (page) =>
      page.route('**/api/v1/doctor', (route) => route.fulfill({ json: report })),
    )
    const { page, complaints } = opened
    await page.locator('.no-gpu h2', { hasText: 'No GPU can be read on this host' }).waitFor()
    const steps = page.locator('.no-gpu .next-steps')
    await steps.first().waitFor()
    expect(await steps.first().textContent()).toMatch(/driver/i)
    expect(await steps.first().locator('.command code').first().textContent()).toMatch(/apt|install/)
    await follow(page, '.no-gpu a[href="#/doctor"]')
    await page.waitForSelector('.complaint')
    expect(complaints).toEqual([])
  })
})
