// The rows of a live table, in a real Chromium: what moves when their order changes, and that it does not change under a reader's hands.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import * as z from 'zod'
import { hostOf, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage, type Opened } from '../setup/browser.ts'
import { fileBrowser } from '../setup/dashboard-pages.ts'
import { poll } from '../setup/poll.ts'
import { tooMuch, WATCH_SHIFTS, watchFrom } from '../setup/shifts.ts'

const GIB = 2 ** 30
const PROCESSES = 12
const rows = z.array(z.tuple([z.number(), z.string()]))

describe.skipIf(!hasChromium)('rows of processes in a real Chromium (needs Debian’s chromium)', () => {
  const sleepers = Array.from({ length: PROCESSES }, () => spawn('sleep', ['100000'], { stdio: 'ignore' }))
  const pids = sleepers.flatMap(({ pid }) => pid ?? [])
  /** One GPU whose processes hold 1, 2, 3 … GiB in this order. */
  const scene = (order: readonly number[]): FakeScenario => {
    const processes = order.map((pid, at) => ({ pid, bytes: (at + 1) * GIB }))
    const host = hostOf(1, () => ({ mem_used: processes.reduce((sum, { bytes }) => sum + bytes, GIB / 2) }))
    return { ...host, gpus: host.gpus.map((gpu) => ({ ...gpu, processes })) }
  }
  let agent: RunningAgent
  let opened: Opened
  beforeAll(async () => {
    agent = await startAgent({ scenario: scene(pids), ready: true })
    opened = await openPage(await fileBrowser(), `${agent.url}#/`, DESKTOP, (page) => page.addInitScript(WATCH_SHIFTS))
    await opened.page.waitForSelector('#processes')
    await opened.page.waitForLoadState('networkidle')
  })
  afterAll(async () => {
    await opened[Symbol.asyncDispose]()
    await agent.stop()
    for (const child of sleepers) child.kill()
  })

  // In one look: asked row by row, the last of them may have gone meanwhile.
  const read = async (page: Page): Promise<z.infer<typeof rows>> =>
    rows.parse(
      await page.evaluate(
        `[...document.querySelectorAll('#processes tbody tr')].map((row) => [Number(row.querySelector('.col-pid').textContent), row.querySelector('.col-gpu').textContent])`,
      ),
    )
  const order = async (): Promise<readonly number[]> => (await read(opened.page)).map(([pid]) => pid)
  const until = (wanted: readonly number[], what: string): Promise<unknown> => poll(async () => (await order()).join() === wanted.join(), { what })

  test('a new order moves nothing in the page: the rows stay and show others', async () => {
    await until(pids.toReversed(), 'the largest first')
    await opened.page.locator('#processes tbody tr').first().scrollIntoViewIfNeeded()
    await watchFrom(opened.page)
    agent.tell(scene(pids.toReversed()))
    await until(pids, 'the other order')
    // A column that becomes wider by a digit moves its neighbours by some pixels; a row that moves counts a hundred times as much.
    expect(await tooMuch(opened.page, 0.002)).toEqual([])
  })

  test.each([
    ['pointed at', (page: Page) => page.locator('#processes tbody tr').nth(3).hover(), (page: Page) => page.locator('#processes-title').hover()],
    [
      'stood on with the keyboard',
      (page: Page) => page.locator('#processes tbody a').nth(3).focus(),
      (page: Page) => page.locator('#processes th button').first().focus(),
    ],
  ])('rows that are %s keep their order while their figures go on; later they take the new one', async (_, enter, leave) => {
    const { page } = opened
    const before = await order()
    await enter(page)
    agent.tell(scene(before))
    await poll(async () => (await read(page)).at(-1)?.[1].startsWith(`${PROCESSES}`) === true, { what: 'the figure of the last row' })
    expect(await order()).toEqual(before)
    await leave(page)
    await until(before.toReversed(), 'the order of the figures')
  })

  test('a row that ends above the one with the focus does not take the focus along', async () => {
    const { page } = opened
    const before = await order()
    const others = before.slice(1)
    await page.locator('#processes tbody tr').nth(3).locator('a').first().focus()
    const focused = async (): Promise<number> => Number(await page.locator('#processes tbody tr:has(:focus) .col-pid').textContent())
    expect(await focused()).toBe(before[3])
    agent.tell(scene(others.toReversed()))
    await until(others, 'the rows without the first')
    expect(await focused()).toBe(before[3])
  })
})
