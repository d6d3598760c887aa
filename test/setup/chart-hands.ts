// Charts on a page in Chromium, for tests: the window of the address, dragging, and what the tip beside the pointer says.
import type { Locator, Page } from 'playwright-core'
import { poll } from './poll.ts'

export type Window = { readonly from: number; readonly to: number }
export const windowIn = (page: Page): Window | undefined => {
  const params = new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '')
  const [from, to] = [params.get('from'), params.get('to')]
  return from === null || to === null ? undefined : { from: Number(from), to: Number(to) }
}
export const lengthOf = ({ from, to }: Window): number => to - from
export const changed = (page: Page, before: Window | undefined): Promise<Window> =>
  poll(
    () => {
      const now = windowIn(page)
      return Promise.resolve(now !== undefined && (now.from !== before?.from || now.to !== before.to) ? now : undefined)
    },
    { what: `another window than ${JSON.stringify(before)} in ${page.url()}` },
  )
export const live = (page: Page): Promise<unknown> => poll(() => Promise.resolve(windowIn(page) === undefined), { what: `no window in ${page.url()}` })

/** The area of a chart in which its lines are. */
export async function area(chart: Locator): Promise<{ readonly x: number; readonly y: number; readonly width: number }> {
  // Another window makes another chart.
  const box = await poll(async () => (await chart.locator('.u-over').boundingBox()) ?? undefined, { what: 'a chart that is drawn' })
  return { x: box.x, y: box.y + box.height / 2, width: box.width }
}
export async function drag(page: Page, chart: Locator, [a, b]: readonly [number, number], key?: string): Promise<void> {
  // What comes in above a chart moves it: only one that does not move, and gets the pointer, is dragged over.
  await chart.locator('.u-over').hover({ position: { x: Math.max(1, (await area(chart)).width * a), y: 20 } })
  const { x, y, width } = await area(chart)
  if (key !== undefined) await page.keyboard.down(key)
  await page.mouse.move(x + width * a, y)
  await page.mouse.down()
  await page.mouse.move(x + (width * (a + b)) / 2, y)
  await page.mouse.move(x + width * b, y)
  await page.mouse.up()
  if (key !== undefined) await page.keyboard.up(key)
}

/** Local seconds of the day that the tip says: tests run in UTC. */
export const secondOfDay = (text: string): number => {
  const [, h = '', m = '', s = ''] = /(\d\d):(\d\d):(\d\d) UTC/.exec(text) ?? []
  return Number(h) * 3600 + Number(m) * 60 + Number(s)
}
/** Moves the pointer again until the tip shows: a chart that was redrawn in between got no pointer event. */
export const tipAt = (page: Page, chart: Locator, part: number): Promise<string> =>
  poll(
    async () => {
      const { x, y, width } = await area(chart)
      await page.mouse.move(x + width * part - 2, y)
      await page.mouse.move(x + width * part, y)
      const tip = chart.locator('.chart-tip')
      return (await tip.isVisible()) ? ((await tip.textContent()) ?? '') : undefined
    },
    { what: 'the tip beside the pointer' },
  )
/** Waits until the chart shows this window: the time at its left edge is the window's. */
export const shows = (page: Page, chart: Locator, { from }: Window): Promise<unknown> =>
  poll(async () => Math.abs(secondOfDay(await tipAt(page, chart, 0.002)) - (from % 86_400)) <= Math.max(2, 0) || undefined, { what: `a chart from ${from}` })
