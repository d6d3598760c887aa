// Every page of the dashboard for those who see little, hear it or use no mouse: axe finds nothing serious, the keyboard gets everywhere.
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { faults, LAYOUT_RULES, loadAxe } from '../setup/axe.ts'
import { DESKTOP, hasChromium, openPage, PHONE, SMALL, WIDE, ZOOMED } from '../setup/browser.ts'
import { poll } from '../setup/poll.ts'
import { useIncidentScene } from '../setup/dashboard-pages.ts'
import { goTo, pagesOf } from '../setup/dashboard-walk.ts'

/** What can have the focus by Tab. Of a group of radio buttons that is one; a control outside of what is laid out has none. */
const CONTROLS = `Array.from(document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]'))
  .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true }) && !(each.type === 'radio' && !each.checked))`
/** Remembers what can have the focus now, what has had it, and what of that did not show it. */
const WATCH_FOCUS = `
  globalThis.wanted = ${CONTROLS}
  globalThis.reached = new Set()
  globalThis.unseen = []
  document.addEventListener('focusin', ({ target }) => {
    reached.add(target)
    const { outlineStyle, outlineWidth } = getComputedStyle(target)
    if (!target.matches('main') && (outlineStyle === 'none' || parseFloat(outlineWidth) < 1)) unseen.push(target.outerHTML.slice(0, 160))
  })
  document.activeElement.blur()
  wanted.length`
/** Incidents come and go meanwhile, and controls with them. */
const LEFT_OUT = `${CONTROLS}.filter((each) => wanted.includes(each) && !reached.has(each)).map((each) => each.outerHTML.slice(0, 160))`

/** What moves by itself. */
const MOVING = `document.getAnimations().filter(({ playState }) => playState === 'running').map(({ effect }) => 'moves: ' + effect.target.outerHTML.slice(0, 160))`

const text = z.string()
const number = z.number()
const list = z.array(text)

describe.skipIf(!hasChromium)('axe in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('oom-leak', 'cuda_oom')

  /** What each page says against itself, by page and theme. */
  async function graveFaults(
    options: BrowserContextOptions,
    themes: readonly ('dark' | 'light')[],
    only?: readonly string[],
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    await using opened = await openPage(scene.browser, scene.agent.url, options)
    const { page } = opened
    await loadAxe(page)
    const pages = await pagesOf(page, scene.incident)
    expect(pages.length).toBeGreaterThan(8)
    const grave: Record<string, readonly string[]> = {}
    for (const hash of pages) {
      await goTo(page, hash)
      const moving = options.reducedMotion === 'reduce' ? list.parse(await page.evaluate(MOVING)) : []
      if (moving.length > 0) grave[`${hash} moves`] = moving
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme })
        await page.waitForSelector(`html[data-theme="${colorScheme}"]`)
        const reported = await faults(page, only)
        if (reported.length > 0) grave[`${hash} ${colorScheme}`] = reported
      }
    }
    return grave
  }

  test.each([
    ['a desk', DESKTOP],
    ['a phone', PHONE],
  ])('no page has a serious fault on %s, dark or light', async (_place, options) => {
    expect(await graveFaults(options, ['dark', 'light'])).toEqual({})
  })

  test.each([
    ['a small screen', SMALL],
    ['a wide screen', WIDE],
    ['a screen at 200 %, for those who want no motion', { ...ZOOMED, reducedMotion: 'reduce' }],
  ] as const)('everything can be read and hit on %s', async (_place, options) => {
    // The colours are those of the desk: one theme shows what the width changes.
    expect(await graveFaults(options, ['light'], LAYOUT_RULES)).toEqual({})
  })

  test('Tab reaches every control of every page, and shows where it is', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page } = opened
    const missed: Record<string, readonly string[]> = {}
    for (const hash of await pagesOf(page, scene.incident)) {
      await goTo(page, hash)
      const controls = number.parse(await page.evaluate(WATCH_FOCUS))
      expect(controls).toBeGreaterThan(8)
      const walk = async (): Promise<readonly string[]> => {
        await page.evaluate('document.activeElement.blur(), getSelection().removeAllRanges()')
        for (let n = 0; n < controls + 20; n += 1) await page.keyboard.press('Tab')
        return list.parse(await page.evaluate(LEFT_OUT))
      }
      // A job that crashes meanwhile moves up with its links, past where Tab stands: they must be reached when one begins again.
      let leftOut = await walk()
      if (leftOut.length > 0) leftOut = await walk()
      const faultsHere = [...leftOut, ...list.parse(await page.evaluate('unseen')).map((html) => `focus unseen: ${html}`)]
      if (faultsHere.length > 0) missed[hash] = [...new Set(faultsHere)]
    }
    expect(missed).toEqual({})
  })

  test('the first Tab leads past the head, and stays on the page', async () => {
    await using opened = await openPage(scene.browser, `${scene.agent.url}#/incidents`)
    const { page } = opened
    await goTo(page, '#/incidents')
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    await poll(async () => ((await skip.boundingBox())?.y ?? -1) >= 0, { what: 'the link to come into sight' })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true)
    expect(new URL(page.url()).hash).toBe('#/incidents')
  })

  test('g and a letter open each view, but not while one types', async () => {
    await using opened = await openPage(scene.browser, scene.agent.url)
    const { page } = opened
    await page.waitForSelector('nav a')
    const links = z
      .array(z.object({ hash: text, title: text, label: text }))
      .parse(
        await page.evaluate(
          `Array.from(document.querySelectorAll('nav[aria-label="Pages"] a'), (a) => ({ hash: new URL(a.href).hash, title: a.title, label: a.textContent }))`,
        ),
      )
    for (const { hash, title, label } of links.toReversed()) {
      for (const key of title.split(' ')) await page.keyboard.press(key)
      await poll(() => new URL(page.url()).hash === hash, { what: `${title} to open ${hash}` })
      await poll(async () => (await page.textContent('nav a[aria-current="page"]')) === label, { what: `${label} marked as the page` })
    }
    await goTo(page, '#/incidents')
    await page.getByLabel('Find').pressSequentially('gj')
    await poll(() => new URL(page.url()).hash.includes('?'), { what: 'the letters in the address' })
    await poll(async () => (await page.getByLabel('Find').inputValue()) === 'gj', { what: 'the letters in the field' })
    expect(new URL(page.url()).hash).toBe('#/incidents?text=gj')
  })

  test('Escape closes a form and leads back to what opened it', async () => {
    await using opened = await openPage(scene.browser, `${scene.agent.url}#/incidents/${scene.incident}`)
    const { page } = opened
    const opener = page.getByRole('button', { name: 'Silence …' })
    await opener.press('Enter')
    await page.locator('form.say input').press('Escape')
    await page.locator('form.say').waitFor({ state: 'detached' })
    expect(await opener.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
  })
})
