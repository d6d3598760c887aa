// Ways through the dashboard of people with a question: from the first screen to the answer in at most three clicks, by the keyboard alone.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { DESKTOP, hasChromium, openPage } from '../setup/browser.ts'
import { useIncidentScene, type IncidentScene } from '../setup/dashboard-pages.ts'

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
