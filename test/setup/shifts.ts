// What moves in an open page without its reader's doing.
import type { Page } from 'playwright-core'
import * as z from 'zod'

/** The largest sum of what moves without the reader's doing, as Chromium counts CLS: within 5 s, without a pause of 1 s. */
export const WATCH_SHIFTS = `{
  globalThis.shifts = { worst: 0, of: [] }
  let [from, last, sum] = [-Infinity, -Infinity, 0]
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, startTime, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      if (startTime - last > 1_000 || startTime - from > 5_000) [from, sum] = [startTime, 0]
      last = startTime
      sum += value
      shifts.worst = Math.max(shifts.worst, sum)
      shifts.of.push([value, ...sources.map(({ node }) => (node?.className || node?.parentElement?.className || node?.nodeName) ?? '?')].join(' '))
    }
  }).observe({ type: 'layout-shift', buffered: true })
}`
const MOVES_AT_MOST = 0.02
const shifts = z.object({ worst: z.number(), of: z.array(z.string()) })
/** From the settled page on: how it gets there is another test's. */
export const watchFrom = (page: Page): Promise<unknown> => page.evaluate('shifts.worst = 0, shifts.of = []')
/** What moved, where that is more than it may be. */
export async function tooMuch(page: Page, atMost = MOVES_AT_MOST): Promise<readonly string[]> {
  const { worst, of } = shifts.parse(await page.evaluate('shifts'))
  return worst <= atMost ? [] : [`${worst} in all`, ...of]
}
