// Walks the dashboard as a person with a question does: from one screen to the next by what is there to press, with the mouse or with the keyboard alone.
import type { Page } from 'playwright-core'
import { poll } from './poll.ts'

/** What is pressed, and what the person must then see. The first screen has nothing to press before it. */
export type Screen = {
  readonly press?: string
  readonly sees: (page: Page) => Promise<unknown>
}
export type Way = 'mouse' | 'keyboard'

/** As many presses of Tab as anybody could be asked for, on a page with eight GPUs and all tables. */
const MOST_TABS = 250

/** Tab until the focus is there, then Enter. */
async function pressByKeyboard(page: Page, selector: string): Promise<void> {
  for (let n = 0; n < MOST_TABS; n += 1) {
    await page.keyboard.press('Tab')
    const isThere = await page.locator(selector).evaluateAll((all) => all.some((each) => each === each.ownerDocument.activeElement))
    if (isThere) {
      await page.keyboard.press('Enter')
      return
    }
  }
  throw new Error(`${MOST_TABS} presses of Tab do not reach ${selector}`)
}

/** Gives how often something was pressed. */
export async function walk(page: Page, screens: readonly Screen[], way: Way): Promise<number> {
  let presses = 0
  for (const { press, sees } of screens) {
    if (press !== undefined) {
      await poll(async () => (await page.locator(press).count()) > 0, { what: `${press} to press`, deadlineMs: 60_000 })
      await (way === 'mouse' ? page.locator(press).first().click() : pressByKeyboard(page, press))
      presses += 1
    }
    await sees(page)
  }
  return presses
}
