// Every page of the dashboard for those who see little or hear it: axe finds nothing serious, dark and light, on a desk and on a phone.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { startAgentProcess, type AgentProcess } from '../setup/agent-process.ts'
import { DESKTOP, hasChromium, launchBrowser, openPage, PHONE } from '../setup/browser.ts'
import { FAST, goTo, incidentOf, pagesOf } from '../setup/dashboard-pages.ts'

/** Runs beside the page as the browser's own tools do, so that the policy against foreign code stays in force. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const GRAVE = ['serious', 'critical']
const found = z.array(
  z.object({ id: z.string(), impact: z.nullable(z.string()), nodes: z.array(z.object({ html: z.string(), any: z.array(z.object({ message: z.string() })) })) }),
)

/** What axe holds against the page as it is, one line each. */
async function faults(page: Page): Promise<readonly string[]> {
  const answer: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations)`,
  )
  return found
    .parse(answer)
    .filter(({ impact }) => GRAVE.includes(impact ?? ''))
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)}: ${any.map(({ message }) => message).join('; ')}`))
}

describe.skipIf(!hasChromium)('axe in a real Chromium (needs Debian’s chromium)', () => {
  let browser: Browser
  let agent: AgentProcess
  let incident: string

  beforeAll(async () => {
    agent = await startAgentProcess(['--simulate=oom-leak'], { env: FAST })
    browser = await launchBrowser()
    incident = await incidentOf(agent, 'cuda_oom')
  })
  afterAll(async () => {
    await browser?.close()
    await agent?.stop()
  })

  test.each([
    ['a desk', DESKTOP],
    ['a phone', PHONE],
  ])('no page has a serious fault on %s, dark or light', async (_place, options) => {
    await using opened = await openPage(browser, agent.url, options)
    const { page } = opened
    await page.evaluate(AXE)
    const pages = await pagesOf(page, incident)
    expect(pages.length).toBeGreaterThan(8)
    const grave: Record<string, readonly string[]> = {}
    for (const hash of pages) {
      await goTo(page, hash)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.waitForSelector(`html[data-theme="${colorScheme}"]`)
        const told = await faults(page)
        if (told.length > 0) grave[`${hash} ${colorScheme}`] = told
      }
    }
    expect(grave).toEqual({})
  })
})
